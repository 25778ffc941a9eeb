/* The header fields of a request to an upstream: which ones of the caller's may pass, and which one
 * wins if several places set the same (gateway-admin.md 3.2). */
#ifndef AZ_GATEWAY_UPSTREAM_FIELDS_H
#define AZ_GATEWAY_UPSTREAM_FIELDS_H

#include <stdbool.h>
#include <stddef.h>

#include "gateway/upstream/upstream_call.h"

struct request;

/* Header fields of one request: passed from the caller, of resource, route and policy, and of the
 * gateway. */
#define UPSTREAM_REQUEST_FIELDS_MAX 96

/* A list in which a later field replaces an earlier one of the same name. */
struct upstream_field_list {
    struct upstream_field field[UPSTREAM_REQUEST_FIELDS_MAX];
    size_t count;
    bool full; /* there was no room for a field */
};

/*
 * True if a field of this name may be sent to an upstream. False: it is malformed, belongs to the
 * connection or to the framing of the message, says who the caller is towards us (its token, cookie
 * or key, which an upstream could use against us), or where the request came from, which only a
 * proxy of the upstream may say.
 */
bool upstream_field_may_be_sent(const char *name);

/* Set a field. It is left out if its name may not be sent, or its value has a control character. */
void upstream_field_set(struct upstream_field_list *list, const char *name, const char *value);

/* Set a field whatever its name: the credential. */
void upstream_field_force(struct upstream_field_list *list, const char *name, const char *value);

/* Set the fields of the caller's request that pass to every upstream. */
void upstream_fields_pass(const struct request *req, struct upstream_field_list *list);

/* Set a field that the route names in forwardHeaders, if the caller sent it. */
void upstream_field_forward(const struct request *req, const char *name,
                            struct upstream_field_list *list);

#endif
