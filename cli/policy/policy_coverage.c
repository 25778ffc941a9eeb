#include "config.h"

#include "cli/policy/policy_coverage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json/jsonx.h"
#include "cli/lib/dir.h"
#include "cli/lib/output.h"
#include "policy/rows/rule.h"

/* Largest report in octets: some 50 for each group of lines. */
#define COVERAGE_MAX (32 << 20)
#define COVERAGE_NESTING_MAX 16
#define COVERAGE_FILE "coverage"

static const struct output_column coverage_columns[] = {
    {"file",    "RULE"       },
    {"pct",     "%"          },
    {"missing", "NOT COVERED"},
    {NULL,      NULL         },
};

/* Return the groups of lines as "3, 5-7"; empty if there is none. */
static char *
lines_listed(TALLOC_CTX *mem, const json_t *groups)
{
    char *list = talloc_strdup(mem, "");
    size_t i;
    json_t *group;
    json_array_foreach (groups, i, group) {
        json_int_t from =
                       json_integer_value(json_object_get(json_object_get(group, "start"), "row")),
                   to = json_integer_value(json_object_get(json_object_get(group, "end"), "row"));
        list = talloc_asprintf_append(list, "%s%lld", i > 0 ? ", " : "", (long long) from);
        if (list != NULL && to > from)
            list = talloc_asprintf_append(list, "-%lld", (long long) to);
    }
    return list;
}

/* Return the row of a rule; a rule without lines that could be covered is covered. */
static json_t *
coverage_row(const struct cli *cli, const json_t *report, const char *path)
{
    const json_t *file = json_object_get(json_object_get(report, "files"), path);
    double part = file != NULL ? json_number_value(json_object_get(file, "coverage")) : 100;
    return json_pack("{s:s,s:s,s:s}", "file", path, "pct", talloc_asprintf(cli->mem, "%.1f", part),
                     "missing", lines_listed(cli->mem, json_object_get(file, "not_covered")));
}

static void
coverage_print(const struct cli *cli, const json_t *report, const struct bundle_dir *dir)
{
    struct jsonx_build rows = {jsonx_own(cli->mem, json_array()), false};
    for (size_t i = 0; i < dir->rules; i++)
        if (dir->rule[i].enabled && strcmp(rule_kind(dir->rule[i].path), "rego") == 0)
            jsonx_append(&rows, coverage_row(cli, report, dir->rule[i].path));
    output_rows(cli, jsonx_built(&rows), coverage_columns);
}

int
policy_coverage(const struct cli *cli, const char *program, const struct temp_dir *place,
                const struct bundle_dir *dir, int *ret_signal)
{
    static const char *const arguments[] = {"test", ".", "--coverage", "--format=json", NULL};
    size_t length = 0;
    const char *why = NULL;
    json_t *report = NULL;
    int output = openat(place->root, COVERAGE_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const struct opa_call call = {
        .program = program, .dir = place->path, .arguments = arguments, .output = output};
    int status = output >= 0 ? opa_run(cli, &call, ret_signal) : CLI_UNAVAILABLE;
    if (output >= 0)
        close(output);
    if (status != CLI_OK)
        return status;
    char *text = dir_read(cli->mem, place->root, COVERAGE_FILE, COVERAGE_MAX, &length, &why);
    if (text == NULL
        || jsonx_parse(cli->mem, text, length, COVERAGE_NESTING_MAX, &report, &why) != AZ_OK) {
        output_error("%s: `%s test --coverage` gave no report: %s", cli->path, program,
                     why != NULL ? why : "out of memory");
        return CLI_UNAVAILABLE;
    }
    coverage_print(cli, report, dir);
    return CLI_OK;
}
