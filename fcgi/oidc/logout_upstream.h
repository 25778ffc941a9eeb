/* The way a logout takes: what is carried, sealed, through our own confirmation page and through
 * the provider's logout. */
#ifndef AZ_OIDC_LOGOUT_UPSTREAM_H
#define AZ_OIDC_LOGOUT_UPSTREAM_H

#include "http/request.h"
#include "store/people/identity_providers.h"
#include "store/people/session_ends.h"

/* Where a logout leads; checked. */
struct logout_target {
    const char *client_id; /* who asked, or NULL */
    const char *uri;       /* a registered post_logout_redirect_uri of it, or NULL: our own page */
    const char *state;     /* given back, or NULL */
};

/*
 * As text for a form or an address, and back; only this server can make one, and only where `bound`
 * is the same. What was open too long is AZ_INVALID, as everything that was not sealed here.
 */
enum az_status logout_seal(struct op *op, const char *bound, const struct logout_target *target,
                           const char **ret);
enum az_status logout_open(struct op *op, const char *bound, const char *text,
                           struct logout_target *ret);

/* Sends the browser where the logout leads, or shows the last page. */
enum az_status logout_finish(struct request *req, const struct logout_target *target);

/* The provider's end_session_endpoint; NULL: it has none, or is gone. */
const char *logout_upstream_endpoint(struct op *op, int64_t idp,
                                     const struct identity_provider **ret_provider);

/* Sends the browser to the provider's logout, with the way back to us, if it has one; else as
 * logout_finish. */
enum az_status logout_continue(struct request *req, const struct session_end *end,
                               const struct logout_target *target);

#endif
