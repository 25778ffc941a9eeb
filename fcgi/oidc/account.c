#include "config.h"

#include "oidc/account.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/words.h"
#include "http/page/page.h"
#include "oidc/describe.h"
#include "oidc/own_page.h"
#include "oidc/session.h"
#include "policy/decide/scope_words.h"
#include "store/gateway/connections.h"
#include "store/people/account.h"

/* Characters of a time that the page shows: the day. */
#define DAY_LENGTH 10

static const char *const account_answers[] = {"ended", NULL};

/* clang-format off */
const struct route_param account_params[] = {
    {.name = "answered",
     .help = "ended: the person has just ended something, which the page confirms. Another text is "
             "ignored"},
    {.name = "idp_hint", .help = "idpId of the provider at which the person signs in"},
    {.name = NULL},
};
const struct route_param account_form_params[] = {
    {.name = "kind", .required = true, .words = account_kind_words, .help = "What is ended"},
    {.name = "id", .required = true, .help = "Which one: a sid, a client_id, or a UUID"},
    {.name = "token", .required = true, .help = "Token that the service put into the form"},
    {.name = NULL},
};
/* clang-format on */

/* The name of a form token: the token is good for one thing. */
static const char *
account_purpose(struct request *req, const char *kind, const char *id)
{
    return talloc_asprintf(req->op.mem, "account/%s/%s", kind, id);
}

static const char *
account_href(struct request *req, const char *query)
{
    return talloc_asprintf(req->op.mem, "%s/account%s", req->op.az->cfg->oidc_issuer, query);
}

static const char *
account_text(const json_t *entry, const char *name)
{
    return json_string_value(json_object_get(entry, name));
}

/* Add to an entry the token of its form, and a name that can be seen. */
static enum az_status
finish_entry(struct request *req, const char *purpose, json_t *entry)
{
    char token[SESSION_FORM_TOKEN_SIZE];
    const char *name = describe_seen(account_text(entry, "name"), account_text(entry, "other"));
    if (purpose != NULL && session_form_token(req, purpose, token)
        && json_object_set_new(entry, "token", json_string(token)) == 0
        && json_object_set_new(entry, "name", json_string(name)) == 0)
        return AZ_OK;
    return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the form token cannot be created");
}

/* Add the words for the scopes of the applications. */
static enum az_status
add_scope_words(struct request *req, json_t *applications)
{
    const json_t *words = NULL;
    json_t *entry;
    size_t i;
    enum az_status st = scope_words_read(&req->op, &words);
    json_array_foreach (applications, i, entry) {
        json_t *list = json_array();
        if (st == AZ_OK
            && (json_object_set_new(entry, "words", list) != 0
                || !describe_scopes(req, words, account_text(entry, "scopes"), list)))
            st = op_no_memory(&req->op);
        else if (st != AZ_OK)
            json_decref(list);
    }
    return st;
}

/* Read the lists of the store. */
static enum az_status
add_lists(struct request *req, const struct session *session, struct jsonx_build *values)
{
    json_t *account = NULL, *entry;
    size_t i;
    enum az_status st = account_read(&req->op, session, &account);
    for (int kind = 0; st == AZ_OK && kind < ACCOUNT_KINDS; kind++) {
        json_t *list = json_object_get(account, account_lists[kind]);
        json_array_foreach (list, i, entry)
            if (st == AZ_OK)
                st = finish_entry(
                    req, account_purpose(req, account_kind_words[kind], account_text(entry, "id")),
                    entry);
        jsonx_set(values, account_lists[kind], json_incref(list));
    }
    if (st == AZ_OK)
        st = add_scope_words(req, json_object_get(account, account_lists[ACCOUNT_APPLICATION]));
    return st;
}

/* Add the accounts at other services. Their forms lead to the page of the gateway, which also
 * revokes the tokens there. */
static enum az_status
add_connections(struct request *req, const struct session *session, struct jsonx_build *values)
{
    json_t *rows = NULL, *row;
    size_t i;
    enum az_status st =
        req->op.az->cfg->gateway_enabled ? connections_of_person(&req->op, session, &rows) : AZ_OK;
    json_array_foreach (rows, i, row) {
        const char *resource = account_text(row, "resource");
        const char *name = account_text(row, "displayName");
        const char *action = talloc_asprintf(req->op.mem, "%s/gateway/connect/%s/disconnect",
                                             req->op.az->cfg->oidc_issuer, resource);
        json_t *entry =
            json_pack("{s:s*,s:s,s:s*,s:s%,s:s*}", "name", name, "other", resource, "account",
                      account_text(row, "account"), "since", account_text(row, "connectedAt"),
                      (size_t) DAY_LENGTH, "action", action);
        if (st == AZ_OK)
            st = finish_entry(req, own_page_disconnect(req, resource), entry);
        if (json_array_set_new(rows, i, entry) != 0)
            values->lost = true;
    }
    if (rows != NULL)
        jsonx_set(values, "connections", json_incref(rows));
    return st;
}

enum az_status
account_show_handle(struct request *req)
{
    const char *answered = request_param(req, "answered");
    struct jsonx_build values = {jsonx_own(req->op.mem, json_object()), false};
    struct session session;
    enum az_status st = own_page_session(req, &session);
    if (st == AZ_OK && !session.found)
        return own_page_sign_in(req, account_href(req, ""));
    if (st == AZ_OK)
        st = own_page_describe(req, &session, &values);
    if (st == AZ_OK)
        st = add_lists(req, &session, &values);
    if (st == AZ_OK)
        st = add_connections(req, &session, &values);
    if (st != AZ_OK)
        return st;
    jsonx_set(&values, "action", json_string(account_href(req, "")));
    jsonx_set(&values, "approvals_href",
              json_sprintf("%s/authorize/ciba", req->op.az->cfg->oidc_issuer));
    if (answered != NULL && words_has(account_answers, answered))
        jsonx_set(&values, answered, json_true());
    return respond_page(req, 200, "account", jsonx_built(&values), NULL);
}

/* Check the form: it is from this session's page, and about this thing. */
static enum az_status
check_form(struct request *req, enum account_kind *ret)
{
    const char *kind = request_param(req, "kind"), *id = request_param(req, "id");
    int at = 0;
    while (kind != NULL && at < ACCOUNT_KINDS && strcmp(account_kind_words[at], kind) != 0)
        at++;
    if (kind == NULL || at == ACCOUNT_KINDS)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "kind must be session, application, approval or delegation", NULL);
    *ret = (enum account_kind) at;
    return id != NULL
                   && own_page_form_is_ours(req, account_purpose(req, kind, id),
                                            request_param(req, "token"))
               ? AZ_OK
               : op_fail(&req->op, AZ_INVALID_REQUEST,
                         "This page belongs to another session. Open it again",
                         "the form token does not belong to the session and the entry");
}

enum az_status
account_end_handle(struct request *req)
{
    enum account_kind kind = ACCOUNT_SESSION;
    struct session session = {.found = false};
    bool ended = false;
    const char *id = request_param(req, "id");
    enum az_status st = check_form(req, &kind);
    if (st == AZ_OK)
        st = own_page_session(req, &session);
    if (st == AZ_OK && !session.found)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "You are not signed in any more. Open the page again", NULL);
    if (st == AZ_OK)
        st = account_end(&req->op, &session, kind, id, &ended);
    if (st != AZ_OK)
        return st;
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s,s:s,s:b}", "kind",
                                                                 account_kind_words[kind], "id", id,
                                                                 "ended", ended)));
    const char *url = account_href(req, ended ? "?answered=ended" : "");
    return url != NULL ? respond_see_other(req, url) : op_no_memory(&req->op);
}
