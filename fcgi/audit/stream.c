#include "config.h"

#include "audit/stream.h"

#include <string.h>

#include "audit/ocsf.h"
#include "audit/otlp.h"
#include "audit/send.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "crypto/merkle.h"
#include "store/audit/proof/outgoing.h"
#include "store/audit/proof/tiles.h"
#include "store/audit/read/mark.h"

#define LOG "audit stream"
#define URL_SETTING "SVC_AUDIT_STREAM_URL"

/* Nesting of an answer: the report of OTLP has two levels. */
#define ANSWER_DEPTH_MAX 16

/* A form of the stream. */
static const struct form {
    const char *name; /* of SVC_AUDIT_STREAM */
    const char *begin, *end;
    char *(*text_of)(const struct audit_event *event);
} forms[] = {
    {"otlp", otlp_begin, otlp_end, otlp_record_text},
    {"ocsf", "[",        "]",      ocsf_event_text },
};

/* A run. */
struct run {
    struct op *op;
    const struct form *form;
    struct outgoing outgoing;
    int64_t last;  /* the mark */
    int64_t limit; /* rows of a batch */
    int epoch;
    struct streamed *done;
};

/* Rows of one request. */
struct batch {
    struct buf body;
    int64_t rows;
    int64_t up_to; /* id of the last one */
    int64_t first; /* id of the first one; 0: there is none */
    bool skipped;  /* the only row is too large to be sent */
};

static const struct form *
find_form(const char *name)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

/* ---- a batch ---- */

/* Make the event of a row on step->mem; *ret is NULL if it is too large. */
static enum az_status
event_of(const struct run *run, struct op *step, const PGresult *result, int i, const char **ret)
{
    struct audit_row row;
    struct audit_line line;
    merkle_hash hash;
    char hex[SHA256_HEX_SIZE];
    struct audit_event event = {.mem = step->mem,
                                .row = &row,
                                .epoch = run->epoch,
                                .leaf_hash = hex,
                                .documents = run->op->az->cfg->audit_stream_documents};
    enum az_status st = audit_line_get(step, result, i, &line);
    if (st == AZ_OK)
        st = audit_line_row(step, result, i, &row);
    if (st != AZ_OK)
        return st;
    *ret = NULL;
    if (merkle_leaf(line.text, line.length, hash) == AZ_OK && audit_event_begin(&event) == AZ_OK) {
        digest_hex(hash, hex);
        *ret = run->form->text_of(&event);
    }
    if (*ret == NULL)
        return op_no_memory(step);
    if (strlen(*ret) > STREAM_EVENT_MAX)
        *ret = NULL;
    return AZ_OK;
}

/* Append an event, unless the batch is full: then *ret_full. A row of the same id as the last one
 * goes with it, since the cursor cannot stand between the two. */
static void
batch_add(const struct run *run, struct batch *batch, int64_t id, const char *text, bool *ret_full)
{
    bool together = batch->rows > 0 && id == batch->up_to;
    size_t length = text != NULL ? strlen(text) : 0;
    *ret_full = !together
                && (batch->rows >= run->limit
                    || (batch->rows > 0 && batch->body.len + length > STREAM_OCTETS)
                    || (batch->rows > 0 && text == NULL) || batch->skipped);
    if (*ret_full)
        return;
    batch->skipped = text == NULL;
    if (batch->rows > 0 && text != NULL)
        buf_append_char(&batch->body, ',');
    if (text != NULL)
        buf_append(&batch->body, text, length);
    batch->first = batch->first == 0 ? id : batch->first;
    batch->up_to = id;
    batch->rows++;
}

/* Read the next rows as a body. */
static enum az_status
read_batch(const struct run *run, struct op *step, struct batch *batch)
{
    PGresult *result;
    bool full = false;
    buf_init(&batch->body, step->mem, STREAM_OCTETS + 2 * STREAM_EVENT_MAX);
    enum az_status st = audit_lines_read_some(step, run->outgoing.up_to, run->last, run->limit,
                                              STREAM_STORED_OCTETS, &result);
    buf_append_text(&batch->body, run->form->begin);
    for (int i = 0; st == AZ_OK && i < PQntuples(result) && !full; i++) {
        const char *text = NULL;
        struct op each = op_beside(step, talloc_new(step->mem));
        st = event_of(run, &each, result, i, &text);
        if (st == AZ_OK)
            batch_add(run, batch, audit_line_id(result, i), text, &full);
        else
            step->fault = each.fault;
        talloc_free(each.mem);
    }
    buf_append_text(&batch->body, run->form->end);
    if (st == AZ_OK && batch->body.status != AZ_OK)
        return op_no_memory(step);
    return st;
}

/* ---- the answer ---- */

/* Return how many rows the collector did not keep though it took the request (OTLP
 * ExportLogsPartialSuccess): they are not sent again, since it would refuse them again. */
static int64_t
rejected_by(struct op *step, const struct sent *sent)
{
    json_t *report = NULL;
    int64_t count = 0;
    if (sent->answer.length == 0
        || jsonx_parse(step->mem, sent->answer.body, sent->answer.length, ANSWER_DEPTH_MAX, &report,
                       NULL)
               != AZ_OK)
        return 0;
    const json_t *number =
        json_object_get(json_object_get(report, "partialSuccess"), "rejectedLogRecords");
    if (json_is_string(number))
        return digits_read(json_string_value(number), INT32_MAX, &count) ? count : 0;
    return json_is_integer(number) && json_integer_value(number) > 0
                   && json_integer_value(number) <= INT32_MAX
               ? (int64_t) json_integer_value(number)
               : 0;
}

static void
log_step(const struct batch *batch, const char *what, const char *why)
{
    const struct log_field fields[] = {LOG_TEXT("detail", why), LOG_NUMBER("first", batch->first),
                                       LOG_NUMBER("rows", batch->rows)};
    log_line(AZ_SEV_WARN, what, fields, sizeof(fields) / sizeof(fields[0]));
}

/* Skip the one row that the collector refuses alone, or that is too large. */
static void
skip_row(struct run *run, const struct batch *batch, const char *why, struct outgoing_step *step)
{
    step->up_to = batch->up_to;
    step->skipped = batch->rows;
    step->refused = batch->skipped ? 0 : 1;
    run->limit = STREAM_ROWS;
    run->done->skipped += batch->rows;
    log_step(batch, LOG ": row skipped", why);
}

/* Wait with the rows that were not taken. */
static void
wait_with(struct run *run, const struct batch *batch, const struct sent *sent,
          struct outgoing_step *step)
{
    step->error = sent->error;
    step->held = sent->outcome != SEND_LATER;
    step->wait = step->held ? OUTGOING_WAIT_MAX
                            : outgoing_wait(run->outgoing.tries, sent->answer.retry_after);
    run->done->note = talloc_strdup(run->op->mem, sent->error);
    log_step(batch, step->held ? LOG " held" : LOG " waits", sent->error);
}

/* Hold the rows of a collector that refused so many in a row that it refuses all. */
static void
hold_all(struct run *run, struct op *step_op, const struct batch *batch, const struct sent *sent,
         struct outgoing_step *step)
{
    struct sent all = *sent;
    all.error = talloc_asprintf(step_op->mem,
                                "%s, to %d rows in a row: the next one is not skipped; check "
                                "SVC_AUDIT_STREAM and what the collector logs, or go on behind "
                                "row %lld by `authzctl audit stream --from ID`",
                                sent->error, STREAM_REFUSED_MAX, (long long) batch->up_to);
    if (all.error == NULL)
        all.error = sent->error;
    wait_with(run, batch, &all, step);
}

/* Write what became of a batch. *ret_on: go on with the next one. */
static enum az_status
settle(struct run *run, struct op *step_op, const struct batch *batch, const struct sent *sent,
       bool *ret_on)
{
    struct outgoing_step step = {.up_to = run->outgoing.up_to};
    bool denied = sent->outcome == SEND_DENIED;
    bool all = denied && batch->first == batch->up_to && !batch->skipped
               && run->outgoing.refused >= STREAM_REFUSED_MAX;
    *ret_on = (sent->outcome == SEND_TAKEN || denied) && !all;
    if (sent->outcome == SEND_TAKEN) {
        step.up_to = batch->up_to;
        step.sent = batch->rows;
        step.rejected = rejected_by(step_op, sent);
        run->done->sent += batch->rows;
        if (step.rejected > 0)
            log_step(batch, LOG ": the collector did not keep all rows", "partialSuccess");
    } else if (all) {
        hold_all(run, step_op, batch, sent, &step);
    } else if (denied && batch->first != batch->up_to) {
        run->limit = batch->rows / 2;
        return AZ_OK; /* nothing has changed */
    } else if (denied) {
        skip_row(run, batch, sent->error, &step);
    } else {
        wait_with(run, batch, sent, &step);
    }
    return outgoing_step(step_op, &run->outgoing, &step);
}

/* Note the rows that retention dropped before they were sent. */
static enum az_status
note_passed(struct run *run, struct op *step_op, const struct batch *batch)
{
    struct outgoing_step step = {.up_to = batch->first - 1};
    enum az_status st = outgoing_passed(step_op, run->outgoing.up_to, batch->first, &step.passed);
    if (st != AZ_OK || step.passed == 0)
        return st;
    run->done->passed += step.passed;
    log_text(AZ_SEV_WARN, LOG ": rows lost", "retention dropped %lld rows before they were sent",
             (long long) step.passed);
    return outgoing_step(step_op, &run->outgoing, &step);
}

/* Send the next rows, with memory of their own. */
static enum az_status
send_next(struct run *run, bool *ret_on)
{
    const struct settings *cfg = run->op->az->cfg;
    struct op step = op_beside(run->op, talloc_new(run->op->mem));
    struct batch batch = {.rows = 0};
    struct sent sent = {.outcome = SEND_DENIED, .error = "the event is too large"};
    *ret_on = false;
    enum az_status st = read_batch(run, &step, &batch);
    if (st == AZ_OK && batch.rows > 0) {
        st = note_passed(run, &step, &batch);
        if (st == AZ_OK && !batch.skipped) {
            const struct fetch_request request = {.url = cfg->audit_stream_url,
                                                  .json = batch.body.data};
            sent = send_post(&step, URL_SETTING, &request, cfg->audit_stream_header);
        }
        if (st == AZ_OK)
            st = settle(run, &step, &batch, &sent, ret_on);
    }
    if (st != AZ_OK)
        run->op->fault = step.fault;
    buf_done(&batch.body);
    talloc_free(step.mem);
    return st;
}

/* ---- the run ---- */

static enum az_status
send_all(struct run *run)
{
    int64_t until = clock_monotonic_ms() + STREAM_RUN_MS;
    bool on = true;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && on && clock_monotonic_ms() < until && !*run->op->az->stopping)
        st = send_next(run, &on);
    struct op after = op_beside(run->op, run->op->mem);
    outgoing_release(&after, &run->outgoing);
    return st;
}

enum az_status
audit_stream_run(struct op *op, struct streamed *ret)
{
    struct run run = {.op = op, .limit = STREAM_ROWS, .done = ret};
    struct audit_mark mark;
    struct audit_log_state state;
    run.outgoing.name = OUTGOING_ROWS;
    *ret = (struct streamed){.note = "switched off"};
    if ((run.form = find_form(op->az->cfg->audit_stream)) == NULL)
        return AZ_OK;
    ret->note = "waits for a transaction that writes audit rows";
    enum az_status st = audit_mark_find(op, &mark);
    if (st == AZ_RETRY)
        return AZ_OK;
    if (st == AZ_OK)
        st = audit_log_state_read(op, &state);
    if (st == AZ_OK)
        st = outgoing_begin(op, OUTGOING_ROWS, mark.last);
    if (st == AZ_OK)
        st = outgoing_lease(op, &run.outgoing);
    if (st != AZ_OK)
        return st;
    ret->note =
        run.outgoing.lease == NULL ? "another process sends, or the next try is not due" : NULL;
    run.last = mark.last;
    run.epoch = state.epoch;
    return run.outgoing.lease != NULL ? send_all(&run) : AZ_OK;
}
