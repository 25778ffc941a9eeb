#include "config.h"

#include "oauth/ciba/bc_authorize.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/random.h"
#include "http/fetch/fetch_places.h"
#include "oauth/ciba/bc_notify.h"
#include "oauth/ciba/ciba_rules.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/default_scope.h"
#include "oauth/grant.h"
#include "oauth/grants.h"
#include "oauth/parameters/parameters.h"
#include "policy/decide/outcome.h"
#include "store/tokens/tokens.h"

_Static_assert(SETTINGS_AUTH_REQ_LEAST == 30 && SETTINGS_AUTH_REQ_MOST == 600,
               "the help of requested_expiry says the limits");

/* clang-format off */
const struct route_param bc_authorize_params[] = {
    {.name = "login_hint", .required = true,
     .help = "The person who must approve: a verified e-mail address, a sub of this service, or "
             "idpId:sub with the sub at the identity provider"},
    {.name = "id_token_hint", .help = "Refused: only login_hint is supported"},
    {.name = "login_hint_token", .help = "Refused: only login_hint is supported"},
    {.name = "scope", .help = "Scopes separated by spaces; the registered ones if it is left out"},
    {.name = "resource", .repeatable = true, .help = "Indicator of a resource (RFC 8707)"},
    {.name = "authorization_details", .help = "JSON array of details (RFC 9396)"},
    {.name = "binding_message",
     .help = "Text of at most 64 visible characters that the person sees on both devices"},
    {.name = "requested_expiry", .min = 1, .max = INT64_MAX,
     .help = "Seconds in which the person must answer; less than 30 counts as 30, more than 600 "
             "as 600"},
    CLIENT_AUTH_PARAMS,
    {.name = NULL},
};
/* clang-format on */

/* One request for an approval. */
struct asking {
    struct request *req;
    struct ciba_hint hint;          /* as sent */
    struct ciba_person person;      /* found or not */
    const char *binding_message;    /* or NULL */
    int64_t expires_in;             /* seconds */
    const char *scope;              /* requested, or the default */
    struct issue_question question; /* what /token would ask */
    struct question_user user;      /* the person, without a sign-in */
    struct fetch_place place;       /* for the identity provider */
    struct token_text text;         /* the auth_req_id */
    struct token_parts parts;       /* of it */
    struct ciba_notice notice;      /* for the identity provider */
};

static enum az_status
check_may_ask(struct request *req)
{
    const struct grant *grant = grant_of_type(GRANT_CIBA);
    enum az_status st = grant_check_confidential(req, grant);
    return st == AZ_OK ? grant_check_registered(req, grant) : st;
}

/* Read the one hint (CIBA Core 7.1: exactly one). */
static enum az_status
read_hint(struct asking *asking)
{
    struct request *req = asking->req;
    const char *hint = request_param(req, "login_hint");
    if (request_param(req, "id_token_hint") != NULL
        || request_param(req, "login_hint_token") != NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "Only login_hint is supported", NULL);
    if (hint == NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "login_hint is missing", NULL);
    if (!ciba_hint_read(req->op.mem, hint, &asking->hint))
        return op_fail(&req->op, AZ_UNKNOWN_USER_ID, NULL, "login_hint is too long");
    return AZ_OK;
}

static enum az_status
read_limits(struct asking *asking)
{
    struct request *req = asking->req;
    const char *message = request_param(req, "binding_message");
    const char *fault = message != NULL ? ciba_binding_fault(message) : NULL;
    if (fault != NULL)
        return op_fail(&req->op, AZ_INVALID_BINDING_MESSAGE, fault, NULL);
    asking->binding_message = message;
    if (!ciba_expiry_read(request_param(req, "requested_expiry"),
                          req->op.az->cfg->auth_req_validity, &asking->expires_in))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "requested_expiry must be a positive integer",
                       NULL);
    return AZ_OK;
}

/* Read scope, or what takes its place (decisions.md "Omitted scope"). Without details, one of the
 * scopes must be registered. */
static enum az_status
read_wanted_scope(struct asking *asking)
{
    struct request *req = asking->req;
    const char *sent = request_param(req, "scope");
    json_t *words;
    enum az_status st = scope_parse(&req->op, sent, &words);
    if (st == AZ_OK && sent == NULL)
        st = default_scope_read(&req->op, req->client, &words);
    if (st != AZ_OK)
        return st;
    asking->scope = words_join(req->op.mem, words);
    if (asking->scope == NULL)
        return op_no_memory(&req->op);
    return grant_read_scopes(req, asking->scope, &asking->question);
}

static enum az_status
read_wish(struct asking *asking)
{
    struct request *req = asking->req;
    struct issue_question *question = &asking->question;
    enum az_status st = read_hint(asking);
    if (st == AZ_OK)
        st = read_limits(asking);
    if (st == AZ_OK)
        st = grant_read_resource(req, &question->resource);
    if (st == AZ_OK)
        st = details_parse(&req->op, request_param(req, "authorization_details"),
                           &question->details);
    return st == AZ_OK ? read_wanted_scope(asking) : st;
}

/* Complete the question of /token for the person. A hint that leads to no person is asked about
 * too, because a client that may not use CIBA must not learn who has an account. */
static enum az_status
frame_question(struct asking *asking)
{
    struct request *req = asking->req;
    struct issue_question *question = &asking->question;
    const struct ciba_person *person = &asking->person;
    grant_frame(req, NULL, question);
    if (question->frame.flow_id == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    asking->user = (struct question_user){
        .iss = person->issuer, .idp = person->idp_id, .claims = person->claims};
    question->preview = true;
    question->grant_type = GRANT_CIBA;
    question->subject_id = person->found ? person->subject : asking->hint.sub;
    question->user = &asking->user;
    req->audit.grant_type = GRANT_CIBA;
    req->audit.flow_id = question->frame.flow_id;
    req->audit.subject_id = person->subject;
    return AZ_OK;
}

/* Make the auth_req_id, and for a provider that is told the token of its answer. Take the place for
 * the provider before anything is stored. */
static enum az_status
prepare(struct asking *asking)
{
    struct request *req = asking->req;
    int64_t expires_at = op_now(&req->op) + asking->expires_in;
    bool told = asking->person.found && asking->person.endpoint != NULL;
    if (token_make(TOKEN_AUTH_REQ, expires_at, req->op.now_ms, &asking->text, &asking->parts)
        != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "an auth_req_id cannot be created");
    if (!told)
        return AZ_OK;
    enum fetch_fault fault = fetch_place_take(&req->op, FETCH_SAFE_HTTP, &asking->place);
    if (fault != FETCH_OK)
        return op_fail(&req->op, fault == FETCH_FAULT_BUSY ? AZ_BUSY : AZ_UNAVAILABLE, NULL,
                       "identity provider %s: %s", asking->person.idp_id, fetch_place_why(fault));
    return bc_notice_make(req, &asking->person, asking->parts.id, expires_at, &asking->notice);
}

/* Return the outcome of the preview. There is no grant yet that could be invalid (CIBA Core 13). */
static enum az_status
refusal(struct asking *asking, const struct decision *decision, const char **ret_text)
{
    enum az_status no = outcome_issue(&asking->req->op, &asking->question, decision, ret_text);
    if (!asking->person.found && no != AZ_UNAUTHORIZED_CLIENT) {
        *ret_text = NULL;
        return AZ_UNKNOWN_USER_ID;
    }
    return no == AZ_INVALID_GRANT ? AZ_ACCESS_DENIED : no;
}

/* Write the audit row of a refusal, and fail with it. AZ_OK: nothing was written. */
static enum az_status
bc_refuse(struct asking *asking, const struct decision *decision, enum az_status no,
          const char *text)
{
    struct request *req = asking->req;
    bool stored = false;
    request_fill_audit(req, az_status_row(no)->http,
                       no == AZ_UNKNOWN_USER_ID ? "rejected" : "denied");
    req->audit.scope = words_join(req->op.mem, question_asked(&asking->question));
    audit_explain(&req->op, &req->audit);
    enum az_status st =
        token_insert_denial(&req->op, req->client, decision->revision, &req->audit, &stored);
    if (st != AZ_OK || !stored)
        return st;
    req->audited = true;
    return op_fail(&req->op, no, text, "revision %s", decision->revision);
}

/* Store the request, with what policy would grant of it, so that the person sees no more than that.
 * *ret_stored false without a failure: nothing was written. */
static enum az_status
keep_request(struct asking *asking, const struct decision *decision, bool *ret_stored)
{
    struct request *req = asking->req;
    enum ciba_made made = CIBA_STALE;
    const json_t *words = words_split(req->op.mem, asking->scope);
    const json_t *granted =
        words != NULL ? words_array_within(req->op.mem, words, decision->scopes) : NULL;
    const struct ciba_request_new request = {
        .parts = &asking->parts,
        .client = req->client,
        .person = &asking->person,
        .revision = decision->revision,
        .flow_id = asking->question.frame.flow_id,
        .callback_hash = asking->notice.bearer != NULL ? asking->notice.hash : NULL,
        .binding_message = asking->binding_message,
        .scope = granted != NULL ? words_join(req->op.mem, granted) : NULL,
        .resource = asking->question.resource,
        .details = json_array_size(decision->details) > 0 ? decision->details : NULL,
        .interval = req->op.az->cfg->ciba_interval,
        .expires_at = op_now(&req->op) + asking->expires_in,
    };
    if (request.scope == NULL)
        return op_no_memory(&req->op);
    request_fill_audit(req, 200, "allowed");
    audit_explain(&req->op, &req->audit);
    enum az_status st = ciba_request_insert(&req->op, &request, &req->audit, &made);
    if (st == AZ_OK && made == CIBA_FULL)
        return op_fail(&req->op, AZ_USER_DENIED, "The user has too many open requests", NULL);
    *ret_stored = st == AZ_OK && made == CIBA_MADE;
    req->audited = *ret_stored;
    if (*ret_stored && request.callback_hash != NULL)
        bc_notice_send(req, &asking->notice, &request);
    return st;
}

/* Ask policy until its answer is one that may decide, and store the request or the refusal. */
static enum az_status
ask_and_store(struct asking *asking)
{
    struct request *req = asking->req;
    int64_t started = clock_monotonic_ms();
    bool stored = false;
    while (!stored) {
        struct verdict verdict = {.input = NULL};
        const char *text;
        enum az_status st = ask_issue(&req->op, &asking->question, &verdict);
        token_note_verdict(&req->op, &req->audit, &verdict);
        if (st != AZ_OK)
            return st;
        enum az_status no = refusal(asking, &verdict.decision, &text);
        st = no != AZ_OK ? bc_refuse(asking, &verdict.decision, no, text)
                         : keep_request(asking, &verdict.decision, &stored);
        if (st != AZ_OK)
            return st;
        if (!stored
            && (st = token_after_nothing(&req->op, req->client, started, &verdict, &req->audit))
                   != AZ_OK)
            return st;
    }
    return AZ_OK;
}

/* Run the request once, by the client as it is cached. */
static enum az_status
ask_once(struct asking *asking)
{
    struct request *req = asking->req;
    enum az_status st = check_may_ask(req);
    if (st == AZ_OK)
        st = read_wish(asking);
    if (st == AZ_OK)
        st = ciba_person_find(&req->op, &asking->hint, &asking->person);
    if (st == AZ_OK)
        st = frame_question(asking);
    if (st == AZ_OK)
        st = prepare(asking);
    return st == AZ_OK ? ask_and_store(asking) : st;
}

static enum az_status
respond_made(struct asking *asking)
{
    struct request *req = asking->req;
    return respond_json(
        req, 200,
        jsonx_own(req->op.mem, json_pack("{s:s,s:I,s:I}", "auth_req_id", asking->text.text,
                                         "expires_in", (json_int_t) asking->expires_in, "interval",
                                         (json_int_t) req->op.az->cfg->ciba_interval)));
}

enum az_status
bc_authorize_handle(struct request *req)
{
    struct asking asking = {.req = req, .place = {.hold = NULL}};
    enum az_status st = ask_once(&asking);
    for (int i = 1; i < CLIENT_ATTEMPTS && st == AZ_STALE; i++) {
        fetch_place_drop(&asking.place);
        asking = (struct asking){.req = req, .place = {.hold = NULL}};
        if ((st = client_authenticate_again(req)) == AZ_OK)
            st = ask_once(&asking);
    }
    fetch_place_drop(&asking.place);
    if (st == AZ_OK)
        st = respond_made(&asking);
    token_text_done(&asking.text);
    return st == AZ_STALE
               ? op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                         "the client changed during each of %d attempts", CLIENT_ATTEMPTS)
               : st;
}
