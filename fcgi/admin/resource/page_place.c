#include "config.h"

#include "admin/resource/page_place.h"

#include "base/digits.h"
#include "base/words.h"

const char *
page_filter_read(struct request *req, const struct route_param *param)
{
    const char *value = request_param(req, param->name);
    if (value == NULL || *value == '\0')
        return NULL;
    if (param->words != NULL && !words_has(param->words, value))
        request_field_error(req, param->name, "is not one of the possible values");
    return value;
}

struct page_place
page_place_read(struct request *req, const struct page_limits *limits)
{
    struct page_place page = {.size = limits->size};
    const char *number = request_param(req, "page"), *size = request_param(req, "size");
    if (number != NULL && !digits_read(number, INT32_MAX, &page.number))
        request_field_error(req, "page", "must be a number of 0 or more");
    if (size != NULL && (!digits_read(size, limits->size_max, &page.size) || page.size == 0))
        request_field_error(req, "size",
                            talloc_asprintf(req->op.mem, "must be a number from 1 to %lld",
                                            (long long) limits->size_max));
    else if (page.number * page.size > limits->offset_max)
        request_field_error(req, "page",
                            talloc_asprintf(req->op.mem, "must not begin after row %lld; use %s",
                                            (long long) limits->offset_max, limits->beyond));
    return page;
}
