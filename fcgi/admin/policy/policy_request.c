#include "config.h"

#include "admin/policy/policy_request.h"

#include <string.h>

#include "http/header_value.h"
#include "http/route.h"

static const char *
policy_if_match_header(struct request *req)
{
    return req->io->variable(req->io, "HTTP_IF_MATCH");
}

bool
policy_has_if_match(struct request *req)
{
    return policy_if_match_header(req) != NULL;
}

enum az_status
policy_if_match(struct request *req, const char *digest)
{
    const char *header = policy_if_match_header(req);
    if (header == NULL || (strlen(header) <= HTTP_HEADER_MAX && header_if_match(header, digest)))
        return AZ_OK;
    return op_fail(&req->op, AZ_PRECONDITION_FAILED, NULL, NULL);
}

enum az_status
policy_respond(struct request *req, int status, const char *dto, const char *digest)
{
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", digest));
    return respond_json_text(req, status, dto);
}

enum az_status
policy_invalid_field(struct request *req, const char *field, const char *why)
{
    request_field_error(req, field, why);
    return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}
