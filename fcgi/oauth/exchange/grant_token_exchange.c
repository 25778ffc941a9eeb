/* A token for a client that acts for the subject of another token (RFC 8693). */
#include "config.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/words.h"
#include "oauth/exchange/acting.h"
#include "oauth/exchange/exchange_subject.h"
#include "oauth/grant.h"
#include "store/uma/delegations.h"

#define TYPE_URN "urn:ietf:params:oauth:token-type:"
#define TYPE_ACCESS_TOKEN TYPE_URN "access_token"

/* One kind of subject token. */
struct exchange_kind {
    const char *type; /* subject_token_type */
    const char *name; /* subject_token.type of the policy input */
    enum az_status (*read)(struct request *req, const char *text, struct exchange_subject *ret);
};

static const struct exchange_kind kinds[] = {
    {TYPE_ACCESS_TOKEN,   "access_token", exchange_read_access_token},
    {TYPE_URN "id_token", "id_token",     exchange_read_id_token    },
};

/* Refuse what this service does not exchange (RFC 8693 2.1 and 2.2.2). */
static enum az_status
read_kind(struct request *req, const struct exchange_kind **ret)
{
    const char *type = request_param(req, "subject_token_type"),
               *wanted = request_param(req, "requested_token_type");
    if (wanted != NULL && strcmp(wanted, TYPE_ACCESS_TOKEN) != 0)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "requested_token_type must be that of an access token", NULL);
    /* The client that authenticates is the actor. Accepting a different actor would give a token
     * that names the wrong party. */
    if (request_param(req, "actor_token") != NULL || request_param(req, "actor_token_type") != NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "actor_token is not supported", NULL);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].type, type) == 0) {
            *ret = &kinds[i];
            return AZ_OK;
        }
    return op_fail(&req->op, AZ_INVALID_REQUEST, "subject_token_type is not supported", NULL);
}

/*
 * Refuse a token that is bound to a key (RFC 9449) unless the request proves the same key, to which
 * the new token is then bound too. Otherwise an exchange would turn a stolen bound token into one
 * that needs no key.
 */
static enum az_status
check_binding(struct request *req, const struct exchange_subject *subject, const char *jkt)
{
    if (subject->jkt == NULL || (jkt != NULL && strcmp(jkt, subject->jkt) == 0))
        return AZ_OK;
    return op_fail(&req->op, AZ_INVALID_REQUEST, "The subject token is not valid",
                   "subject token: it is bound to a DPoP key that the request does not prove");
}

static enum az_status
add_actor_claim(struct request *req, const struct exchange_subject *subject, json_t **ret)
{
    switch (acting_make(req->op.mem, req->client->client_id, subject->act, subject->issuer,
                        req->op.az->cfg->oidc_issuer, ret)) {
    case ACTING_GOOD:
        return AZ_OK;
    case ACTING_MALFORMED:
        return op_fail(&req->op, AZ_INVALID_GRANT, "Subject token is malformed",
                       "subject token: its act claim is not a chain of actors");
    case ACTING_FORGED:
        return op_fail(&req->op, AZ_INVALID_GRANT, "Subject token names a foreign actor",
                       "subject token: an actor in it claims to be of this issuer");
    case ACTING_DEEP:
        return op_fail(&req->op, AZ_ACCESS_DENIED, "The chain of actors is too long", NULL);
    case ACTING_OURS:
        break;
    }
    return op_no_memory(&req->op);
}

/*
 * Set the request for the new token. A token that is exchanged for an access token stays within
 * that token: if the old one names a resource, the new one names it too; if the old one names no
 * resource, naming one narrows it (decisions.md "Token exchange").
 */
static enum az_status
read_exchange_asked(struct request *req, const struct exchange_subject *subject,
                    struct issue_question *question)
{
    if (!subject->ceiling)
        return grant_read_request(req, question);
    bool names = subject->resource != NULL || json_array_size(subject->resource_types) > 0;
    enum az_status st =
        names ? grant_narrow_target(req, subject->resource, subject->resource_types, true, question)
              : grant_read_target(req, question);
    if (st == AZ_OK)
        st = grant_narrow_details(req, subject->details, &question->details);
    const char *scope = words_join(req->op.mem, subject->scopes);
    if (st == AZ_OK && scope == NULL)
        return op_no_memory(&req->op);
    return st == AZ_OK ? grant_narrow_scopes(req, scope, NULL, question) : st;
}

/* Set what was delegated to the acting client and to the subject. While no owner has delegated
 * anything, which the look-up of an access token tells, it costs no trip. */
static enum az_status
read_delegations(struct request *req, const struct exchange_subject *subject, json_t **ret)
{
    return subject->ceiling && !req->op.az->delegated
               ? AZ_OK
               : delegations_of(&req->op, req->client->id, subject->name, ret);
}

static enum az_status
fill_exchange(struct request *req, const struct exchange_subject *subject,
              struct issue_question *question)
{
    grant_frame(req, subject->flow_id, question);
    question->subject_id = subject->name;
    question->user = subject->is_user ? &subject->user : NULL;
    question->expires_before = subject->expires_at;
    question->grant = subject->family;
    question->idp = subject->provider;
    enum az_status st = check_binding(req, subject, question->jkt);
    if (st == AZ_OK)
        st = add_actor_claim(req, subject, &question->act);
    if (st == AZ_OK)
        st = read_exchange_asked(req, subject, question);
    return st == AZ_OK ? read_delegations(req, subject, &question->frame.delegation) : st;
}

enum az_status
grant_token_exchange(struct request *req, struct issued *ret)
{
    const struct exchange_kind *kind;
    struct exchange_subject subject;
    struct issue_question question = {.grant_type = NULL};
    enum az_status st = read_kind(req, &kind);
    if (st == AZ_OK)
        st = kind->read(req, request_param(req, "subject_token"), &subject);
    if (st != AZ_OK)
        return st;
    req->audit.subject_id = subject.name;
    if ((st = fill_exchange(req, &subject, &question)) != AZ_OK)
        return st;
    const struct question_exchange exchange = {
        .type = kind->name,
        .client_id = subject.client_id,
        .resource = subject.resource,
        .scopes = subject.scopes,
        .claims = subject.claims,
        .may_act = subject.may_act,
    };
    question.exchange = &exchange;
    request_fill_audit(req, 200, "allowed");
    req->audit.flow_id = question.frame.flow_id;
    st = token_issue(&req->op, &question, NULL, &req->audit, &req->audited, ret);
    ret->issued_token_type = TYPE_ACCESS_TOKEN;
    return st;
}
