#include "config.h"

#include "cli/lib/input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "policy/rows/data_key.h"

/* Nesting of a list of the store: rows whose members may be lists of words. */
#define LIST_DEPTH_MAX 4

static const char standard_input[] = "standard input";

static bool
is_standard(const struct cli *cli)
{
    return cli->argc < 2 || strcmp(cli->args[1], "-") == 0;
}

const char *
input_name(const struct cli *cli)
{
    return is_standard(cli) ? standard_input : cli->args[1];
}

char *
input_read_file(const struct cli *cli, const char *name, size_t max, const char *limit,
                const char *expected, size_t *ret_length)
{
    const bool standard = strcmp(name, "-") == 0;
    FILE *file = standard ? stdin : fopen(name, "re");
    const char *why = NULL;
    char octets[8192];
    BUF_AUTO buf;
    buf_init(&buf, cli->mem, max);
    name = standard ? standard_input : name;
    if (file == NULL) {
        output_error("%s: %s: %s; name a readable file, or - for standard input", cli->path, name,
                     strerror(errno));
        return NULL;
    }
    for (size_t got; (got = fread(octets, 1, sizeof(octets), file)) > 0;)
        if (buf_append(&buf, octets, got) != AZ_OK)
            break;
    if (ferror(file))
        why = strerror(errno);
    else if (buf.status != AZ_OK)
        why = talloc_asprintf(cli->mem, "is larger than %s", limit);
    else if (buf.len == 0)
        why = "is empty";
    if (!standard)
        fclose(file);
    char *text = why == NULL ? buf_take(&buf, ret_length) : NULL;
    if (text == NULL)
        output_error("%s: %s: %s; %s", cli->path, name, why != NULL ? why : "out of memory",
                     expected);
    return text;
}

char *
input_read(const struct cli *cli, size_t max, const char *limit, const char *expected,
           size_t *ret_length)
{
    return input_read_file(cli, is_standard(cli) ? "-" : cli->args[1], max, limit, expected,
                           ret_length);
}

int
input_list(const struct cli *cli, const char *text, json_t **ret)
{
    if (text != NULL
        && jsonx_parse(cli->mem, text, strlen(text), LIST_DEPTH_MAX, ret, NULL) == AZ_OK)
        return CLI_OK;
    output_error("%s: the answer of the database cannot be read; run `authzctl db status`",
                 cli->path);
    return CLI_FAILED;
}

int
input_payload(const struct cli *cli, const char *text, json_t **ret)
{
    if (text != NULL
        && jsonx_parse(cli->mem, text, strlen(text), POLICY_DATA_DEPTH_MAX, ret, NULL) == AZ_OK)
        return CLI_OK;
    output_error("%s: the stored payload is not JSON; replace it with `authzctl policy data set`",
                 cli->path);
    return CLI_FAILED;
}

/* Remove the members that repeat a time in words of the API's own: this tool prints one form of
 * times. */
static void
drop_formatted(json_t *row)
{
    json_object_del(row, "createdAtFormatted");
    json_object_del(row, "updatedAtFormatted");
}

int
input_row_print(const struct cli *cli, const char *text)
{
    json_t *row;
    int status = input_list(cli, text, &row);
    if (status != CLI_OK)
        return status;
    drop_formatted(row);
    output_json(row);
    return CLI_OK;
}

int
input_list_print(const struct cli *cli, const char *text, const struct output_column *columns)
{
    json_t *rows, *row;
    size_t i;
    int status = input_list(cli, text, &rows);
    if (status != CLI_OK)
        return status;
    json_array_foreach (rows, i, row)
        drop_formatted(row);
    output_rows(cli, rows, columns);
    return CLI_OK;
}
