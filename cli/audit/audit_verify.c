/* audit verify and verify-export: check the log over all audit rows. */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "cli/audit/checkpoints.h"
#include "cli/lib/output.h"
#include "cli/verbs.h"
#include "store/audit/log_lines.h"
#include "store/audit/notes.h"
#include "store/audit/proof.h"
#include "store/audit/seal.h"
#include "store/audit/verify.h"
#include "store/db/partitions.h"

#define CHECKPOINT_OPTION(required)                                                                \
    {                                                                                              \
        "checkpoint", 0, "FILE", offsetof(struct cli_choices, file), required,                     \
            "Checkpoints kept elsewhere, one after the other; the log must contain each of them"   \
    }
#define KEYS_OPTION(required)                                                                      \
    {                                                                                              \
        "keys", 0, "FILE", offsetof(struct cli_choices, jwks), required,                           \
            "JWK Set with the keys of the log, kept elsewhere (from `authzctl audit keys`)"        \
    }

const struct cli_option audit_verify_options[] = {
    CHECKPOINT_OPTION(false),
    {"from",                                    0, "DAY", offsetof(struct cli_choices,               from),                         false,
             "Read rows of this day (UTC) and later alone"},
    KEYS_OPTION(false),
    {"to",                                         0,                                       "DAY",   offsetof(struct cli_choices, to), false,
             "Read rows of this day and earlier alone"},
    {NULL, 0,  NULL,    0,                                            false,                                                                    NULL                                                                    },
};
const struct cli_option audit_verify_export_options[] = {
    CHECKPOINT_OPTION(true),
    KEYS_OPTION(true),
    {NULL, 0, NULL, 0, false, NULL},
};

/* Read a day as the number of its partition. CLI_USAGE after the error has been printed. */
static int
read_day(const struct cli *cli, const char *option, const char *text, int64_t *ret)
{
    int64_t ms;
    char *time = text != NULL ? talloc_asprintf(cli->mem, "%sT00:00:00Z", text) : NULL;
    if (text == NULL)
        return CLI_OK;
    if (time != NULL && iso8601_parse(time, strlen(time), &ms) == AZ_OK
        && ms >= PARTITION_EPOCH * 1000) {
        *ret = partition_day(ms / 1000);
        return CLI_OK;
    }
    output_error("%s: --%s must be a day since 2026, such as 2026-01-31, not '%s'", cli->path,
                 option, text);
    return CLI_USAGE;
}

/* ---- the report ---- */

static json_t *
faults_json(const struct audit_report *report)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < report->faults && i < AUDIT_FAULTS_LISTED; i++)
        json_array_append_new(list, json_pack("{s:s,s:I}", "fault",
                                              audit_fault_text(report->fault[i].kind), "at",
                                              (json_int_t) report->fault[i].at));
    return list;
}

/* Print the report; return the exit status. */
static int
print_report(struct cli *cli, const char *origin, const struct audit_report *report)
{
    if (cli->choice.json)
        output_json(jsonx_own(
            cli->mem,
            json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "origin", origin, "leaves",
                      (json_int_t) report->size, "rows", (json_int_t) report->rows, "notes",
                      (json_int_t) report->notes, "checkpoints", (json_int_t) report->checkpoints,
                      "dropped", (json_int_t) report->dropped, "unsealed",
                      (json_int_t) report->unsealed, "faults", (json_int_t) report->faults, "first",
                      faults_json(report))));
    else {
        printf("log          %s\nleaves       %" PRId64 "\nrows         %" PRId64
               " checked\nnotes        %" PRId64 " checked\ncheckpoints  %" PRId64
               " checked\ndropped      %" PRId64 " rows, by retention\nnot sealed   %" PRId64
               " rows\n",
               origin, report->size, report->rows, report->notes, report->checkpoints,
               report->dropped, report->unsealed);
        for (int64_t i = 0; i < report->faults && i < AUDIT_FAULTS_LISTED; i++)
            printf("FAULT        %s %" PRId64 "\n", audit_fault_text(report->fault[i].kind),
                   report->fault[i].at);
        if (report->faults > AUDIT_FAULTS_LISTED)
            printf("             and %" PRId64 " more\n", report->faults - AUDIT_FAULTS_LISTED);
        printf("%s\n", report->faults == 0 ? "the log is complete and unchanged"
                                           : "the log or its rows were changed");
    }
    return report->faults == 0 ? CLI_OK : CLI_FAILED;
}

/* ---- the database ---- */

static int
read_keys(struct cli *cli, const struct jwk_set **ret)
{
    json_t *list;
    if (cli->choice.jwks != NULL)
        return keys_file_read(cli, cli->choice.jwks, ret);
    if (audit_log_keys(&cli->op, &list) != AZ_OK)
        return output_fault(cli);
    if (!cli->choice.quiet)
        fputs("authzctl: audit verify: the keys are those of the database, so this proves nothing "
              "against who can write to it; give --keys and --checkpoint from elsewhere\n",
              stderr);
    return keys_list_read(cli, list, ret);
}

int
audit_verify_run(struct cli *cli)
{
    struct audit_check check = {.from_day = 0, .to_day = INT64_MAX};
    struct audit_log_state state;
    struct checkpoint_file foreign = {.count = 0};
    struct audit_report report;
    int status = read_day(cli, "from", cli->choice.from, &check.from_day);
    if (status == CLI_OK)
        status = read_day(cli, "to", cli->choice.to, &check.to_day);
    if (status == CLI_OK)
        status = read_keys(cli, &check.keys);
    if (status == CLI_OK && cli->choice.file != NULL)
        status = checkpoint_file_read(cli, cli->choice.file, check.keys, &foreign);
    if (status != CLI_OK)
        return status;
    if (audit_log_state_read(&cli->op, &state) != AZ_OK)
        return output_fault(cli);
    check.origin = audit_log_origin(&cli->op, state.epoch);
    check.foreign = foreign.at;
    check.foreigns = foreign.count;
    if (check.origin == NULL)
        return output_no_memory(cli);
    if (audit_verify(&cli->op, &check, &report) != AZ_OK)
        return output_fault(cli);
    return print_report(cli, check.origin, &report);
}

/* ---- a file of lines ---- */

/* Compare the tree with the checkpoints of its size. */
static enum az_status
compare_root(const struct checkpoint_file *foreign, struct audit_edge *edge,
             struct audit_report *report)
{
    merkle_hash root;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < foreign->count && st == AZ_OK; i++) {
        if (foreign->at[i].size != (uint64_t) audit_edge_size(edge))
            continue;
        st = audit_edge_root(edge, root);
        report->checkpoints++;
        if (st == AZ_OK && memcmp(root, foreign->at[i].root, SHA256_OCTETS) != 0)
            audit_fault_add(report, AUDIT_CHECKPOINT_FORGED, (int64_t) foreign->at[i].size);
    }
    return st;
}

/* Read the hash of a leaf from a line that has it in place of a row that retention dropped. False:
 * the line is none of these. */
static bool
read_gone(const char *line, size_t length, merkle_hash ret)
{
    size_t begin = strlen(AUDIT_GONE_BEGIN), digits = (size_t) 2 * SHA256_OCTETS;
    if (length != begin + digits + strlen(AUDIT_GONE_END)
        || strncmp(line, AUDIT_GONE_BEGIN, begin) != 0
        || strncmp(line + begin + digits, AUDIT_GONE_END, strlen(AUDIT_GONE_END)) != 0)
        return false;
    for (size_t i = 0; i < digits; i += 2) {
        int high = digits_hex(line[begin + i]), low = digits_hex(line[begin + i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret[i / 2] = (unsigned char) (high << 4 | low);
    }
    return true;
}

/* Return the rows that the note of a dropped day has; 0: the line is no such note. */
static int64_t
rows_dropped(const char *line)
{
    const char *rows = audit_note_kind(line) == NOTE_DROPPED ? strstr(line, "\"rows\":") : NULL;
    return rows != NULL ? strtoll(rows + strlen("\"rows\":"), NULL, 10) : 0;
}

/* Hash the lines of a file and compare the trees that they make. */
static enum az_status
hash_lines(struct cli *cli, FILE *file, const struct checkpoint_file *foreign,
           struct audit_report *report)
{
    const struct audit_log_state empty = {.epoch = 0};
    const struct audit_leaf leaf = {.id = 0};
    struct audit_edge *edge;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    merkle_hash hash;
    int64_t noted = 0;
    enum az_status st = audit_edge_read(&cli->op, &empty, &edge);
    while (st == AZ_OK && (length = getline(&line, &room, file)) > 0) {
        size_t octets = (size_t) length - (line[length - 1] == '\n');
        noted += rows_dropped(line);
        if (read_gone(line, octets, hash))
            report->dropped++;
        else
            st = merkle_leaf(line, octets, hash);
        if (st == AZ_OK)
            st = audit_edge_append(edge, &leaf, hash);
        if (st == AZ_OK)
            st = compare_root(foreign, edge, report);
        if (audit_edge_size(edge) % MERKLE_TILE_WIDTH == 0)
            audit_edge_forget(edge);
    }
    free(line);
    report->size = st == AZ_OK ? audit_edge_size(edge) : 0;
    report->rows = report->size - report->dropped;
    if (report->dropped > noted)
        audit_fault_add(report, AUDIT_ROWS_HIDDEN, report->dropped - noted);
    report->unsealed = report->size;
    for (size_t i = 0; i < foreign->count; i++)
        if (foreign->at[i].size <= (uint64_t) report->size
            && report->size - (int64_t) foreign->at[i].size < report->unsealed)
            report->unsealed = report->size - (int64_t) foreign->at[i].size;
    for (size_t i = 0; i < foreign->count; i++)
        if (foreign->at[i].size > (uint64_t) report->size)
            audit_fault_add(report, AUDIT_ROLLED_BACK, (int64_t) foreign->at[i].size);
    return st;
}

int
audit_verify_export_run(struct cli *cli)
{
    const struct jwk_set *keys;
    struct checkpoint_file foreign;
    struct audit_report report = {.rows = 0};
    int status = keys_file_read(cli, cli->choice.jwks, &keys);
    if (status == CLI_OK)
        status = checkpoint_file_read(cli, cli->choice.file, keys, &foreign);
    if (status != CLI_OK)
        return status;
    FILE *file = fopen(cli->args[0], "re");
    if (file == NULL) {
        output_error("%s: %s: cannot be opened; give a file of `authzctl audit lines`", cli->path,
                     cli->args[0]);
        return CLI_FAILED;
    }
    cli->op.mem = cli->mem;
    enum az_status st = hash_lines(cli, file, &foreign, &report);
    fclose(file);
    if (st != AZ_OK)
        return output_no_memory(cli);
    return print_report(cli, foreign.count > 0 ? foreign.at[0].origin : "", &report);
}
