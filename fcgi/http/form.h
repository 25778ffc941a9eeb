/* Reading the body and the parameters of a request. */
#ifndef AZ_HTTP_FORM_H
#define AZ_HTTP_FORM_H

#include "http/request.h"

/* Read the body as the row declares it: form, JSON, raw or none. Records the fault that it finds.
 */
enum az_status request_read_body(struct request *req);

/* A body that the handler reads piece by piece (BODY_STREAM). */
struct body_stream {
    size_t max;    /* octets that it may have */
    bool known;    /* its length was announced */
    size_t length; /* announced octets */
    size_t used;   /* octets read so far */
};

/* Begin to read the body. AZ_TOO_LARGE: Content-Length is more than max, so that nothing is read.
 * AZ_INVALID_REQUEST: it is no number. */
enum az_status request_open_body(struct request *req, size_t max, struct body_stream *ret);

/*
 * Read the next octets; *ret_got is 0 at the end. AZ_TOO_LARGE: the body has more than max octets.
 * AZ_INVALID_REQUEST: it has more or fewer octets than announced; the ones before are a part of a
 * body, which no reader may take for the whole.
 */
enum az_status request_read_piece(struct request *req, struct body_stream *body, void *buffer,
                                  size_t size, size_t *ret_got);

/* Parse application/x-www-form-urlencoded text into req->param by the row's parameter table. */
enum az_status request_parse_form(struct request *req, const char *text, size_t length);

/* True if a Content-Type, which may be NULL, is this media type, whatever its parameters and case
 * (RFC 9110 8.3). */
bool request_media_type_is(const char *content_type, const char *wanted);

/* The same for application/json and any type that ends in +json (RFC 6839 3.1). */
bool request_media_type_is_json(const char *content_type);

/* Decode percent-encoding, and `+` as a space if `form`. *ret is on mem, or NULL. AZ_INVALID: a
 * lone %, a NUL, or text that is not UTF-8. AZ_SERVER_ERROR: out of memory, which is no fault of
 * the text: /revoke ignores those, and would answer 200. */
enum az_status request_url_decode(TALLOC_CTX *mem, const char *text, size_t length, bool form,
                                  char **ret);

/* Decode name and value of a pair of a form or query; without an equals sign the value is empty. */
enum az_status request_decode_pair(TALLOC_CTX *mem, const char *pair, size_t length,
                                   char **ret_name, char **ret_value);

#endif
