/* One row of the routing table as an Operation Object (OpenAPI 3.1.0 section 4.8.10). */
#ifndef AZ_HTTP_API_OPERATION_H
#define AZ_HTTP_API_OPERATION_H

#include "base/json/jsonx.h"
#include "http/route.h"

/* The parts that operations refer to, filled while they are made. */
struct api_parts {
    struct jsonx_build schemas;   /* components/schemas */
    struct jsonx_build responses; /* components/responses: the failures, one per status */
};

/* Return the operation of a row: a new reference; NULL: no memory. The parts that it refers to are
 * added; those that are lost make the whole document fail. */
json_t *api_operation(struct api_parts *parts, const struct route *route);

/* Return the schema of a form without parameters, and add one to it; `form` remembers a loss. */
json_t *api_form_begin(void);
void api_form_add(struct jsonx_build *form, const struct route_param *param);

/* Return the path of the row in the document, where the rest of a path is one value, {rest}; on mem
 * or of the row. */
const char *api_path(TALLOC_CTX *mem, const struct route *route);

/* Return the key of the row's method in a Path Item Object: "get"; "" for a method that has no
 * key. */
const char *api_method(const struct route *route);

#endif
