#include "config.h"

#include "policy/rows/cedar_rule.h"

#include <stdlib.h>
#include <string.h>

#include "cedar/json.h"
#include "cedar/parse.h"
#include "cedar/rego.h"
#include "cedar/rego_term.h"
#include "crypto/digest.h"

/* Package of the modules with the policies of a long text. */
#define CEDAR_PART_PACKAGE "svc.cedar.parts.r"

_Static_assert(CEDAR_RULE_DIGITS < SHA256_HEX_SIZE, "a digest has that many digits");

const char *
cedar_rule_digits(TALLOC_CTX *mem, const char *path)
{
    char hex[SHA256_HEX_SIZE];
    return sha256_hex(path, strlen(path), hex) == AZ_OK
               ? talloc_strndup(mem, hex, CEDAR_RULE_DIGITS)
               : NULL;
}

/* One compilation. */
struct compilation {
    TALLOC_CTX *mem;  /* of the modules */
    TALLOC_CTX *work; /* of all else */
    const char *path, *digits;
    struct cedar_modules *modules;
    struct cedar_fault *fault;
};

/* Return the name of a module's file or package: NUMBER is 0 for the first module. */
static char *
part_name(TALLOC_CTX *mem, const char *before, const struct compilation *work, const char *between,
          size_t number, const char *after)
{
    return number == 0
               ? talloc_asprintf(mem, "%s%s%s", before, work->digits, after)
               : talloc_asprintf(mem, "%s%s%s%zu%s", before, work->digits, between, number, after);
}

/* Sets of a module, which the first one of a long text unites. */
static const char *const cedar_sets[] = {"permits", "forbids", "errors", "forbidding"};

/* Return the first module of a long text, without its path; NULL: no memory. */
static char *
united_text(const struct compilation *work, const char *package, size_t parts)
{
    size_t length;
    BUF_AUTO buf;
    buf_init(&buf, work->work, CEDAR_REGO_MAX);
    buf_append_format(
        &buf,
        "# Generated from Cedar.\npackage %s\n\n"
        "result := {\"permits\": permits, \"forbids\": forbids, \"errors\": errors}\n",
        package);
    for (size_t i = 1; i <= parts; i++)
        for (size_t j = 0; j < sizeof(cedar_sets) / sizeof(cedar_sets[0]); j++)
            buf_append_format(
                &buf, "%s contains id if some id in data." CEDAR_PART_PACKAGE "%s.p%zu.%s\n",
                cedar_sets[j], work->digits, i, cedar_sets[j]);
    return buf_take(&buf, &length);
}

/* Append the rule that names the path. It comes last, so that the lines before it are the same as
 * in `authzctl cedar compile`. */
static char *
add_rule_path(const struct compilation *work, const char *text)
{
    size_t length;
    BUF_AUTO buf;
    buf_init(&buf, work->mem, CEDAR_REGO_MAX);
    buf_append_text(&buf, text);
    buf_append_text(&buf, "\npath := ");
    cedar_json_put(&buf, (struct cedar_text){work->path, strlen(work->path)});
    buf_append_char(&buf, '\n');
    return buf_take(&buf, &length);
}

/* Make a module: the first one has number 0. Without policies it unites the `parts` that follow. */
static enum az_status
add_module(const struct compilation *work, const struct cedar_file *policies, size_t number,
           size_t parts)
{
    struct cedar_module *module = &work->modules->module[work->modules->count];
    const char *package = part_name(
        work->work, number == 0 ? CEDAR_RULE_PACKAGE : CEDAR_PART_PACKAGE, work, ".p", number, "");
    TALLOC_CTX *mem = number == 0 ? work->work : work->mem; /* add_rule_path() makes a copy */
    if (package == NULL)
        return AZ_SERVER_ERROR;
    module->file = part_name(work->mem, "cedar/", work, "-", number, ".rego");
    module->text = policies != NULL ? cedar_rego(mem, policies, package, work->fault)
                                    : united_text(work, package, parts);
    if (module->text == NULL)
        return policies != NULL ? AZ_INVALID : AZ_SERVER_ERROR;
    if (number == 0)
        module->text = add_rule_path(work, module->text);
    work->modules->count++;
    return module->file != NULL && module->text != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

static enum az_status
add_modules(const struct compilation *work, const struct cedar_file *file)
{
    size_t parts = file->policies > CEDAR_RULE_PART_MAX
                       ? (file->policies + CEDAR_RULE_PART_MAX - 1) / CEDAR_RULE_PART_MAX
                       : 0;
    work->modules->module = talloc_zero_array(work->mem, struct cedar_module, (unsigned) parts + 1);
    if (work->modules->module == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = add_module(work, parts > 0 ? NULL : file, 0, parts);
    for (size_t i = 0; i < parts && st == AZ_OK; i++) {
        size_t begin = i * CEDAR_RULE_PART_MAX, left = file->policies - begin;
        const struct cedar_file part = {file->policy + begin,
                                        left < CEDAR_RULE_PART_MAX ? left : CEDAR_RULE_PART_MAX};
        st = add_module(work, &part, i + 1, parts);
    }
    return st;
}

enum az_status
cedar_rule_compile(TALLOC_CTX *mem, const char *path, const char *content,
                   struct cedar_modules *ret, struct cedar_fault *ret_fault)
{
    struct compilation work = {
        .mem = mem, .work = talloc_new(mem), .path = path, .modules = ret, .fault = ret_fault};
    *ret = (struct cedar_modules){NULL, 0};
    if (work.work == NULL || (work.digits = cedar_rule_digits(work.work, path)) == NULL) {
        talloc_free(work.work);
        return AZ_SERVER_ERROR;
    }
    const struct cedar_file *file = cedar_parse(work.work, content, strlen(content), ret_fault);
    enum az_status st = file != NULL ? add_modules(&work, file) : AZ_INVALID;
    talloc_free(work.work);
    return st;
}

const char *
cedar_rule_fault_text(TALLOC_CTX *mem, const char *path, const struct cedar_fault *fault)
{
    return talloc_asprintf(mem, "%s:%u:%u: %s", path, fault->place.line, fault->place.column,
                           fault->text);
}

unsigned
cedar_rule_line(const char *module, size_t line)
{
    static const char mark[] = "# line ";
    unsigned found = 0;
    for (const char *at = module; at != NULL && line > 0; line--) {
        if (strncmp(at, mark, sizeof(mark) - 1) == 0)
            found = (unsigned) strtoul(at + sizeof(mark) - 1, NULL, 10);
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return found;
}
