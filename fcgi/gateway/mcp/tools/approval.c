#include "config.h"

#include "gateway/mcp/tools/approval.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "store/gateway/approvals.h"

/* Return what the person is shown: the call with all of its arguments, or NULL if out of memory. */
static json_t *
approval_details(struct op *op, const struct stated_call *call)
{
    return jsonx_own(op->mem,
                     json_pack("[{s:s,s:s,s:s,s:O*}]", "type", "tool_call", "resource",
                               call->resource, "tool", call->name, "arguments", call->arguments));
}

/* Return the address of the page on which the person answers. */
static const char *
approval_url(struct op *op, const struct approval *approval)
{
    char id[UUID7_TEXT_LENGTH + 1];
    const char *page = talloc_asprintf(op->mem, "%s/authorize/ciba", op->az->cfg->oidc_issuer);
    uuid7_format(approval->id, id);
    const struct query_pair pairs[] = {
        {"request",  id              },
        {"idp_hint", approval->idp_id}
    };
    return page != NULL ? query_append(op->mem, page, pairs, 2) : NULL;
}

/* Answer by the state of the approval. */
static enum az_status
approval_answer(struct op *op, const struct approval *approval, const char **ret_url)
{
    switch (approval->state) {
    case APPROVAL_GIVEN:
        return AZ_OK;
    case APPROVAL_WAITS:
        *ret_url = approval_url(op, approval);
        return *ret_url != NULL ? op_fail(op, AZ_APPROVAL_REQUIRED, NULL, NULL) : op_no_memory(op);
    case APPROVAL_DENIED:
        return op_fail(op, AZ_FORBIDDEN, "The user denied this call", NULL);
    case APPROVAL_FULL:
        return op_fail(op, AZ_FORBIDDEN, "The user has too many open requests", NULL);
    case APPROVAL_NO_PERSON:
        break;
    }
    return op_fail(op, AZ_USER_REQUIRED, NULL,
                   "the call needs an approval, and the subject is "
                   "nobody who signs in here");
}

enum az_status
mcp_approval_take(struct mcp_exchange *it, const struct stated_call *call, const char **ret_url)
{
    struct op *op = &it->req->op;
    const struct token_row *row = &it->access.token->lookup.row;
    unsigned char hash[SHA256_OCTETS];
    struct approval approval = {.state = APPROVAL_NO_PERSON};
    if (call->subject == NULL)
        return approval_answer(op, &approval, ret_url);
    const char *arguments = call->arguments != NULL ? jsonx_dump(op->mem, call->arguments) : "";
    const struct approval_call asked = {
        .subject = call->subject,
        .client = row->client.id,
        .hash = hash,
        .flow_id = row->flow_id != NULL ? row->flow_id : random_uuid7(op->mem, op->now_ms),
        .resource = it->access.address,
        .details = approval_details(op, call),
        .expires_at = op_now(op) + op->az->cfg->auth_req_validity,
    };
    if (arguments == NULL || asked.flow_id == NULL || asked.details == NULL
        || stated_call_hash(op, call, hash) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "an approval cannot be asked for");
    if (strlen(arguments) > APPROVAL_ARGUMENTS_MAX)
        return op_fail(op, AZ_FORBIDDEN, "The arguments are too long for a person to approve",
                       NULL);
    enum az_status st = approval_take(op, &asked, &approval);
    return st == AZ_OK ? approval_answer(op, &approval, ret_url) : st;
}
