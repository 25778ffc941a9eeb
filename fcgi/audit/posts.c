#include "config.h"

#include "audit/posts.h"

#include <string.h>

#include "audit/send.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/outgoing.h"

#define LOG "audit checkpoints"
#define URL_SETTING "SVC_AUDIT_CHECKPOINT_URL"

/* Time of one run, in milliseconds: other jobs wait for it. */
#define POSTS_RUN_MS 20000

/* Begin of a signature line (C2SP signed-note). */
#define DASH "\xe2\x80\x94 "

/* Return the signature lines of an answer, on op->mem; NULL: it has none. */
static const char *
signatures_of(struct op *op, const struct fetch_answer *answer)
{
    size_t length;
    BUF_AUTO lines;
    buf_init(&lines, op->mem, SEND_ANSWER_MAX);
    if (strlen(answer->body) != answer->length || !utf8_valid(answer->body, answer->length))
        return NULL;
    for (const char *line = answer->body; *line != '\0';) {
        size_t taken = strcspn(line, "\n");
        if (strncmp(line, DASH, strlen(DASH)) == 0 && line[taken] == '\n')
            buf_append(&lines, line, taken + 1);
        line += taken + (line[taken] == '\n');
    }
    return lines.len > 0 ? buf_take(&lines, &length) : NULL;
}

/* Post one checkpoint. *ret_on: go on with the next one. */
static enum az_status
post_one(struct op *op, struct outgoing *outgoing, const PGresult *waiting, int row, bool *ret_on)
{
    const struct fetch_request request = {.url = op->az->cfg->audit_checkpoint_url,
                                          .plain = db_get(waiting, row, WAITING_NOTE)};
    const struct sent sent = send_post(op, URL_SETTING, &request, NULL);
    struct outgoing_step step = {.error = sent.error};
    enum az_status st = AZ_OK;
    *ret_on = sent.outcome == SEND_TAKEN;
    if (*ret_on) {
        st = posted_write(op, db_get_number(waiting, row, WAITING_EPOCH, 0),
                          db_get_number(waiting, row, WAITING_SIZE, 0),
                          signatures_of(op, &sent.answer));
        step.sent = 1;
    } else {
        step.held = sent.outcome != SEND_LATER;
        step.wait =
            step.held ? OUTGOING_WAIT_MAX : outgoing_wait(outgoing->tries, sent.answer.retry_after);
        log_text(AZ_SEV_WARN, step.held ? LOG " held" : LOG " wait", "%s", sent.error);
    }
    return st == AZ_OK ? outgoing_step(op, outgoing, &step) : st;
}

static enum az_status
post_all(struct op *op, struct outgoing *outgoing, int64_t *ret)
{
    PGresult *waiting;
    bool on = true;
    int64_t until = clock_monotonic_ms() + POSTS_RUN_MS;
    enum az_status st = posted_waiting(op, &waiting);
    int count = st == AZ_OK ? PQntuples(waiting) : 0;
    if (count > POSTED_WAITING_MAX)
        count = 1; /* the newest alone */
    for (int i = count - 1;
         i >= 0 && st == AZ_OK && on && clock_monotonic_ms() < until && !*op->az->stopping; i--) {
        struct op each = op_beside(op, talloc_new(op->mem));
        st = post_one(&each, outgoing, waiting, i, &on);
        *ret += st == AZ_OK && on;
        if (st != AZ_OK)
            op->fault = each.fault;
        talloc_free(each.mem);
    }
    return st;
}

enum az_status
audit_posts_run(struct op *op, int64_t *ret)
{
    struct outgoing outgoing = {.name = OUTGOING_CHECKPOINTS};
    *ret = 0;
    if (op->az->cfg->audit_checkpoint_url == NULL)
        return AZ_OK;
    enum az_status st = outgoing_begin(op, OUTGOING_CHECKPOINTS, 0);
    if (st == AZ_OK)
        st = outgoing_lease(op, &outgoing);
    if (st != AZ_OK || outgoing.lease == NULL)
        return st;
    st = post_all(op, &outgoing, ret);
    struct op after = op_beside(op, op->mem);
    outgoing_release(&after, &outgoing);
    return st;
}
