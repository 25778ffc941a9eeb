#include "config.h"

#include "gateway/upstream/fields.h"

#include <string.h>

#include "http/request.h"
#include "managed/headers.h"
#include "trace/trace.h"

/* Longest name of a field, in octets. */
#define NAME_MAX_OCTETS 128

/* clang-format off */
/* Fields of every caller that pass, with their names in CGI (RFC 3875 4.1.18). */
static const struct {
    const char *name, *cgi;
} passed[] = {
    {"Accept",              "HTTP_ACCEPT"},
    {"Accept-Language",     "HTTP_ACCEPT_LANGUAGE"},
    {"Content-Type",        "CONTENT_TYPE"},
    {"If-Match",            "HTTP_IF_MATCH"},
    {"If-Modified-Since",   "HTTP_IF_MODIFIED_SINCE"},
    {"If-None-Match",       "HTTP_IF_NONE_MATCH"},
    {"If-Range",            "HTTP_IF_RANGE"},
    {"If-Unmodified-Since", "HTTP_IF_UNMODIFIED_SINCE"},
    {"Prefer",              "HTTP_PREFER"},
    {"Range",               "HTTP_RANGE"},
};

/* clang-format on */

bool
upstream_field_may_be_sent(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length <= NAME_MAX_OCTETS && strspn(name, HEADER_NAME_CHARS) == length
           && header_may_be(name, HEADER_SENT);
}

void
upstream_field_force(struct upstream_field_list *list, const char *name, const char *value)
{
    for (const char *c = value; *c != '\0'; c++)
        if (((unsigned char) *c < 0x20 && *c != '\t') || *c == 0x7f)
            return;
    for (size_t i = 0; i < list->count; i++)
        if (header_is(list->field[i].name, name)) {
            list->field[i] = (struct upstream_field){name, value};
            return;
        }
    list->full = list->full || list->count == UPSTREAM_REQUEST_FIELDS_MAX;
    if (!list->full)
        list->field[list->count++] = (struct upstream_field){name, value};
}

void
upstream_field_set(struct upstream_field_list *list, const char *name, const char *value)
{
    if (upstream_field_may_be_sent(name))
        upstream_field_force(list, name, value);
}

void
upstream_fields_pass(const struct request *req, struct upstream_field_list *list)
{
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
        const char *value = request_header(req, passed[i].cgi);
        if (value != NULL && *value != '\0')
            upstream_field_set(list, passed[i].name, value);
    }
    const char *parent = request_header(req, "HTTP_TRACEPARENT");
    const char *state = request_header(req, "HTTP_TRACESTATE");
    if (parent == NULL || !trace_parent_is_good(parent))
        return;
    upstream_field_set(list, TRACE_FIELD, parent);
    if (state != NULL && *state != '\0' && strlen(state) <= TRACE_STATE_MAX)
        upstream_field_set(list, "tracestate", state);
}

void
upstream_field_forward(const struct request *req, const char *name,
                       struct upstream_field_list *list)
{
    char cgi[sizeof("HTTP_") + NAME_MAX_OCTETS] = "HTTP_";
    if (!upstream_field_may_be_sent(name))
        return;
    size_t used = strlen(cgi);
    for (const char *c = name; *c != '\0'; c++)
        cgi[used++] = (char) (*c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    cgi[used] = '\0';
    const char *value = request_header(req, cgi);
    if (value != NULL && *value != '\0')
        upstream_field_set(list, name, value);
}
