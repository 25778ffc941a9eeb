#include "config.h"

#include "admin/policy/policy_request.h"

#include "http/route.h"

enum az_status
policy_respond(struct request *req, int status, const char *dto, const char *digest)
{
    respond_header(req, "ETag", talloc_asprintf(req->op.mem, "\"%s\"", digest));
    return respond_json_text(req, status, dto);
}
