#include "config.h"

#include "oidc/ciba_page.h"

#include <string.h>

#include "base/query.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/secret.h"
#include "http/page/page.h"
#include "oidc/describe.h"
#include "oidc/own_page.h"
#include "oidc/session.h"
#include "store/tokens/ciba_answers.h"
#include "store/tokens/ciba_requests.h"

static const char *const ciba_decisions[] = {"approve", "deny", NULL};
static const char *const ciba_answers[] = {"approved", "denied", NULL};

/* clang-format off */
const struct route_param ciba_page_params[] = {
    {.name = "request", .help = "Id of the request to show; without it, the list of requests"},
    {.name = "idp_hint", .help = "idpId of the provider at which the person signs in"},
    {.name = "answered",
     .help = "approved or denied: the answer that the person has just given, which the page "
             "confirms. Another text is ignored"},
    {.name = NULL},
};
const struct route_param ciba_form_params[] = {
    {.name = "request", .required = true, .help = "Id of the request that is answered"},
    {.name = "token", .required = true, .help = "Token that the service put into the form"},
    {.name = "decision", .required = true, .words = ciba_decisions, .help = "Answer of the person"},
    {.name = NULL},
};
/* clang-format on */

/* Seconds from which the time left is shown in minutes. */
#define MINUTES_FROM 120

/* The name of a form token: the token is good for one request. */
#define PURPOSE_SIZE (sizeof("ciba/") + UUID7_TEXT_LENGTH)
static void
form_purpose(const unsigned char id[UUID7_OCTETS], char ret[PURPOSE_SIZE])
{
    memcpy(ret, "ciba/", 5);
    uuid7_format(id, ret + 5);
}

/* Return the address of the page with a parameter (value NULL: without). */
static const char *
page_href(struct request *req, const char *name, const char *value)
{
    const struct query_pair pair = {name, value};
    const char *base =
        talloc_asprintf(req->op.mem, "%s/authorize/ciba", req->op.az->cfg->oidc_issuer);
    return base != NULL && value != NULL ? query_append(req->op.mem, base, &pair, 1) : base;
}

/* Let the person sign in; the callback leads back to the page. */
static enum az_status
sign_in_first(struct request *req)
{
    return own_page_sign_in(req, page_href(req, "request", request_param(req, "request")));
}

/* Refuse a request that waits for another person (a link that was sent to the wrong one, or a
 * guess). A GET leaves no audit row otherwise. */
static enum az_status
refuse_other(struct request *req, const struct ciba_waiting *waiting)
{
    req->audit.client_id = waiting->client_id;
    req->audit.flow_id = waiting->flow_id;
    request_fill_audit(req, az_status_row(AZ_NOT_WAITING)->http, "rejected");
    enum az_status st = audit_insert(&req->op, &req->audit);
    if (st != AZ_OK)
        return st;
    req->audited = true;
    return op_fail(&req->op, AZ_NOT_WAITING,
                   "This request is for another account than the one that is signed in",
                   "the request waits for another subject");
}

static enum az_status
refuse_gone(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_WAITING,
                   "This request does not wait any more: it was answered, or its time is over",
                   NULL);
}

/* Find the request of an id for the signed-in person, while it waits. */
static enum az_status
find_own(struct request *req, const struct session *session, const char *text,
         struct ciba_waiting *ret)
{
    unsigned char id[UUID7_OCTETS];
    bool found = false;
    if (text == NULL || uuid7_parse(text, id) != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The id of the request is not valid", NULL);
    enum az_status st = ciba_waiting_find(&req->op, id, ret, &found);
    if (st != AZ_OK)
        return st;
    if (found && strcmp(ret->subject, session->subject) != 0)
        return refuse_other(req, ret);
    return found && ret->pending ? AZ_OK : refuse_gone(req);
}

/* Set the time until the request expires: minutes or seconds, and time_left in English. */
static void
set_time_left(struct jsonx_build *values, int64_t seconds)
{
    long long left = seconds > 0 ? (long long) seconds : 0;
    const char *unit = left >= MINUTES_FROM ? "minutes" : "seconds";
    left = left >= MINUTES_FROM ? left / 60 : left;
    jsonx_set(values, unit, json_sprintf("%lld", left));
    jsonx_set(values, "time_left", json_sprintf("%lld %s", left, unit));
}

/* Add the text of the other device, and its words: a line never breaks within one, at its hyphen.
 */
static void
add_binding(struct jsonx_build *values, const char *message)
{
    struct jsonx_build words = {json_array(), false};
    if (message == NULL) {
        json_decref(words.value);
        return;
    }
    jsonx_set(values, "binding_message", json_string(message));
    for (const char *word = message + strspn(message, " "); *word != '\0';) {
        size_t length = strcspn(word, " ");
        jsonx_append(&words, json_pack("{s:s%}", "word", word, length));
        word += length + strspn(word + length, " ");
    }
    values->lost |= words.lost;
    jsonx_set(values, "binding_words", words.value);
}

static enum az_status
show_one(struct request *req, const struct session *session, const struct ciba_waiting *waiting,
         bool several)
{
    char purpose[PURPOSE_SIZE], token[SESSION_FORM_TOKEN_SIZE];
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    const struct client client = {
        .client_id = waiting->client_id,
        .name = waiting->client_name,
        .uri = waiting->client_uri,
        .registration = waiting->registration,
    };
    const struct described_access access = {
        .scope = waiting->scope,
        .resource = waiting->resource,
        .details = waiting->details,
    };
    form_purpose(waiting->id, purpose);
    if (!session_form_token(req, purpose, token))
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the form token cannot be created");
    enum az_status st = own_page_describe(req, session, &values);
    if (st == AZ_OK)
        st = describe_access(req, &access, &values);
    if (st != AZ_OK)
        return st;
    describe_client(req, &client, &values);
    jsonx_set(&values, "action", json_string(page_href(req, "request", NULL)));
    jsonx_set(&values, "request", json_string(purpose + 5));
    jsonx_set(&values, "token", json_string(token));
    set_time_left(&values, waiting->seconds);
    add_binding(&values, waiting->binding_message);
    if (several)
        jsonx_set(&values, "list_href", json_string(page_href(req, "request", NULL)));
    return respond_page(req, 200, "ciba", jsonx_built(&values), NULL);
}

static void
add_to_list(struct request *req, const struct ciba_waiting *waiting, struct jsonx_build *list)
{
    char id[UUID7_TEXT_LENGTH + 1];
    uuid7_format(waiting->id, id);
    struct jsonx_build entry = {json_pack("{s:s,s:s*,s:s}", "client",
                                          describe_seen(waiting->client_name, waiting->client_id),
                                          "message", waiting->binding_message, "href",
                                          page_href(req, "request", id)),
                                false};
    set_time_left(&entry, waiting->seconds);
    jsonx_append(list, entry.value);
    list->lost |= entry.lost;
}

static enum az_status
show_list(struct request *req, const struct session *session, const struct ciba_waiting *waiting,
          size_t count)
{
    const char *answered = request_param(req, "answered");
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    struct jsonx_build list = {json_array(), false};
    jsonx_set(&values, "requests", list.value);
    enum az_status st = own_page_describe(req, session, &values);
    for (size_t i = 0; st == AZ_OK && i < count; i++)
        add_to_list(req, &waiting[i], &list);
    if (st != AZ_OK)
        return st;
    if (answered != NULL && words_has(ciba_answers, answered))
        jsonx_set(&values, answered, json_true());
    return respond_page(req, 200, "ciba_list", list.lost ? NULL : jsonx_built(&values), NULL);
}

enum az_status
ciba_show_handle(struct request *req)
{
    const char *id = request_param(req, "request");
    struct session session;
    struct ciba_waiting one, waiting[CIBA_OPEN_MAX];
    size_t count = 0;
    enum az_status st = own_page_session(req, &session);
    if (st != AZ_OK)
        return st;
    if (!session.found)
        return sign_in_first(req);
    if (id != NULL) {
        st = find_own(req, &session, id, &one);
        return st == AZ_OK ? show_one(req, &session, &one, true) : st;
    }
    if ((st = ciba_waiting_list(&req->op, session.subject, waiting, &count)) != AZ_OK)
        return st;
    return count == 1 && request_param(req, "answered") == NULL
               ? show_one(req, &session, &waiting[0], false)
               : show_list(req, &session, waiting, count);
}

/* Check the form: it is from this session's page of this request. Of several answers, the row lets
 * one count. */
static enum az_status
check_answer_form(struct request *req)
{
    const char *id = request_param(req, "request"), *token = request_param(req, "token");
    const char *decision = request_param(req, "decision");
    char purpose[PURPOSE_SIZE], made[SESSION_FORM_TOKEN_SIZE];
    unsigned char octets[UUID7_OCTETS];
    if (!session_form_is_ours(req))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The form was sent from another site", NULL);
    if (decision == NULL || !words_has(ciba_decisions, decision))
        return op_fail(&req->op, AZ_INVALID_REQUEST, "decision must be approve or deny", NULL);
    if (id != NULL && token != NULL && uuid7_parse(id, octets) == AZ_OK) {
        form_purpose(octets, purpose);
        if (session_form_token(req, purpose, made)
            && secret_equal(token, strlen(token), made, strlen(made)))
            return AZ_OK;
    }
    return op_fail(&req->op, AZ_INVALID_REQUEST,
                   "This page belongs to another session. Open the page of the request again",
                   "the form token does not belong to session and request");
}

static enum az_status
accept_answer(struct request *req, const struct session *session,
              const struct ciba_waiting *waiting)
{
    bool done = false;
    const struct ciba_answer answer = {
        .approved = strcmp(request_param(req, "decision"), "approve") == 0,
        .session = session->id_hash,
        .auth_time = session->auth_time,
        .acr = session->acr,
        .amr = session->amr,
    };
    req->audit.client_id = waiting->client_id;
    req->audit.flow_id = waiting->flow_id;
    req->audit.summary = answer.approved ? "{\"answer\":\"approved\"}" : "{\"answer\":\"denied\"}";
    request_fill_audit(req, 302, "allowed");
    enum az_status st = ciba_request_answer(&req->op, waiting->id, &answer, &req->audit, &done);
    if (st != AZ_OK)
        return st;
    req->audited = done;
    if (!done)
        return refuse_gone(req);
    const char *url = page_href(req, "answered", ciba_answers[answer.approved ? 0 : 1]);
    return url != NULL ? respond_redirect(req, url) : op_no_memory(&req->op);
}

enum az_status
ciba_answer_handle(struct request *req)
{
    struct session session;
    struct ciba_waiting waiting;
    enum az_status st = check_answer_form(req);
    if (st == AZ_OK)
        st = own_page_session(req, &session);
    if (st == AZ_OK && !session.found)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "You are not signed in any more. Open the page of the request again", NULL);
    if (st == AZ_OK)
        st = find_own(req, &session, request_param(req, "request"), &waiting);
    return st == AZ_OK ? accept_answer(req, &session, &waiting) : st;
}
