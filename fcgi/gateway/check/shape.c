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

const char *
check_shape_other(const struct request *req)
{
    static const char *const others[] = {
        "HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_HTTP_METHOD",    "HTTP_X_METHOD_OVERRIDE",
        "HTTP_X_ORIGINAL_URL",         "HTTP_X_REWRITE_URL",    "HTTP_X_FORWARDED_METHOD",
        "HTTP_X_FORWARDED_URI",        "HTTP_X_FORWARDED_HOST", "HTTP_X_FORWARDED_PROTO",
        "HTTP_X_FORWARDED_FOR",        "HTTP_FORWARDED",
    };
    const struct check_shape *shape = req->route->arg;
    for (size_t i = 0; shape->direct && i < sizeof(others) / sizeof(others[0]); i++)
        if (req->io->variable(req->io, others[i]) != NULL)
            return others[i];
    return NULL;
}

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
