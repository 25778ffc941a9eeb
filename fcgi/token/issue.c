#include "config.h"

#include "token/issue.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "metrics/metrics.h"
#include "policy/decide/outcome.h"
#include "store/tokens/grants_use.h"
#include "store/tokens/tokens.h"
#include "token/access_jwt.h"
#include "token/id_token.h"
#include "token/redeem.h"

struct question_user
token_user(const struct grant_row *grant)
{
    return (struct question_user){
        .iss = grant->issuer,
        .idp = grant->idp_id,
        .acr = grant->acr,
        .amr = grant->amr,
        .auth_time = grant->auth_time,
        .claims = grant->claims,
    };
}

void
token_note_verdict(struct op *op, struct audit_entry *audit, const struct verdict *verdict)
{
    audit->input = verdict->input;
    audit->input_length = verdict->input_length;
    audit->decision = verdict->output;
    audit->decision_length = verdict->output_length;
    audit->codes = decision_codes(op->mem, &verdict->decision);
    if (verdict->decision.scopes != NULL) /* NULL: there is no decision */
        audit->scope = words_join(op->mem, verdict->decision.scopes);
}

static void
note_issue_verdict(struct op *op, struct audit_entry *audit, const struct issue_question *question,
                   const struct verdict *verdict, enum az_status outcome)
{
    const struct az_status_row *row = az_status_row(outcome);
    audit->http_status = row->http;
    /* A bad request can have the same code as a denial; the audit row tells them apart. */
    audit->outcome = outcome == AZ_OK ? "allowed" : "denied";
    token_note_verdict(op, audit, verdict);
    if (outcome != AZ_OK)
        audit->scope = words_join(op->mem, question_asked(question));
    audit_explain(op, audit);
}

/* Tokens that were made before the write, with what the write needs. */
struct making {
    struct issued issued;             /* the texts */
    struct token_parts parts;         /* of the access token */
    struct token_parts refresh_parts; /* of the refresh token */
    int64_t family_ends;              /* seconds since 1970 */
    int64_t family_idles;             /* seconds since 1970; the end if the family is not used */
    const char *opaque; /* why the token for a resource with JWTs is opaque, or NULL */
};

/* Set the ends of the family. It must not end before its access token, because an introspection of
 * the token reads the family. */
static void
set_ends(struct op *op, const struct issue_family *family, bool refreshable, int64_t token_expires,
         struct making *making)
{
    const struct settings *cfg = op->az->cfg;
    int64_t ends = family->grant->expires_at;
    if (family->shown == NULL)
        ends = refreshable ? op_now(op) + cfg->refresh_family_validity : token_expires;
    int64_t idles = op_now(op) + (refreshable ? cfg->refresh_token_validity : 0);
    making->family_ends = ends;
    making->family_idles = refreshable && idles < ends ? idles : ends;
}

static enum az_status
make_refresh(struct op *op, struct making *making)
{
    making->issued.has_refresh = true;
    if (token_make(TOKEN_REFRESH, making->family_ends, op->now_ms, &making->issued.refresh,
                   &making->refresh_parts)
        != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot create a refresh token");
    return AZ_OK;
}

/* An ID token for a code has the nonce; one for a refresh token has none (OpenID Connect
 * Core 12.2). */
static enum az_status
make_id_token(struct op *op, const struct issue_family *family, const struct client *client,
              struct making *making)
{
    const struct grant_row *grant = family->grant;
    const struct id_token token = {
        .sub = grant->subject,
        .aud = client->client_id,
        .nonce = family->shown == NULL ? grant->nonce : NULL,
        .auth_time = grant->with_auth_time ? grant->auth_time : 0,
        .acr = grant->acr,
        .amr = grant->amr,
        .sid = grant->sid,
        .access_token = issued_access(&making->issued),
        .alg = client->id_token_alg,
    };
    return id_token_make(op, &token, &making->issued.id_token);
}

static enum az_status
make_family(struct op *op, const struct issue_question *question, const struct issue_family *family,
            const struct decision *decision, int64_t expires_at, struct making *making)
{
    bool starts = family->shown == NULL && family->refreshable && decision->refresh;
    enum az_status st = AZ_OK;
    set_ends(op, family, starts || family->shown != NULL, expires_at, making);
    if (starts || family->rotate)
        st = make_refresh(op, making);
    if (st == AZ_OK && words_array_has(decision->scopes, "openid"))
        st = make_id_token(op, family, question->frame.client, making);
    return st;
}

/* Make the access token: a JWT if policy gives one, and if it can be (world.md T2, T3). */
static enum az_status
make_access(struct op *op, const struct issue_question *question, const struct decision *decision,
            struct making *making)
{
    struct issued *issued = &making->issued;
    int64_t life = outcome_lifetime(op, question, decision);
    if (json_array_size(decision->opaque) > 0)
        making->opaque = words_join_texts(op->mem, decision->opaque);
    if (decision->jwt_alg != NULL && !question->opaque) {
        issued->expires_in = life < decision->jwt_ttl ? life : decision->jwt_ttl;
        enum az_status st = access_jwt_make(op, question, decision, op_now(op) + issued->expires_in,
                                            &issued->jwt, &making->parts, &making->opaque);
        if (st != AZ_OK || issued->jwt != NULL)
            return st;
    }
    issued->expires_in = life;
    if (token_make(TOKEN_ACCESS, op_now(op) + life, op->now_ms, &issued->text, &making->parts)
        != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "cannot create an access token");
    return AZ_OK;
}

/* Make the texts of the tokens. Nothing has been consumed yet, so a failure here loses nothing. */
static enum az_status
make_tokens(struct op *op, const struct issue_question *question, const struct issue_family *family,
            const struct decision *decision, struct making *making)
{
    struct issued *issued = &making->issued;
    issued->bound = question->jkt != NULL;
    enum az_status st = make_access(op, question, decision, making);
    if (st != AZ_OK)
        return st;
    int64_t expires_at = op_now(op) + issued->expires_in;
    issued->scope = words_join(op->mem, decision->scopes);
    issued->details = json_array_size(decision->details) > 0 ? decision->details : NULL;
    return family != NULL ? make_family(op, question, family, decision, expires_at, making) : AZ_OK;
}

static enum az_status
use_family(struct op *op, const struct issue_family *family, const struct making *making,
           const struct token_new *token, struct audit_entry *audit, bool *ret_stored)
{
    const struct grant_use use = {
        .how = family->shown == NULL ? GRANT_REDEEM
               : family->rotate      ? GRANT_ROTATE
                                     : GRANT_KEEP,
        .family = family->grant->id,
        .shown = family->shown,
        .refresh = making->issued.has_refresh ? &making->refresh_parts : NULL,
        .place = family->place,
        .idle_expires_at = making->family_idles,
        .expires_at = making->family_ends,
    };
    enum grant_outcome outcome;
    enum az_status st = grant_use(op, &use, token, audit, &outcome);
    if (st != AZ_OK)
        return st;
    if (outcome == GRANT_USED && family->polled)
        return op_fail(op, AZ_INVALID_GRANT, NULL, "another poll has already got the tokens");
    if (outcome == GRANT_USED && family->rotate)
        return AZ_RETRY;
    if (outcome == GRANT_USED)
        return token_reused(op, family->grant, family->shown,
                            "another request has already used the code or refresh token", audit);
    *ret_stored = outcome == GRANT_DONE;
    return AZ_OK;
}

/* Note in the audit row why the token is opaque although its resource has JWTs. */
static enum az_status
note_opaque(struct op *op, const struct making *making, struct audit_entry *audit)
{
    json_t *summary = NULL;
    if (making->opaque == NULL)
        return AZ_OK;
    if (audit->summary != NULL)
        jsonx_parse(op->mem, audit->summary, strlen(audit->summary), AUDIT_SUMMARY_DEPTH_MAX,
                    &summary, NULL);
    struct jsonx_build build = {summary != NULL ? summary : jsonx_own(op->mem, json_object()),
                                false};
    jsonx_set(&build, "opaque", json_string(making->opaque));
    const char *text = build.lost ? NULL : jsonx_dump(op->mem, build.value);
    if (text == NULL)
        return op_no_memory(op);
    audit->summary = text;
    audit_explain(op, audit);
    return AZ_OK;
}

/* Make the tokens and store them. */
static enum az_status
make_and_store(struct op *op, const struct issue_question *question,
               const struct issue_family *family, const struct verdict *verdict,
               struct audit_entry *audit, struct issued *issued, bool *ret_stored)
{
    const struct decision *decision = &verdict->decision;
    const struct client *client = question->frame.client;
    struct making making = {.issued = {.scope = NULL}};
    enum az_status st = make_tokens(op, question, family, decision, &making);
    const struct token_new token = {
        .parts = &making.parts,
        .client = client,
        .revision = decision->revision,
        .issued_ms = op->now_ms,
        .expires_at = op_now(op) + making.issued.expires_in,
        .jit = decision->jit,
        .subject = question->user != NULL || strcmp(question->subject_id, client->client_id) != 0
                       ? question->subject_id
                       : NULL,
        .scope = making.issued.scope,
        .resource = decision->resource,
        .jkt = question->jkt,
        .act = question->act != NULL ? jsonx_dump(op->mem, question->act) : NULL,
        .grant = question->grant,
        .idp = question->idp,
    };
    if (st == AZ_OK && question->act != NULL && token.act == NULL)
        st = op_no_memory(op);
    if (st == AZ_OK)
        st = note_opaque(op, &making, audit);
    if (st == AZ_OK)
        st = family != NULL ? use_family(op, family, &making, &token, audit, ret_stored)
                            : token_insert(op, &token, audit, ret_stored);
    if (st == AZ_OK && *ret_stored) {
        making.issued.kept_refresh = issued->kept_refresh;
        *issued = making.issued;
        making.issued.jwt = NULL; /* belongs to the caller now */
    }
    issued_done(&making.issued);
    return st;
}

const char *
issued_access(const struct issued *issued)
{
    return issued->jwt != NULL ? issued->jwt : issued->text.text;
}

void
issued_done(struct issued *issued)
{
    TALLOC_FREE(issued->jwt);
    token_text_done(&issued->text);
    token_text_done(&issued->refresh);
}

enum az_status
token_reused(struct op *op, const struct grant_row *grant, const struct token_parts *shown,
             const char *detail, struct audit_entry *audit)
{
    struct grant_end end;
    enum az_status st = grant_revoke_reused(op, grant->id, shown, &end);
    if (st != AZ_OK)
        return st;
    if (end.why != NULL) {
        metrics_add(op->az->metrics, METRIC_FAMILY_ENDS, 0, &end.why);
        audit->summary = talloc_asprintf(
            op->mem, "{\"family\":\"revoked\",\"branch\":%d,\"branches\":%d,\"why\":\"%s\"}",
            end.branch, end.branches, end.why);
    }
    return op_fail(op, AZ_INVALID_GRANT, shown != NULL ? REDEEM_REPLACED : NULL, "%s%s", detail,
                   end.why != NULL ? "; the family is now revoked" : "");
}

/* Fail with the status of a denial, once it is written. */
static enum az_status
finish(struct op *op, enum az_status no, const char *text, const struct decision *decision)
{
    return no != AZ_OK ? op_fail(op, no, text, "policy denied, revision %s", decision->revision)
                       : AZ_OK;
}

enum az_status
token_after_nothing(struct op *op, const struct client *client, int64_t started,
                    struct verdict *verdict, struct audit_entry *audit)
{
    struct client *now;
    int64_t version = client->version;
    enum az_status st = client_fetch(op, client->client_id, true, &now);
    if (st != AZ_OK)
        return st;
    if (now == NULL || now->version != version)
        return AZ_STALE;
    if (ask_again(op, started, verdict))
        return AZ_OK;
    ask_note_error(op, verdict);
    token_note_verdict(op, audit, verdict);
    return AZ_UNAVAILABLE;
}

enum az_status
token_issue(struct op *op, const struct issue_question *question, const struct issue_family *family,
            struct audit_entry *audit, bool *ret_audited, struct issued *ret)
{
    int64_t started = clock_monotonic_ms();
    const struct client *client = question->frame.client;
    for (;;) {
        struct verdict verdict = {.input = NULL};
        const char *text;
        bool stored = false;
        enum az_status st = ask_issue(op, question, &verdict);
        if (st != AZ_OK) {
            token_note_verdict(op, audit, &verdict);
            return st;
        }
        enum az_status no = outcome_issue(op, question, &verdict.decision, &text);
        note_issue_verdict(op, audit, question, &verdict, no);
        st = no != AZ_OK
                 ? token_insert_denial(op, client, verdict.decision.revision, audit, &stored)
                 : make_and_store(op, question, family, &verdict, audit, ret, &stored);
        if (st != AZ_OK)
            return st;
        if (stored) {
            *ret_audited = true;
            return finish(op, no, text, &verdict.decision);
        }
        if ((st = token_after_nothing(op, client, started, &verdict, audit)) != AZ_OK)
            return st;
    }
}
