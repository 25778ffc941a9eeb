#include "config.h"

#include "policy/bundle.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/settings.h"
#include "crypto/digest.h"
#include "policy/archive.h"
#include "policy/ask.h"
#include "policy/engine.h"
#include "store/bundles.h"
#include "store/db.h"
#include "store/locks.h"

/* Hex digits of the content hash in a revision. */
#define HASH_DIGITS 12
#define ROW_DEPTH_MAX 64
/* Others wait the confirm timeout plus this for the save lock. Milliseconds. */
#define LOCK_EXTRA_MS 5000
#define LOCK_PAUSE_MS 25

static const struct db_stmt lock_stmt = {"policy_lock", "SELECT pg_try_advisory_lock($1, 0) AS got",
                                         1};
static const struct db_stmt unlock_stmt = {"policy_unlock", "SELECT pg_advisory_unlock($1, 0)", 1};

/* The package a Rego text declares: the word after the first line that begins with `package`. */
static const char *
rule_package(TALLOC_CTX *mem, const char *content)
{
    for (const char *line = content; line != NULL;
         line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        const char *c = line + strspn(line, " \t");
        if (strncmp(c, "package", 7) != 0 || (c[7] != ' ' && c[7] != '\t'))
            continue;
        c += 7 + strspn(c + 7, " \t");
        return talloc_strndup(mem, c, strcspn(c, " \t\r\n#;"));
    }
    return "";
}

/* Whether one dotted name equals the other or lies below it. */
static bool
overlaps(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b),
           shorter = length_a < length_b ? length_a : length_b;
    if (strncmp(a, b, shorter) != 0)
        return false;
    return length_a == length_b || (length_a < length_b ? b[shorter] : a[shorter]) == '.';
}

/* OPA refuses a bundle whose data and rules collide: say so before anything is published
 * (decisions.md "Admin API"). */
static enum az_status
check_conflicts(struct op *op, const struct bundle_rows *rows)
{
    for (size_t i = 0; i < rows->data; i++) {
        for (size_t j = i + 1; j < rows->data; j++)
            if (overlaps(rows->data_key[i], rows->data_key[j]))
                return op_fail(op, AZ_CONFLICT,
                               talloc_asprintf(op->mem, "The data keys %s and %s overlap",
                                               rows->data_key[i], rows->data_key[j]),
                               NULL);
        for (size_t j = 0; j < rows->rules; j++) {
            const char *package = rule_package(op->mem, rows->rule_content[j]);
            if (overlaps(rows->data_key[i], package))
                return op_fail(op, AZ_CONFLICT,
                               talloc_asprintf(op->mem,
                                               "The data key %s overlaps the package %s of %s",
                                               rows->data_key[i], package, rows->rule_path[j]),
                               NULL);
        }
    }
    return AZ_OK;
}

/* Puts a row at its place: the key split on dots into nested objects. */
static enum az_status
place_row(struct op *op, json_t *root, const char *key, const char *payload)
{
    json_t *value, *at = root;
    const char *why;
    if (jsonx_parse(op->mem, payload, strlen(payload), ROW_DEPTH_MAX, &value, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row %s is not JSON: %s", key, why);
    for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        json_t *next = json_object_getn(at, key, (size_t) (dot - key));
        if (next == NULL) {
            next = json_object();
            json_object_setn_new(at, key, (size_t) (dot - key), next);
        }
        at = next;
    }
    return json_object_set(at, key, value) == 0
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "row %s does not fit", key);
}

/* data.json, and a hash over all rows that does not depend on the revision. */
static enum az_status
build_data(struct op *op, const struct bundle_rows *rows, char **ret_data,
           char ret_hash[SHA256_HEX_SIZE])
{
    json_t *root = jsonx_own(op->mem, json_object());
    struct buf all;
    for (size_t i = 0; i < rows->data; i++) {
        enum az_status st = place_row(op, root, rows->data_key[i], rows->data_payload[i]);
        if (st != AZ_OK)
            return st;
    }
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    *ret_data = text != NULL ? talloc_strdup(op->mem, text) : NULL;
    free(text);
    buf_init(&all, op->mem, ARCHIVE_MAX);
    buf_append_text(&all, *ret_data != NULL ? *ret_data : "");
    for (size_t i = 0; i < rows->rules; i++) {
        buf_append(&all, "", 1);
        buf_append_text(&all, rows->rule_path[i]);
        buf_append(&all, "", 1);
        buf_append_text(&all, rows->rule_content[i]);
    }
    if (*ret_data == NULL || all.status != AZ_OK
        || sha256_hex(all.data, all.len, ret_hash) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the bundle is too large or memory is short");
    buf_done(&all);
    return AZ_OK;
}

static enum az_status
build_archive(struct op *op, const struct bundle_rows *rows, const char *data,
              struct bundle_new *bundle)
{
    struct archive *archive = archive_new(op->mem);
    char *manifest =
        talloc_asprintf(op->mem, "{\"revision\":\"%s\",\"rego_version\":1}", bundle->revision);
    unsigned char *body;
    char *etag = talloc_array(op->mem, char, SHA256_HEX_SIZE);
    enum az_status st = archive != NULL && manifest != NULL ? AZ_OK : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = archive_add(archive, ".manifest", manifest, strlen(manifest));
    if (st == AZ_OK)
        st = archive_add(archive, "data.json", data, strlen(data));
    for (size_t i = 0; i < rows->rules && st == AZ_OK; i++)
        st = archive_add(archive, rows->rule_path[i], rows->rule_content[i],
                         strlen(rows->rule_content[i]));
    if (st == AZ_OK)
        st = archive_finish(op->mem, archive, &body, &bundle->length);
    if (st == AZ_OK)
        st = sha256_hex(body, bundle->length, etag);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the bundle archive cannot be built");
    bundle->body = body;
    bundle->etag = etag;
    return AZ_OK;
}

enum az_status
bundle_build(struct op *op, const char *source, const char *who, const char **ret_revision)
{
    struct bundle_rows rows = {.rules = 0};
    struct bundle_new bundle = {.source = source, .who = who, .rows = &rows};
    const char *current;
    char *data, hash[SHA256_HEX_SIZE];
    int64_t number;
    enum az_status st = bundle_rows_fetch(op, &rows);
    if (st == AZ_OK)
        st = check_conflicts(op, &rows);
    if (st == AZ_OK)
        st = build_data(op, &rows, &data, hash);
    if (st == AZ_OK)
        st = bundle_current(op, &current);
    if (st != AZ_OK)
        return st;
    hash[HASH_DIGITS] = '\0';
    const char *dash = strchr(current, '-');
    *ret_revision = current;
    if (dash != NULL && strcmp(dash + 1, hash) == 0)
        return AZ_OK;
    if ((st = bundle_next_number(op, &number)) != AZ_OK)
        return st;
    bundle.revision = *ret_revision =
        talloc_asprintf(op->mem, "r%lld-%s", (long long) number, hash);
    if ((st = build_archive(op, &rows, data, &bundle)) != AZ_OK)
        return st;
    return bundle_publish(op, &bundle);
}

/* What the engine beside us says when asked counts as its report: its own may be late or lost. */
static void
ask_and_report(struct op *op, struct engine_status *status)
{
    if (engine_revision(op, status) == AZ_OK && status->instance != NULL)
        bundle_report(op, status->instance, status->active_revision, status->code, status->message);
    az_fault_clear(&op->fault);
}

/* The engines' own reports first; every poll interval the engine beside us is asked too. */
bool
bundle_await(struct op *op)
{
    const struct settings *cfg = op->az->cfg;
    int64_t started = clock_monotonic_ms();
    bool confirmed = false, ask_engine = false;
    for (;;) {
        struct op look = {.mem = op->mem, .az = op->az, .now_ms = op->now_ms};
        struct engine_status status = {.active_revision = NULL};
        if (ask_engine)
            ask_and_report(&look, &status);
        if (bundle_settle(&look, status.active_revision, &confirmed) != AZ_OK) {
            log_text(AZ_SEV_WARN, "activation not followed to its end", "%s", look.fault.detail);
            return false;
        }
        if (confirmed)
            return true;
        int64_t left = cfg->bundle_confirm_timeout_ms - (clock_monotonic_ms() - started);
        if (left <= 0 || *op->az->stopping)
            return false;
        ask_engine = !db_wait(
            op, (int) (left < cfg->bundle_confirm_poll_ms ? left : cfg->bundle_confirm_poll_ms));
    }
}

static enum az_status
try_lock(struct op *op, const struct db_stmt *stmt, bool *ret_got)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, LOCK_POLICY);
    enum az_status st = db_exec(op, stmt, &params, false, &result);
    *ret_got = st == AZ_OK && PQgetvalue(result, 0, 0)[0] == 't';
    return st;
}

enum az_status
bundle_lock(struct op *op, unsigned *ret_session)
{
    int64_t started = clock_monotonic_ms();
    for (bool got = false;;) {
        enum az_status st = try_lock(op, &lock_stmt, &got);
        *ret_session = db_generation(op->az->db);
        if (st != AZ_OK || got)
            return st;
        if (clock_monotonic_ms() - started > op->az->cfg->bundle_confirm_timeout_ms + LOCK_EXTRA_MS)
            return op_fail(op, AZ_SAVE_IN_PROGRESS, NULL, NULL);
        nanosleep(&(struct timespec){0, LOCK_PAUSE_MS * 1000000L}, NULL);
    }
}

enum az_status
bundle_begin(struct op *op, unsigned session)
{
    enum az_status st = db_begin(op);
    if (st == AZ_OK && db_generation(op->az->db) != session) {
        db_rollback(op);
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "database: the session with the save lock was lost");
    }
    return st;
}

void
bundle_unlock(struct op *op)
{
    struct op quiet = {.mem = op->mem, .az = op->az, .now_ms = op->now_ms};
    bool got;
    if (try_lock(&quiet, &unlock_stmt, &got) != AZ_OK || !got)
        db_close(op->az->db); /* the lock goes with the session */
}
