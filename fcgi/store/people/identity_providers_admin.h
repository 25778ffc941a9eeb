/* Identity providers as the administrator reads and writes them. */
#ifndef AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_ADMIN_H
#define AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_ADMIN_H

#include <jansson.h>

#include "store/db/rows/json_rows.h"

/* The columns of an IdentityProviderDto that are written; admin/identity_provider_dto.c maps its
 * members to them. Neither the key nor the secret: those have parameters of their own. */
#define IDENTITY_PROVIDERS_ADMIN_COLUMNS                                                           \
    "name, issuer, client_id, authorization_endpoint, token_endpoint, userinfo_endpoint,"          \
    " jwks_uri, backchannel_notification_endpoint, scopes, authorize_params, enabled, logo,"       \
    " list_claims, userinfo, sends_auth_time, claims, discovery_url, issuer_aliases, "             \
    "token_auth_method,"                                                                           \
    " client_secret_expires_at, prompts"

/*
 * IdentityProviderDto, keyed by idpId. The idpId is unique, and an issuer
 * or an alias is that of one provider.
 *
 * A replace keeps `enabled`, listClaims and the secret (with the exp of one that is a JWT) when
 * they are not given, and ends the browser sessions of a provider that is disabled or has another
 * issuer afterwards. Sign-ins, sessions and grants are deleted with their provider.
 */
extern const struct json_rows identity_providers_admin_rows;

/* The facts of a stored provider that the rules of a PUT depend on; on op->mem. */
struct identity_provider_stored {
    const char *version; /* as text */
    bool has_secret;
    json_t *addresses; /* object: issuer, discoveryUrl and tokenEndpoint */
};

/* Read them. One trip. *ret is NULL if there is no such provider. */
enum az_status identity_provider_stored_fetch(struct op *op, const char *idp_id,
                                              const struct identity_provider_stored **ret);

/* Make the issuer of an enabled provider the home issuer (token/subject.h). *ret_done is false if
 * there is no such provider. */
enum az_status home_issuer_set(struct op *op, const char *idp_id, bool *ret_done);

/* Count the people who have the name that their home issuer gave them: their sub. */
enum az_status home_issuer_people(struct op *op, const char *issuer, int64_t *ret);

#endif
