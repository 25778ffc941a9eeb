/* The steps of a logout: its target is sealed and travels through our confirmation page and the
 * provider's logout. */
#ifndef AZ_OIDC_UPSTREAM_LOGOUT_UPSTREAM_H
#define AZ_OIDC_UPSTREAM_LOGOUT_UPSTREAM_H

#include "http/request.h"
#include "store/people/identity_providers.h"
#include "store/people/session_ends.h"

/* The checked address to which a logout leads. */
struct logout_target {
    const char *client_id; /* the client that asked, or NULL */
    const char *uri;       /* a post_logout_redirect_uri that it registered; NULL: our own page */
    const char *state;     /* sent back, or NULL */
    bool by_link;          /* nobody vouches for it: the user follows a link on our page */
};

/*
 * Seal a target as text for a form or a URL, and open it again. Only this server can make the text,
 * and it opens only with the same `bound`. AZ_INVALID: older than its validity, or not sealed here.
 */
enum az_status logout_seal(struct op *op, const char *bound, const struct logout_target *target,
                           const char **ret);
enum az_status logout_open(struct op *op, const char *bound, const char *text,
                           struct logout_target *ret);

/* Redirect the browser to the target, or show the last page, with a link to it if it is by_link. */
enum az_status logout_finish(struct request *req, const struct logout_target *target);

/* Return the provider's end_session_endpoint, or NULL if it has none, or the provider is gone or
 * disabled. */
const char *logout_upstream_endpoint(struct op *op, int64_t idp,
                                     const struct identity_provider **ret_provider);

/* Redirect the browser to the provider's logout, which returns to us with the target, sealed for
 * `bound` (NULL: out of memory). If the provider has none, finish at once. */
enum az_status logout_continue(struct request *req, const struct session_end *end,
                               const struct logout_target *target, const char *bound);

#endif
