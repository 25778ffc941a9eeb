/* Batches of statements and their parameters. */
#include "config.h"

#include <string.h>

#include "store/db/db.h"
#include "store/db/db_private.h"

static int
db_batch_destroy(struct db_batch *batch)
{
    db_batch_reset(batch);
    return 0;
}

struct db_batch *
db_batch_make(TALLOC_CTX *mem, const char *fault)
{
    /* A batch has 12 kB, of which a request uses a tenth; do not clear the rest. */
    struct db_batch *batch = talloc(mem, struct db_batch);
    if (batch == NULL)
        return NULL;
    batch->op = NULL;
    batch->count = 0;
    batch->fault = fault;
    batch->failed = NULL;
    batch->unconfirmed = batch->fenced = false;
    batch->adds = batch->applies = batch->guards = false;
    batch->message[0] = '\0';
    talloc_set_destructor(batch, db_batch_destroy);
    return batch;
}

struct db_batch *
db_batch_new(struct op *op)
{
    struct db_batch *batch = db_batch_make(op->mem, NULL);
    if (batch == NULL)
        return op->az->db->spare;
    batch->op = op;
    return batch;
}

struct op *
db_batch_op(const struct db_batch *batch)
{
    return batch->op;
}

const char *
db_batch_fault(const struct db_batch *batch)
{
    const char *fault = batch->fault;
    for (size_t i = 0; i < batch->count && fault == NULL; i++)
        if (batch->step[i].params.lost)
            fault = DB_NO_MEMORY;
    return fault;
}

void
db_batch_reset(struct db_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        PQclear(batch->step[i].result);
        batch->step[i].result = NULL;
        batch->step[i].sqlstate[0] = '\0';
    }
    if (batch->applies || batch->guards)
        PQclear(batch->step[DB_BATCH_MAX].result);
    batch->applies = batch->guards = false;
    batch->failed = NULL;
    batch->unconfirmed = batch->fenced = false;
}

bool
db_batch_failed_with(const struct db_batch *batch, const char *sqlstate)
{
    return batch->failed != NULL && strcmp(batch->failed->sqlstate, sqlstate) == 0;
}

static struct db_step *
begin_step(struct db_step *step, const struct db_stmt *stmt, uint32_t bucket, uint32_t day)
{
    step->stmt = stmt;
    step->bucket = bucket;
    step->day = day;
    step->refresh = DB_NO_PARTITION;
    step->params.count = 0;
    step->params.lost = false;
    step->result = NULL;
    step->sqlstate[0] = '\0';
    return step;
}

struct db_step *
db_batch_add_in(struct db_batch *batch, const struct db_stmt *stmt, uint32_t bucket, uint32_t day)
{
    if (batch->count == DB_BATCH_MAX && batch->fault == NULL)
        batch->fault = "a batch has too many statements";
    struct db_step *step = &batch->step[batch->fault != NULL ? DB_BATCH_MAX : batch->count++];
    return begin_step(step, stmt, bucket, day);
}

void
db_batch_adds(struct db_batch *batch)
{
    batch->adds = true;
}

void
db_batch_apply(struct db_batch *batch)
{
    static const struct db_stmt apply_stmt = {
        "apply", "SELECT set_config('synchronous_commit', 'remote_apply', true)", 0};
    begin_step(&batch->step[DB_BATCH_MAX], &apply_stmt, DB_NO_PARTITION, DB_NO_PARTITION);
    batch->applies = true;
}

/* The settings that this program wants of a session. */
#define GUARD_SETS                                                                                 \
    "set_config('lock_timeout', '" DB_LOCK_TIMEOUT "', true)"                                      \
    " || set_config('client_connection_check_interval', '" DB_CHECK_INTERVAL "', true)"            \
    " || set_config('client_min_messages', '" DB_LEAST_MESSAGE "', true)"                          \
    " || set_config('jit', '" DB_JIT "', true)"
#define GUARD_APPLIES " || set_config('synchronous_commit', 'remote_apply', true)"
/* As line_sql of db_hosts.c. NULL: a server that takes no writes. */
#define GUARD_WHEN "SELECT CASE WHEN "
#define GUARD_THEN " IS NOT NULL AND NOT pg_is_in_recovery() THEN "
#define GUARD_LINE GUARD_THEN "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline"
/* A server that does not tell its timeline tells this. */
#define GUARD_ROLE GUARD_THEN "'0' END AS timeline"
static const struct db_stmt guard_stmt = {"guard", GUARD_WHEN GUARD_SETS GUARD_ROLE, 0};
static const struct db_stmt guard_apply_stmt = {"guard_apply",
                                                GUARD_WHEN GUARD_SETS GUARD_APPLIES GUARD_ROLE, 0};
static const struct db_stmt guard_line_stmt = {"guard_line", GUARD_WHEN GUARD_SETS GUARD_LINE, 0};
static const struct db_stmt guard_line_apply_stmt = {
    "guard_line_apply", GUARD_WHEN GUARD_SETS GUARD_APPLIES GUARD_LINE, 0};

void
db_batch_guard(struct db_batch *batch, bool tells)
{
    const struct db_stmt *stmt = tells ? batch->applies ? &guard_line_apply_stmt : &guard_line_stmt
                                 : batch->applies ? &guard_apply_stmt
                                                  : &guard_stmt;
    begin_step(&batch->step[DB_BATCH_MAX], stmt, DB_NO_PARTITION, DB_NO_PARTITION);
    batch->guards = true;
}

struct db_step *
db_batch_add(struct db_batch *batch, const struct db_stmt *stmt)
{
    return db_batch_add_in(batch, stmt, DB_NO_PARTITION, DB_NO_PARTITION);
}

void
db_batch_begin(struct db_batch *batch)
{
    static const struct db_stmt begin_stmt = {"begin", "BEGIN", 0};
    db_batch_add(batch, &begin_stmt);
}

void
db_batch_commit(struct db_batch *batch)
{
    static const struct db_stmt commit_stmt = {"commit", "COMMIT", 0};
    db_batch_add(batch, &commit_stmt);
}

void
db_params_copy(struct db_params *to, const struct db_params *from)
{
    *to = *from;
    /* Numbers point into the struct itself. */
    for (int i = 0; i < from->count; i++)
        if (from->value[i] == from->room[i])
            to->value[i] = to->room[i];
}

void
db_text(struct db_params *params, const char *text)
{
    params->value[params->count] = text;
    params->format[params->count++] = 0;
}

void
db_octets(struct db_params *params, const void *octets, size_t length)
{
    params->value[params->count] = octets;
    params->length[params->count] = (int) length;
    params->format[params->count++] = 1;
}

/* snprintf takes three times as long, and every audit row has numbers. */
void
db_number(struct db_params *params, int64_t number)
{
    char *room = params->room[params->count], digits[20];
    uint64_t rest = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;
    size_t count = 0;
    if (number < 0)
        *room++ = '-';
    do
        digits[count++] = (char) ('0' + rest % 10);
    while ((rest /= 10) != 0);
    while (count > 0)
        *room++ = digits[--count];
    *room = '\0';
    db_text(params, params->room[params->count]);
}

void
db_bool(struct db_params *params, bool flag)
{
    db_text(params, flag ? "t" : "f");
}

/* Binary timestamptz: microseconds since 2000-01-01T00:00Z, big-endian (PostgreSQL with integer
 * datetimes). */
void
db_time(struct db_params *params, int64_t ms)
{
    unsigned char *room = (unsigned char *) params->room[params->count];
    uint64_t us = (uint64_t) ((ms - 946684800000LL) * 1000);
    for (int i = 7; i >= 0; i--, us >>= 8)
        room[i] = (unsigned char) us;
    db_octets(params, room, 8);
}

void
db_words(TALLOC_CTX *mem, struct db_params *params, const char *const *words, size_t count)
{
    char *text = talloc_strdup(mem, "{");
    for (size_t i = 0; i < count && text != NULL; i++) {
        text = talloc_strdup_append_buffer(text, i == 0 ? "\"" : ",\"");
        /* Copy up to the next octet that must be escaped: a word may have a megabyte. */
        for (const char *c = words[i]; *c != '\0' && text != NULL;) {
            bool escaped = *c == '"' || *c == '\\';
            size_t run = strcspn(c + escaped, "\"\\") + escaped;
            if (escaped)
                text = talloc_strndup_append_buffer(text, "\\", 1);
            text = talloc_strndup_append_buffer(text, c, run);
            c += run;
        }
        text = text != NULL ? talloc_strdup_append_buffer(text, "\"") : NULL;
    }
    text = text != NULL ? talloc_strdup_append_buffer(text, "}") : NULL;
    params->lost = params->lost || text == NULL;
    db_text(params, text);
}

void
db_words_or_null(TALLOC_CTX *mem, struct db_params *params, const char *const *words)
{
    size_t count = 0;
    while (words != NULL && words[count] != NULL)
        count++;
    if (words != NULL)
        db_words(mem, params, words, count);
    else
        db_text(params, NULL);
}
