/* Reading the body and the parameters of a request. */
#ifndef AZ_HTTP_FORM_H
#define AZ_HTTP_FORM_H

#include "http/request.h"

/* Read the body as the row declares it: form, JSON, raw or none. Records the fault that it finds.
 */
enum az_status request_read_body(struct request *req);

/* Parse application/x-www-form-urlencoded text into req->param by the row's parameter table. */
enum az_status request_parse_form(struct request *req, const char *text, size_t length);

/* True if a Content-Type, which may be NULL, is this media type, whatever its parameters and case
 * (RFC 9110 8.3). */
bool request_media_type_is(const char *content_type, const char *wanted);

/* The same for application/json and any type that ends in +json (RFC 6839 3.1). */
bool request_media_type_is_json(const char *content_type);

/* Decode percent-encoding, and `+` as a space if `form`. On mem; NULL: a lone %, a NUL, text that
 * is not UTF-8, or no memory. */
char *request_url_decode(TALLOC_CTX *mem, const char *text, size_t length, bool form);

#endif
