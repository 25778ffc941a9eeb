/* The claims of an identity provider's userinfo endpoint (OpenID Connect Core 5.3; world.md U1,
 * U2). */
#ifndef AZ_OIDC_UPSTREAM_UPSTREAM_USERINFO_H
#define AZ_OIDC_UPSTREAM_UPSTREAM_USERINFO_H

#include <jansson.h>
#include <stdbool.h>

#include "oidc/upstream/upstream_id_token.h"
#include "oidc/upstream/upstream_tokens.h"

/* The outcome of userinfo; on op->mem. */
struct upstream_userinfo {
    json_t *claims; /* of an answer that counts; NULL: the ID token stands alone */
    bool lost;      /* the provider's userinfo had been joined before, so claims may be missing */
};

/*
 * Ask for userinfo, as the row says (auto, off, required). `expected` and `sub` are of the checked
 * ID token. An answer that cannot be used leaves the ID token alone, with a line in the log, unless
 * the row requires userinfo: AZ_PROVIDER_SETUP. AZ_UNAVAILABLE: the provider does not answer, which
 * heals; AZ_ACCESS_DENIED: the answer is of another person, or badly signed.
 */
enum az_status upstream_userinfo_get(struct op *op, const struct identity_provider *provider,
                                     const struct upstream_endpoints *endpoints,
                                     const struct upstream_tokens *tokens,
                                     const struct upstream_expected *expected, const char *sub,
                                     struct upstream_userinfo *ret);

#endif
