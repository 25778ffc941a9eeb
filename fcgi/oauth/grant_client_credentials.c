/* A token for the client itself (RFC 6749 4.4). */
#include "config.h"

#include "oauth/default_scope.h"
#include "oauth/grant.h"
#include "oauth/parameters.h"

static enum az_status
read_client_question(struct request *req, struct issue_question *question)
{
    enum az_status st = grant_read_resource(req, &question->resource);
    if (st == AZ_OK)
        st = resource_types_parse(&req->op, request_param(req, "resource_types"),
                                  &question->resource_types);
    if (st == AZ_OK)
        st = details_parse(&req->op, request_param(req, "authorization_details"),
                           &question->details);
    if (st == AZ_OK)
        st = grant_read_scopes(req, request_param(req, "scope"), question);
    if (st == AZ_OK && request_param(req, "scope") == NULL)
        st = default_scope_read(&req->op, req->client, &question->default_scopes);
    if (st != AZ_OK)
        return st;
    question->subject_id = req->client->client_id;
    grant_frame(req, NULL, question);
    return AZ_OK;
}

enum az_status
grant_client_credentials(struct request *req, struct issued *ret)
{
    struct issue_question question = {.grant_type = NULL};
    enum az_status st = read_client_question(req, &question);
    if (st != AZ_OK)
        return st;
    request_fill_audit(req, 200, "allowed");
    req->audit.subject_id = question.subject_id;
    req->audit.flow_id = question.frame.flow_id;
    return token_issue(&req->op, &question, NULL, &req->audit, &req->audited, ret);
}
