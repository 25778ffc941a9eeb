/* Loading the policy that comes with the program: rules, schemas, and the data rows that are not
 * there yet. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/settings.h"
#include "policy/bundle.h"
#include "policy/save.h"
#include "store/db.h"
#include "store/policy_rows.h"

/* The largest shipped file is a few kilobytes. */
#define FILE_MAX (256 * 1024)
#define DEPTH_MAX 32
#define RULES_MAX 256

/* What the load carries along. */
struct load {
    struct op *op;      /* the operation */
    const char *base;   /* SVC_DATA_DIR/policy */
    const char **paths; /* rules seen, for the pruning */
    size_t count;       /* of them */
    int *changed;       /* rows written */
};

typedef enum az_status file_fn(struct load *load, const char *name, const char *text);

static enum az_status
read_text(struct op *op, const char *path, char **ret)
{
    FILE *file = fopen(path, "re");
    char *text = file != NULL ? talloc_zero_array(op->mem, char, FILE_MAX) : NULL;
    size_t length = text != NULL ? fread(text, 1, FILE_MAX, file) : 0;
    if (file != NULL)
        fclose(file);
    if (length == 0 || length == FILE_MAX)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: %s cannot be read: %s", path,
                       strerror(errno));
    text[length] = '\0';
    *ret = text;
    return AZ_OK;
}

static bool
ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name), wanted = strlen(suffix);
    return length > wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* Calls take() with each file below base/dir that ends in suffix; names are relative to base. */
static enum az_status
each_file(struct load *load, const char *dir, const char *suffix, file_fn *take)
{
    struct op *op = load->op;
    DIR *handle = opendir(talloc_asprintf(op->mem, "%s/%s", load->base, dir));
    enum az_status st = AZ_OK;
    if (handle == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: %s/%s: %s", load->base, dir,
                       strerror(errno));
    for (struct dirent *entry; st == AZ_OK && (entry = readdir(handle)) != NULL;) {
        char *name = talloc_asprintf(op->mem, "%s/%s", dir, entry->d_name), *text = NULL;
        if (entry->d_name[0] == '.')
            continue;
        if (ends_with(entry->d_name, suffix)) {
            st = read_text(op, talloc_asprintf(op->mem, "%s/%s", load->base, name), &text);
            st = st == AZ_OK ? take(load, name, text) : st;
        } else if (strchr(entry->d_name, '.') == NULL && strcmp(entry->d_name, "README") != 0) {
            st = each_file(load, name, suffix, take);
        }
    }
    closedir(handle);
    return st;
}

static enum az_status
take_rule(struct load *load, const char *name, const char *text)
{
    if (load->count == RULES_MAX)
        return op_fail(load->op, AZ_SERVER_ERROR, NULL, "more than %d shipped rules", RULES_MAX);
    load->paths[load->count++] = name;
    return policy_ship_rule(load->op, name, text, load->changed);
}

/* The data key is the file's name without its folder and ending. */
static const char *
key_of(struct op *op, const char *name)
{
    const char *slash = strrchr(name, '/');
    return talloc_strndup(op->mem, slash + 1, strlen(slash + 1) - strlen(".json"));
}

static enum az_status
take_schema(struct load *load, const char *name, const char *text)
{
    json_t *schema;
    const char *why;
    if (jsonx_parse(load->op->mem, text, strlen(text), DEPTH_MAX, &schema, &why) != AZ_OK)
        return op_fail(load->op, AZ_SERVER_ERROR, NULL, "shipped schema %s: %s", name, why);
    const char *control = json_string_value(json_object_get(schema, "x-control"));
    return policy_ship_schema(load->op, key_of(load->op, name), control != NULL ? control : "",
                              text, load->changed);
}

static enum az_status
take_data(struct load *load, const char *name, const char *text)
{
    json_t *value;
    const char *why;
    if (jsonx_parse(load->op->mem, text, strlen(text), DEPTH_MAX, &value, &why) != AZ_OK)
        return op_fail(load->op, AZ_SERVER_ERROR, NULL, "shipped row %s: %s", name, why);
    return policy_ship_data(load->op, key_of(load->op, name), jsonx_dump(load->op->mem, value),
                            load->changed);
}

static enum az_status
load_all(struct load *load)
{
    enum az_status st = each_file(load, "svc", ".rego", take_rule);
    if (st == AZ_OK)
        st = policy_ship_prune(load->op, load->paths, load->count, load->changed);
    if (st == AZ_OK)
        st = each_file(load, "schemas", ".json", take_schema);
    return st == AZ_OK ? each_file(load, "data", ".json", take_data) : st;
}

enum az_status
save_shipped_policy(struct op *op, const char *who, int *ret_changed, struct save_outcome *ret)
{
    struct load load = {.op = op, .changed = ret_changed};
    load.base = talloc_asprintf(op->mem, "%s/policy", op->az->cfg->data_dir);
    load.paths = talloc_zero_array(op->mem, const char *, RULES_MAX);
    *ret_changed = 0;
    unsigned session;
    enum az_status st = bundle_lock(op, &session);
    if (st != AZ_OK)
        return st;
    st = bundle_begin(op, session);
    if (st == AZ_OK)
        st = load_all(&load);
    if (st == AZ_OK)
        st = bundle_build(op, "shipped", who, &ret->revision);
    if (st == AZ_OK)
        st = db_commit(op);
    if (st != AZ_OK)
        db_rollback(op);
    bundle_unlock(op);
    ret->confirmed = false;
    return st;
}
