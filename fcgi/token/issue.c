#include "config.h"

#include "token/issue.h"

#include <string.h>

#include "base/clock.h"
#include "store/tokens.h"

char *
scope_join(TALLOC_CTX *mem, const json_t *words)
{
    char *text = talloc_strdup(mem, "");
    size_t index;
    json_t *word;
    json_array_foreach ((json_t *) (uintptr_t) words, index, word)
        text = talloc_asprintf_append_buffer(text, "%s%s", index > 0 ? " " : "",
                                             json_string_value(word));
    return text;
}

/* Why this answer is no token: the deny's own outcome, or an allow that grants nothing of what was
 * asked. */
static enum az_status
refusal(const struct issue_question *question, const struct decision *decision,
        const char **ret_text)
{
    *ret_text = NULL;
    if (!decision->allow)
        return decision_deny_status(decision, ret_text);
    if (decision->has_ttl && decision->ttl <= 0) {
        *ret_text = "Policy gives the token no lifetime";
        return AZ_ACCESS_DENIED;
    }
    if (json_array_size(question_asked(question)) > 0 && json_array_size(decision->scopes) == 0) {
        *ret_text = "None of the requested scopes may be granted";
        return AZ_INVALID_SCOPE;
    }
    return AZ_OK;
}

static void
note_documents(struct audit_entry *audit, const struct verdict *verdict)
{
    audit->input = verdict->input;
    audit->input_length = verdict->input_length;
    audit->decision = verdict->output;
    audit->decision_length = verdict->output_length;
}

static void
note_verdict(struct audit_entry *audit, const struct verdict *verdict, enum az_status outcome)
{
    const struct az_status_row *row = az_status_row(outcome);
    audit->http_status = row->http;
    /* Whatever the code: here policy said no. */
    audit->outcome = outcome == AZ_OK ? "allowed" : "denied";
    note_documents(audit, verdict);
}

/* Makes the token's text and stores it. */
static enum az_status
store(struct op *op, const struct issue_question *question, const struct verdict *verdict,
      const struct audit_entry *audit, struct issued *issued, bool *ret_stored)
{
    const struct decision *decision = &verdict->decision;
    struct token_parts parts;
    int64_t ttl = decision->has_ttl ? decision->ttl : question->default_ttl;
    const char *client_id = question->frame.client->client_id;
    if (token_make(TOKEN_ACCESS, op_now(op) + ttl, op->now_ms, &issued->text, &parts) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "token cannot be made");
    issued->expires_in = ttl;
    issued->scope = scope_join(op->mem, decision->scopes);
    issued->details = json_array_size(decision->details) > 0 ? decision->details : NULL;
    const struct token_new token = {
        .parts = &parts,
        .client = question->frame.client,
        .revision = decision->revision,
        .issued_ms = op->now_ms,
        .expires_at = op_now(op) + ttl,
        .jit = decision->jit,
        .subject = strcmp(question->subject_id, client_id) != 0 ? question->subject_id : NULL,
        .scope = issued->scope,
        .resource = decision->resource,
    };
    return token_insert(op, &token, audit, ret_stored);
}

enum az_status
token_issue(struct op *op, const struct issue_question *question, struct audit_entry *audit,
            bool *ret_audited, struct issued *ret)
{
    int64_t started = clock_monotonic_ms();
    const struct client *client = question->frame.client;
    for (;;) {
        struct verdict verdict = {.input = NULL};
        struct issued issued = {.scope = NULL};
        const char *text;
        bool stored = false;
        enum az_status st = ask_issue(op, question, &verdict);
        if (st != AZ_OK) {
            note_documents(audit, &verdict);
            return st;
        }
        enum az_status no = refusal(question, &verdict.decision, &text);
        note_verdict(audit, &verdict, no);
        st = no != AZ_OK
                 ? token_insert_denial(op, client, verdict.decision.revision, audit, &stored)
                 : store(op, question, &verdict, audit, &issued, &stored);
        if (st == AZ_OK && stored) {
            *ret_audited = true;
            *ret = issued;
            token_text_done(&issued.text);
            return no != AZ_OK ? op_fail(op, no, text, "policy denied, revision %s",
                                         verdict.decision.revision)
                               : AZ_OK;
        }
        token_text_done(&issued.text);
        if (st != AZ_OK)
            return st;
        /* Nothing was written: the client changed, or the revision may not decide. */
        struct client *now;
        int64_t version = client->version;
        if ((st = client_fetch(op, client->client_id, true, &now)) != AZ_OK)
            return st;
        if (now == NULL || now->version != version)
            return AZ_INVALID;
        if (!ask_again(op, started, verdict.decision.revision)) {
            ask_note_error(op, &verdict);
            note_documents(audit, &verdict);
            return AZ_UNAVAILABLE;
        }
    }
}
