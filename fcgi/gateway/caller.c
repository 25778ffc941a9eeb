#include "config.h"

#include "gateway/caller.h"

#include "gateway/calls.h"
#include "gateway/process/gateway_process.h"
#include "http/request.h"
#include "oauth/exchange/issue_for_subject.h"

static enum az_status
make_token(void *arg, const char *resource, struct token_text *ret)
{
    const struct gateway_bearer *bearer = arg;
    return issue_for_subject(bearer->req, bearer->token, resource, ret);
}

static bool
caller_has_gone(void *arg)
{
    const struct request *req = ((const struct gateway_bearer *) arg)->req;
    return calls_is_cancelled(req->op.az->gateway->calls)
           || (req->io->gone != NULL && req->io->gone(req->io));
}

struct upstream_caller
gateway_caller(struct gateway_bearer *bearer)
{
    const struct token_row *row = &bearer->token->lookup.row;
    return (struct upstream_caller){
        .person = row->subject,
        .subject = row->idp != NULL ? row->subject : NULL,
        .idp = row->idp,
        .client_id = row->client.client_id,
        .act = row->act,
        .flow_id = row->flow_id,
        .make_token = make_token,
        .gone = caller_has_gone,
        .arg = bearer,
    };
}
