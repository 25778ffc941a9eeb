/* A token for the client itself (RFC 6749 4.4). */
#include "config.h"

#include "oauth/grant.h"

enum az_status
grant_client_credentials(struct request *req, struct issued *ret)
{
    struct issue_question question = {.grant_type = NULL};
    enum az_status st = grant_read_request(req, &question);
    if (st != AZ_OK)
        return st;
    question.subject_id = req->client->client_id;
    grant_frame(req, NULL, &question);
    request_fill_audit(req, 200, "allowed");
    req->audit.subject_id = question.subject_id;
    req->audit.flow_id = question.frame.flow_id;
    return token_issue(&req->op, &question, NULL, &req->audit, &req->audited, ret);
}
