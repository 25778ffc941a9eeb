#include "config.h"

#include "gateway/mcp/tools/tool_call.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/link/link_account.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/tools/approval.h"
#include "managed/auth.h"
#include "store/gateway/resources.h"

/* An address that the person opens before the call can be made. */
struct elicited {
    enum az_status st;   /* for the audit row */
    const char *key;     /* names the question to the client */
    const char *url;     /* NULL if there is no page for it */
    const char *message; /* for a client with URL elicitation */
    const char *text;    /* for the model, if the client has no URL elicitation */
    const char *refused; /* for the model, if the person declined */
};

/* Return the person's answer to the gateway's own question, or NULL if it was not asked or not
 * answered. */
static const char *
elicited_answer(const struct tool_call *c, const char *key)
{
    if (c->round.state.own == NULL || strcmp(c->round.state.own, key) != 0)
        return NULL;
    const json_t *answers = json_object_get(c->it->message.params, "inputResponses");
    return json_string_value(json_object_get(json_object_get(answers, key), "action"));
}

/* Send the person to an address (gateway-admin.md 1.1): the client opens it and sends the call
 * again. The state ties the second call to the first; a second call without it is a first one. */
static enum az_status
send_person(struct tool_call *c, const struct elicited *elicited)
{
    struct mcp_exchange *it = c->it;
    struct op *op = &it->req->op;
    const struct request_state own = {.own = elicited->key};
    const char *state;
    if (elicited->key == NULL || elicited->message == NULL || elicited->text == NULL
        || elicited->refused == NULL)
        return op_no_memory(op);
    const char *answer = elicited_answer(c, elicited->key);
    if (elicited->url == NULL)
        return tool_call_error(c, elicited->st, elicited->refused);
    if (!it->version.opens_urls)
        return tool_call_error(c, elicited->st, elicited->text);
    if (answer != NULL && strcmp(answer, "accept") != 0)
        return tool_call_error(c, elicited->st, elicited->refused);
    if ((state = request_state_make(op, &c->round.call, &own)) == NULL)
        return op_no_memory(op);
    it->result =
        mcp_elicit_url_result(op->mem, elicited->key, elicited->url, elicited->message, state);
    return AZ_OK;
}

enum az_status
tool_call_ask_for_link(struct tool_call *c)
{
    TALLOC_CTX *mem = c->it->req->op.mem;
    const char *name = c->tool->resource->display_name, *url = c->call.credential.link.url;
    return send_person(
        c, &(struct elicited){
               .st = AZ_LINK_REQUIRED,
               .key = talloc_asprintf(mem, "link_%s", c->tool->resource->name),
               .url = url,
               .message = talloc_asprintf(mem, "Connect your %s account to continue.", name),
               .text = talloc_asprintf(mem, "Connect your %s account first, at %s", name,
                                       url != NULL ? url : ""),
               .refused = talloc_asprintf(mem, "The %s account was not connected", name)});
}

enum az_status
tool_call_link_first(struct tool_call *c)
{
    struct upstream_wish wish = {.resource = c->tool->resource, .caller = &c->caller};
    struct op *op = &c->it->req->op;
    if (!c->decision.obligations.approve_by_ciba
        || !managed_auth_is_linked(wish.resource->auth.type) || c->caller.subject == NULL)
        return AZ_OK;
    enum az_status st = resource_secrets(op, wish.resource, &wish.secrets);
    if (st == AZ_OK)
        st = link_credential(op, &wish, &c->call.credential);
    return st == AZ_LINK_REQUIRED ? tool_call_ask_for_link(c) : st;
}

enum az_status
tool_call_ask_for_approval(struct tool_call *c)
{
    struct op *op = &c->it->req->op;
    const char *url = NULL, *tool = c->tool->row->name, *name = c->tool->resource->display_name;
    if (!c->decision.obligations.approve_by_ciba)
        return AZ_OK;
    /* The page shows the person the call itself. An approval that the client sends would prove
     * nothing. */
    if (c->round.state.round > 0) {
        c->approval = "refused";
        return tool_call_error(c, AZ_FORBIDDEN,
                               "The call needs an approval now, and an approval is for a call "
                               "without answers; call the tool again from the beginning");
    }
    enum az_status st = mcp_approval_take(c->it, &c->round.call, &url);
    c->approval = st == AZ_OK ? "given" : st == AZ_APPROVAL_REQUIRED ? "asked" : "refused";
    if (st == AZ_FORBIDDEN || st == AZ_USER_REQUIRED)
        return tool_call_error(c, st, op->fault.public_text);
    if (st != AZ_APPROVAL_REQUIRED)
        return st;
    return send_person(
        c, &(struct elicited){
               .st = st,
               .key = talloc_asprintf(op->mem, "approve_%s", c->tool->name),
               .url = url,
               .message = talloc_asprintf(op->mem, "Approve the call of %s at %s.", tool, name),
               .text = talloc_asprintf(
                   op->mem, "Approve the call of %s at %s first, at %s, and call it again", tool,
                   name, url),
               .refused = talloc_asprintf(op->mem, "The call of %s was not approved", tool)});
}
