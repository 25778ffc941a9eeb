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
#include "store/audit/proof/log_lines.h"
#include "store/audit/proof/notes.h"
#include "store/audit/proof/proof.h"
#include "store/audit/proof/verify/verify.h"
#include "store/db/keep/partitions.h"

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

static json_t *
report_json(const struct audit_report *report)
{
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "origin", report->origin,
                     "leaves", (json_int_t) report->size, "rows", (json_int_t) report->rows,
                     "notes", (json_int_t) report->notes, "checkpoints",
                     (json_int_t) report->checkpoints, "dropped", (json_int_t) report->dropped,
                     "unsealed", (json_int_t) report->unsealed, "aged", (json_int_t) report->aged,
                     "agedCheckpoints", (json_int_t) report->aged_checkpoints, "faults",
                     (json_int_t) report->faults, "first", faults_json(report));
}

static void
print_report(const struct audit_report *report)
{
    output_print("log          %s\nleaves       %" PRId64 "\nrows         %" PRId64
                 " checked\nnotes        %" PRId64 " checked\ncheckpoints  %" PRId64
                 " checked\ndropped      %" PRId64 " rows, by retention\nnot sealed   %" PRId64
                 " rows\n",
                 report->origin, report->size, report->rows, report->notes, report->checkpoints,
                 report->dropped, report->unsealed);
    if (report->aged > 0)
        output_print("aged         %" PRId64 " leaves, not checked (SVC_AUDIT_PROOF_DAYS); %" PRId64
                     " checkpoints from elsewhere are of them and were not compared\n",
                     report->aged, report->aged_checkpoints);
    for (int64_t i = 0; i < report->faults && i < AUDIT_FAULTS_LISTED; i++)
        output_print("FAULT        %s %" PRId64 "\n", audit_fault_text(report->fault[i].kind),
                     report->fault[i].at);
    if (report->faults > AUDIT_FAULTS_LISTED)
        output_print("             and %" PRId64 " more\n", report->faults - AUDIT_FAULTS_LISTED);
}

/* Return the date of a partition. */
static const char *
day_text(int64_t day, char date[ISO8601_SIZE])
{
    if (day < 0 || iso8601_format(PARTITION_EPOCH + day * 86400, date) != AZ_OK)
        return "no day";
    date[strlen("2026-01-31")] = '\0';
    return date;
}

static json_t *
days_json(const struct audit_notes *notes)
{
    char date[ISO8601_SIZE];
    json_t *list = json_array();
    for (size_t i = 0; i < notes->count; i++)
        json_array_append_new(list, json_pack("{s:s,s:I,s:I}", "day",
                                              day_text(notes->dropped[i].day, date), "rows",
                                              (json_int_t) notes->dropped[i].rows, "missing",
                                              (json_int_t) notes->dropped[i].missing));
    return list;
}

/* Print each day that a note says was dropped, so that a reader finds one that retention did not
 * drop. */
static void
print_days(const struct audit_notes *notes)
{
    char date[ISO8601_SIZE];
    for (size_t i = 0; i < notes->count; i++)
        output_print("dropped day  %s, %" PRId64 " rows, of which %" PRId64 " are missing\n",
                     day_text(notes->dropped[i].day, date), notes->dropped[i].rows,
                     notes->dropped[i].missing);
}

/* Print the reports; return the exit status. The members of JSON are those of the present epoch;
 * earlier ones are listed beside them. */
static int
print_reports(struct cli *cli, const struct audit_report *reports, size_t count,
              const struct audit_notes *notes)
{
    int64_t faults = 0;
    json_t *earlier = json_array();
    for (size_t i = 0; i < count; i++) {
        faults += reports[i].faults;
        if (!cli->choice.json)
            print_report(&reports[i]);
        else if (i + 1 < count)
            json_array_append_new(earlier, report_json(&reports[i]));
    }
    if (cli->choice.json) {
        json_t *report = jsonx_own(cli->mem, report_json(&reports[count - 1]));
        json_object_set_new(report, "droppedDays", days_json(notes));
        json_object_set(report, "earlier", earlier);
        output_json(report);
    } else {
        print_days(notes);
        output_print("%s\n", faults == 0 ? "the log is complete and unchanged"
                                         : "the log or its rows were changed");
    }
    json_decref(earlier);
    return faults == 0 ? CLI_OK : CLI_FAILED;
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
    struct checkpoint_file foreign = {.count = 0};
    struct audit_verified verified;
    int status = read_day(cli, "from", cli->choice.from, &check.from_day);
    if (status == CLI_OK)
        status = read_day(cli, "to", cli->choice.to, &check.to_day);
    if (status == CLI_OK)
        status = read_keys(cli, &check.keys);
    if (status == CLI_OK && cli->choice.file != NULL)
        status = checkpoint_file_read(cli, cli->choice.file, check.keys, &foreign);
    if (status != CLI_OK)
        return status;
    if ((cli->choice.from != NULL || cli->choice.to != NULL) && !cli->choice.quiet)
        fputs("authzctl: audit verify: no hash covers the day of a leaf that is not read, so with "
              "--from or --to a row can be hidden by giving it another day; only the whole check "
              "proves\n",
              stderr);
    check.foreign = foreign.at;
    check.foreigns = foreign.count;
    if (audit_verify(&cli->op, &check, &verified) != AZ_OK)
        return output_fault(cli);
    return print_reports(cli, verified.report, verified.notes.epochs, &verified.notes);
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
 * the line has no such hash. */
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

/* Return the epoch of an origin (store/audit/proof/seal/seal.h). */
static long
epoch_of(const char *origin)
{
    const char *slash = strrchr(origin, '/');
    return slash == NULL || strcmp(slash, "/audit") == 0 ? 1 : strtol(slash + 1, NULL, 10);
}

/* Keep the checkpoints of the epoch that a line begins: a file of checkpoints has those of all, and
 * a file of lines has one. */
static void
keep_epoch(struct checkpoint_file *foreign, const char *line)
{
    const char *number = audit_note_kind(line) == NOTE_BEGIN ? strstr(line, "\"epoch\":") : NULL;
    long epoch = number != NULL ? strtol(number + strlen("\"epoch\":"), NULL, 10) : 0;
    size_t kept = 0;
    for (size_t i = 0; i < foreign->count; i++)
        if (epoch_of(foreign->at[i].origin) == epoch)
            foreign->at[kept++] = foreign->at[i];
    foreign->count = kept;
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
hash_lines(struct cli *cli, FILE *file, struct checkpoint_file *foreign,
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
        if (audit_edge_size(edge) == 0)
            keep_epoch(foreign, line);
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
    return st;
}

/* Count the leaves behind the last checkpoint, and report checkpoints behind the last leaf. */
static void
check_end(const struct checkpoint_file *foreign, struct audit_report *report)
{
    report->unsealed = report->size;
    for (size_t i = 0; i < foreign->count; i++)
        if (foreign->at[i].size > (uint64_t) report->size)
            audit_fault_add(report, AUDIT_ROLLED_BACK, (int64_t) foreign->at[i].size);
        else if (report->size - (int64_t) foreign->at[i].size < report->unsealed)
            report->unsealed = report->size - (int64_t) foreign->at[i].size;
    if (foreign->count == 0)
        audit_fault_add(report, AUDIT_CHECKPOINT_GONE, report->size);
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
    check_end(&foreign, &report);
    const struct audit_notes notes = {.count = 0};
    report.origin = foreign.count > 0 ? foreign.at[0].origin : "";
    return print_reports(cli, &report, 1, &notes);
}
