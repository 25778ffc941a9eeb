/* An access token as subject token. */
#include "config.h"

#include <string.h>

#include "base/words.h"
#include "oauth/exchange/exchange_subject.h"
#include "oauth/exchange/issued_user.h"
#include "store/tokens/tokens_find.h"
#include "token/access_jwt.h"
#include "token/issue.h"
#include "token/show.h"

/* Refuse the token with the same words for all reasons, so that no caller learns if a token exists.
 */
static enum az_status
refuse_subject(struct request *req, const char *detail)
{
    return op_fail(&req->op, AZ_INVALID_REQUEST, "The subject token is not valid",
                   "subject token: %s", detail);
}

static enum az_status
find_subject(struct request *req, const char *text, struct token_parts *parts,
             struct token_lookup *lookup)
{
    enum token_kind kind;
    if (access_jwt_parse(req->op.mem, text, &kind, parts) != AZ_OK || kind != TOKEN_ACCESS)
        return refuse_subject(req, "not an access token of this service");
    *lookup = (struct token_lookup){.token = parts, .kind = TOKEN_ACCESS};
    enum az_status st = token_find(&req->op, lookup);
    if (st != AZ_OK)
        return st;
    if (!lookup->row.found)
        return refuse_subject(req, lookup->row.dead != NULL ? lookup->row.dead : "unknown");
    /* Its one use is an introspection; an exchange would make it live on. */
    if (lookup->row.jit)
        return refuse_subject(req, "a single-use token");
    return AZ_OK;
}

/*
 * Ask policy what the token is worth now (evaluation 2); the caller is the service itself. Without
 * this question, rights that policy has taken from the token since it was issued would come back
 * with the exchange.
 */
static enum az_status
judge_subject(struct request *req, struct token_lookup *lookup, struct shown *shown)
{
    struct introspect_question question = {
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .caller = &lookup->row.client,
        .service = true,
    };
    enum az_status st = token_show(&req->op, lookup, &question, shown);
    if (st == AZ_FORBIDDEN) {
        az_fault_clear(&req->op.fault);
        return refuse_subject(req, "policy does not let the service introspect it");
    }
    if (st != AZ_OK) {
        token_note_shown(&req->op, &req->audit, shown);
        return st;
    }
    if (!lookup->row.found)
        return refuse_subject(req, "it became invalid while policy was asked");
    if (shown->as != SHOWN_ACTIVE) {
        const char *codes = decision_codes(req->op.mem, &shown->verdict.decision);
        return refuse_subject(req, talloc_asprintf(req->op.mem, "policy denies it: %s",
                                                   codes != NULL ? codes : "no reason"));
    }
    if (shown->verdict.decision.jit)
        return refuse_subject(req, "policy made it a single-use token");
    return AZ_OK;
}

enum az_status
exchange_read_access_token(struct request *req, const char *text, struct exchange_subject *ret)
{
    struct token_parts parts;
    struct token_lookup lookup;
    struct shown shown = {.as = SHOWN_INVALID};
    enum az_status st = find_subject(req, text, &parts, &lookup);
    if (st == AZ_OK)
        st = judge_subject(req, &lookup, &shown);
    if (st != AZ_OK)
        return st;
    const struct token_row *row = &lookup.row;
    const struct decision *now = &shown.verdict.decision;
    enum issued_subject subject = issued_subject(shown.issued);
    if (subject == ISSUED_UNKNOWN)
        return refuse_subject(req, "the record of its issuance is gone");
    *ret = (struct exchange_subject){
        .name = row->subject,
        .is_user = subject == ISSUED_USER,
        .user = issued_user(row, shown.issued),
        .client_id = row->client.client_id,
        .ceiling = true,
        .scopes = now->scopes,
        .resource = now->resource != NULL ? now->resource : row->resource,
        .resource_types = now->resource_types,
        .details = json_array_size(now->details) > 0 ? now->details : NULL,
        .act = row->act,
        /* The token of another issuer that the chain began with: policy judges that issuer. */
        .claims = json_object_get(json_object_get(shown.issued, "subject_token"), "claims"),
        .jkt = row->jkt,
        .expires_at = row->expires_at,
        .family = row->family,
        .provider = row->family == NULL ? row->provider : 0,
        .flow_id = row->flow_id,
    };
    return AZ_OK;
}
