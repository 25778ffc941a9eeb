/* Links for people who must connect an account: making one, and reading the state of one that comes
 * back. */
#ifndef AZ_GATEWAY_LINK_NEED_H
#define AZ_GATEWAY_LINK_NEED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "gateway/link/state.h"

struct managed_resource;

/* A connection that is needed. */
struct link_wanted {
    const struct managed_resource *resource;
    const char *subject;   /* the person */
    const char *client_id; /* the client whose call needs it; "": the person came alone */
    json_t *scopes;        /* array of scopes of the upstream to ask for, or NULL */
    const char
        *return_to; /* path on our host to which the browser returns at the end; may be empty */
    const char *flow_id; /* UUID, or NULL for a new flow id */
};

/* Store a link, or reuse a waiting one for the same connection, and return its URL. *ret_found
 * false: the subject is not a person. */
enum az_status link_need(struct op *op, const struct link_wanted *wanted, bool *ret_found,
                         const char **ret_url, int64_t *ret_expires_in);

/* Read a state; AZ_LINK_INVALID: it was not made by this service; AZ_LINK_EXPIRED: it has expired.
 * No trip to the database. */
enum az_status link_read(struct op *op, const char *text, struct link_state *ret);

/* Count an event of links: svc_link_total. `result` is a value of the metric's label. */
void link_count(struct op *op, const struct managed_resource *resource, const char *result);

/* Longest return_to, in octets. */
#define LINK_RETURN_MAX 1024

/* True if a text is an address on our own host without scheme and host: a path, whose second
 * character does not begin a host. Anything else could lead the browser to another site. */
bool link_return_is_ours(TALLOC_CTX *mem, const char *text);

#endif
