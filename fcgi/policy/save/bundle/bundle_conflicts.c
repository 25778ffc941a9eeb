#include "config.h"

#include "policy/save/bundle/bundle_conflicts.h"

#include <jansson.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "policy/rows/cedar_data.h"
#include "policy/rows/rule.h"

/* Names of one kind. To find a name that is a prefix of another, each prefix of the other is looked
 * up, so the cost grows with the number of rows, not with its square. */
struct sorted_names {
    struct jsonx_build set; /* name to a text that says whose name it is */
    char separator;         /* between the words of a name */
};

/* Return the text of the longest name that lies above `name`, or with `itself` is `name`; NULL if
 * there is none. */
static const char *
find_above(const struct sorted_names *names, const char *name, bool itself)
{
    size_t length = strlen(name);
    if (!itself)
        while (length > 0 && name[--length] != names->separator)
            continue;
    while (length > 0) {
        const json_t *found = json_object_getn(names->set.value, name, length);
        if (found != NULL)
            return json_string_value(found);
        while (length > 0 && name[--length] != names->separator)
            continue;
    }
    return NULL;
}

static enum az_status
collide(struct op *op, const char *what, const char *name, const char *other)
{
    return op_fail(op, AZ_CONFLICT,
                   talloc_asprintf(op->mem, "%s %s overlaps %s", what, name, other), NULL);
}

/* Collect the packages by name. A rule whose package cannot be read could be anywhere, so it is
 * refused. Compiled modules do not share a package: their names would be the same. */
static enum az_status
collect_packages(struct op *op, const struct bundle_modules *modules, struct sorted_names *packages)
{
    for (size_t i = 0; i < modules->count; i++) {
        const struct bundle_module *module = &modules->module[i];
        const char *name, *other;
        switch (rule_package(op->mem, module->text, &name)) {
        case RULE_PACKAGE_NAMED:
            other = json_string_value(json_object_get(packages->set.value, name));
            if (module->compiled && other != NULL)
                return collide(op, "The path", module->rule, other);
            jsonx_set(&packages->set, name,
                      json_string(talloc_asprintf(op->mem, "the package of %s", module->rule)));
            break;
        case RULE_PACKAGE_UNREAD:
            return op_fail(
                op, AZ_CONFLICT,
                talloc_asprintf(op->mem,
                                "The package declaration of %s is in a form that is not supported",
                                module->rule),
                NULL);
        case RULE_PACKAGE_NONE:
            break;
        }
    }
    return AZ_OK;
}

/* Collect the files of compiled modules. */
static enum az_status
collect_files(struct op *op, const struct bundle_modules *modules, struct sorted_names *paths)
{
    for (size_t i = 0; i < modules->count; i++) {
        const struct bundle_module *module = &modules->module[i];
        const char *other;
        if (!module->compiled)
            continue;
        if ((other = find_above(paths, module->file, true)) != NULL)
            return collide(op, "The compiled file", module->file, other);
        jsonx_set(&paths->set, module->file,
                  json_string(talloc_asprintf(op->mem, "the compiled file of %s", module->rule)));
    }
    return AZ_OK;
}

static void
collect(struct sorted_names *names, const char *const *name, size_t count, TALLOC_CTX *mem,
        const char *what)
{
    for (size_t i = 0; i < count; i++)
        jsonx_set(&names->set, name[i], json_string(talloc_asprintf(mem, "%s %s", what, name[i])));
}

enum az_status
bundle_check_conflicts(struct op *op, const struct bundle_rows *rows,
                       const struct bundle_modules *modules)
{
    struct sorted_names keys =
                            {
                                {jsonx_own(op->mem, json_object()), false},
                                '.'
    },
                        packages = {{jsonx_own(op->mem, json_object()), false}, '.'},
                        paths = {{jsonx_own(op->mem, json_object()), false}, '/'};
    const char *other, *name;
    json_t *value;
    collect(&keys, rows->data_key, rows->data, op->mem, "the data key");
    collect(&paths, rows->rule_path, rows->rules, op->mem, "the path");
    enum az_status st = collect_packages(op, modules, &packages);
    if (st == AZ_OK)
        st = collect_files(op, modules, &paths);
    if (st != AZ_OK)
        return st;
    if (jsonx_built(&keys.set) == NULL || jsonx_built(&paths.set) == NULL
        || jsonx_built(&packages.set) == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < rows->data; i++) {
        if ((other = find_above(&keys, rows->data_key[i], false)) != NULL
            || (other = find_above(&packages, rows->data_key[i], true)) != NULL)
            return collide(op, "The data key", rows->data_key[i], other);
    }
    json_object_foreach (packages.set.value, name, value)
        if ((other = find_above(&keys, name, true)) != NULL)
            return collide(op, "The package", name, other);
    for (size_t i = 0; i < rows->rules; i++)
        if ((other = find_above(&paths, rows->rule_path[i], false)) != NULL)
            return collide(op, "The path", rows->rule_path[i], other);
    return AZ_OK;
}

/* Return the rows with entities, on op->mem; NULL: no memory. */
static struct cedar_data_row *
rows_with_entities(struct op *op, const struct bundle_rows *rows, size_t *ret_count)
{
    struct cedar_data_row *row =
        talloc_array(op->mem, struct cedar_data_row, (unsigned) rows->data + 1);
    *ret_count = 0;
    for (size_t i = 0; row != NULL && i < rows->data; i++)
        if (cedar_data_holds_entities(rows->data_key[i]))
            row[(*ret_count)++] = (struct cedar_data_row){rows->data_key[i], rows->data_payload[i]};
    return row;
}

/* Unite the rows, and say what is wrong with the row `data_key`. */
static enum az_status
unite_rows(struct op *op, const struct bundle_rows *rows, const char *data_key, char **ret_text,
           json_t **ret_failures)
{
    size_t count;
    struct cedar_data_row *row = rows_with_entities(op, rows, &count);
    enum az_status st = AZ_SERVER_ERROR;
    if (row != NULL)
        st = count > 0 ? cedar_data_unite(op->mem, row, count, data_key, ret_text, ret_failures)
                       : AZ_OK;
    return st != AZ_SERVER_ERROR ? st
                                 : op_fail(op, st, NULL, "out of memory for the Cedar entities");
}

enum az_status
cedar_data_check(struct op *op, const char *data_key, json_t **ret_failures)
{
    struct bundle_rows rows;
    char *text = NULL;
    if (!cedar_data_holds_entities(data_key))
        return AZ_OK;
    enum az_status st = bundle_rows_fetch(op, &rows);
    if (st == AZ_OK)
        st = unite_rows(op, &rows, data_key, &text, ret_failures);
    /* Failures of another row of a deploy are found when that row is checked. */
    if (st != AZ_INVALID || json_array_size(*ret_failures) == 0)
        return st != AZ_INVALID ? st : AZ_OK;
    return op_fail(op, AZ_UNPROCESSABLE,
                   "The payload is not a list of Cedar entities that goes with the other rows",
                   "%zu failures of the entities of %s", json_array_size(*ret_failures), data_key);
}

enum az_status
cedar_data_of_bundle(struct op *op, const struct bundle_rows *rows, char **ret_text)
{
    json_t *failures = NULL;
    enum az_status st = unite_rows(op, rows, NULL, ret_text, &failures);
    return st != AZ_INVALID
               ? st
               : op_fail(op, AZ_CONFLICT, "The rows below svc.cedar_data do not go together", NULL);
}
