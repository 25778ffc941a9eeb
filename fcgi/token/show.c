#include "config.h"

#include "token/show.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/pack.h"
#include "base/words.h"
#include "policy/decide/outcome.h"
#include "policy/engine/engine.h"
#include "token/issue.h"

/* Milliseconds after which the row of a token is too old to be shown. The engine answers within a
 * few of them, so only a slow one costs another trip; and a revocation that was confirmed this long
 * ago is never ignored, although an engine may take SVC_POLICY_TIMEOUT_MS to answer. */
#define ROW_FRESH_MS 100

static enum az_status
unpack_document(struct op *op, const unsigned char *packed, size_t length, const char *what,
                json_t **ret)
{
    char *text;
    size_t text_length;
    if (packed == NULL)
        return AZ_OK;
    if (unpack_text(op->mem, packed, length, &text, &text_length) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "stored %s is damaged", what);
    if (jsonx_parse(op->mem, text, text_length, ENGINE_ANSWER_DEPTH_MAX, ret, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "stored %s is not JSON", what);
    return AZ_OK;
}

enum az_status
token_row_output(struct op *op, const struct token_row *row, json_t **ret)
{
    return unpack_document(op, row->output, row->output_length, "pdpOutput", ret);
}

/* Read the stored documents of an access token. */
static enum az_status
read_issuance(struct op *op, const struct token_row *row, struct shown *shown)
{
    enum az_status st = token_row_output(op, row, &shown->baseline);
    if (st == AZ_OK)
        st = unpack_document(op, row->input, row->input_length, "pdpInput", &shown->issued);
    if (st != AZ_OK || !row->found)
        return st;
    /* These describe the call to the engine. They are for the audit; no rule may depend on them. */
    json_object_del(shown->baseline, "engine");
    json_object_del(shown->baseline, "eval_us");
    return AZ_OK;
}

/* Make the documents of a refresh token: it stands for the grant of its family. */
static enum az_status
make_issuance(struct op *op, const struct grant_row *grant, struct shown *shown)
{
    const struct question_user user = token_user(grant);
    json_t *words = words_split(op->mem, grant->granted_scope);
    shown->baseline = jsonx_own(op->mem, json_pack("{s:b,s:O,s:s*,s:O*,s:O*}", "allow", 1, "scopes",
                                                   words, "resource", grant->resource,
                                                   "resource_types", grant->resource_types,
                                                   "authorization_details", grant->details));
    shown->issued = jsonx_own(
        op->mem, json_pack("{s:{s:s,s:s},s:o}", "request", "grant_type", "refresh_token", "flow_id",
                           grant->flow_id, "subject", question_subject(grant->subject, &user)));
    return words != NULL && shown->baseline != NULL && shown->issued != NULL ? AZ_OK
                                                                             : op_no_memory(op);
}

static enum az_status
fill_question(struct op *op, const struct token_row *row, struct introspect_question *question,
              struct shown *shown)
{
    enum az_status st =
        row->grant != NULL ? make_issuance(op, row->grant, shown) : read_issuance(op, row, shown);
    if (st != AZ_OK || !row->found)
        return st;
    question->frame.flow_id =
        json_string_value(json_object_get(json_object_get(shown->issued, "request"), "flow_id"));
    question->frame.client = &row->client;
    question->frame.delegation = row->delegation;
    question->frame.auth_method =
        json_string_value(json_object_get(json_object_get(shown->issued, "client"), "auth_method"));
    question->baseline = shown->baseline;
    question->issued = shown->issued;
    question->token = jsonx_own(
        op->mem,
        json_pack("{s:s,s:I,s:I,s:O*,s:b,s:o*}", "kind",
                  row->grant != NULL ? "refresh_token" : "access_token", "iat",
                  (json_int_t) row->issued_at, "exp", (json_int_t) row->expires_at, "scopes",
                  json_object_get(shown->baseline, "scopes"), "jit_single_use", row->jit, "cnf",
                  row->jkt != NULL ? json_pack("{s:s}", "jkt", row->jkt) : NULL));
    return question->token != NULL ? AZ_OK : op_no_memory(op);
}

/* Read the acceptable revisions again, because a save may just have been confirmed. */
static enum az_status
reread_acceptable(struct op *op, struct token_lookup *lookup)
{
    struct token_lookup again = {.caller = lookup->caller};
    enum az_status st = token_find(op, &again);
    if (st == AZ_OK)
        lookup->acceptable = again.acceptable;
    return st;
}

enum az_status
token_ask_acceptable(struct op *op, struct token_lookup *lookup, token_ask_fn *ask, void *arg,
                     struct verdict *ret)
{
    int64_t started = clock_monotonic_ms();
    for (;;) {
        enum az_status st = ask(op, arg, ret);
        if (st != AZ_OK || token_revision_acceptable(lookup->acceptable, ret->decision.revision))
            return st;
        if ((st = reread_acceptable(op, lookup)) != AZ_OK)
            return st;
        if (token_revision_acceptable(lookup->acceptable, ret->decision.revision))
            return AZ_OK;
        if (!ask_again(op, started, ret)) {
            ask_note_error(op, ret);
            return AZ_UNAVAILABLE;
        }
    }
}

static enum az_status
ask_shown(struct op *op, void *arg, struct verdict *ret)
{
    const struct introspect_question *question = arg;
    return ask_introspect(op, question, ret);
}

/* Look the token up again if the decision took so long that it may have been revoked meanwhile. */
static enum az_status
reread_token(struct op *op, struct token_lookup *lookup, int64_t read_ms)
{
    if (!lookup->row.found || clock_monotonic_ms() - read_ms <= ROW_FRESH_MS)
        return AZ_OK;
    struct token_lookup again = {.token = lookup->token, .kind = lookup->kind};
    enum az_status st = token_find(op, &again);
    if (st == AZ_OK) {
        lookup->row.found = again.row.found;
        lookup->row.dead = again.row.dead;
    }
    return st;
}

enum az_status
token_show(struct op *op, struct token_lookup *lookup, struct introspect_question *question,
           struct shown *ret)
{
    struct shown shown = {.as = SHOWN_INVALID};
    const struct token_row *row = &lookup->row;
    int64_t read_ms = clock_monotonic_ms();
    enum az_status st = fill_question(op, row, question, &shown);
    if (st == AZ_OK)
        st = token_ask_acceptable(op, lookup, ask_shown, question, &shown.verdict);
    if (st == AZ_OK)
        st = reread_token(op, lookup, read_ms);
    *ret = shown;
    if (st != AZ_OK)
        return st;
    const struct decision *decision = &shown.verdict.decision;
    if (outcome_refuses_caller(decision))
        return op_fail(op, AZ_FORBIDDEN, "The client is not allowed to introspect tokens", NULL);
    if (!row->found)
        ret->dead = row->dead;
    else if (outcome_hides_token(decision))
        ret->dead = "caller_not_audience";
    if (ret->dead != NULL)
        ret->as = SHOWN_INVALID;
    else if (!decision->allow || outcome_lost_all(shown.baseline, decision))
        ret->as = SHOWN_POLICY_DENIED;
    else
        ret->as = SHOWN_ACTIVE;
    return AZ_OK;
}

void
token_note_shown(struct op *op, struct audit_entry *audit, const struct shown *shown)
{
    const json_t *request = json_object_get(shown->issued, "request"),
                 *scopes = json_object_get(shown->baseline, "scopes");
    token_note_verdict(op, audit, &shown->verdict);
    audit->flow_id = json_string_value(json_object_get(request, "flow_id"));
    audit->grant_type = json_string_value(json_object_get(request, "grant_type"));
    audit->resource = json_string_value(json_object_get(shown->baseline, "resource"));
    audit->resource_types = json_object_get(shown->baseline, "resource_types");
    audit->details = json_object_get(shown->baseline, "authorization_details");
    if (shown->as != SHOWN_ACTIVE)
        audit->scope = scopes != NULL ? words_join(op->mem, scopes) : NULL;
}
