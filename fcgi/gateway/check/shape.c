#include "config.h"

#include "gateway/check/shape.h"

#include "http/route.h"

const struct check_shape check_by_fields = {
    .word = "fields",
    .method = "HTTP_X_FORWARDED_METHOD",
    .proto = "HTTP_X_FORWARDED_PROTO",
    .host = "HTTP_X_FORWARDED_HOST",
    .uri = "HTTP_X_FORWARDED_URI",
};

const struct check_shape check_by_target = {
    .word = "target",
    .method = "REQUEST_METHOD",
    .proto = "HTTP_X_FORWARDED_PROTO",
    .host = "HTTP_HOST",
};

const struct check_shape check_as_authorizer = {
    .word = "authorizer",
    .method = "REQUEST_METHOD",
    .proto = "REQUEST_SCHEME",
    .host = "HTTP_HOST",
    .uri = "REQUEST_URI",
    .direct = true,
};

enum az_status
check_shape_read(const struct request *req, struct forwarded_fields *ret)
{
    const struct check_shape *shape = req->route->arg;
    *ret = (struct forwarded_fields){
        .method = request_header(req, shape->method),
        .proto = request_header(req, shape->proto),
        .host = request_header(req, shape->host),
    };
    if (shape->uri != NULL) {
        ret->uri = request_header(req, shape->uri);
        return AZ_OK;
    }
    ret->uri = talloc_asprintf(req->op.mem, "%s%s%s", req->path_value[0],
                               *req->query != '\0' ? "?" : "", req->query);
    return ret->uri != NULL ? AZ_OK : AZ_SERVER_ERROR;
}
