#include "config.h"

#include "http/if_match.h"

#include <string.h>

#include "http/header_value.h"

static const char *
if_match_of(struct request *req)
{
    return req->io->variable(req->io, "HTTP_IF_MATCH");
}

bool
request_has_if_match(struct request *req)
{
    return if_match_of(req) != NULL;
}

enum az_status
request_if_match(struct request *req, const char *digest)
{
    const char *header = if_match_of(req);
    if (header == NULL || (strlen(header) <= HTTP_HEADER_MAX && header_if_match(header, digest)))
        return AZ_OK;
    return op_fail(&req->op, AZ_PRECONDITION_FAILED, NULL, NULL);
}
