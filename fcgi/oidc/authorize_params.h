/* The parameters of an authorization request (specification 4.2, RFC 6749 4.1.1, OpenID Connect
 * Core 3.1.2.1), read and checked. */
#ifndef AZ_OIDC_AUTHORIZE_PARAMS_H
#define AZ_OIDC_AUTHORIZE_PARAMS_H

#include "http/route.h"
#include "token/authorization.h"

/*
 * Limits. All that goes back to the client has to fit one header line (HTTP_LOCATION_MAX) beside a
 * redirect_uri of URI_MAX, and so has all that goes on to the provider.
 */
#define AUTHORIZE_STATE_MAX 4096  /* octets of state when it is escaped */
#define AUTHORIZE_NONCE_MAX 512   /* octets; real ones have under 100 */
#define AUTHORIZE_HINT_MAX 512    /* octets of login_hint and acr_values; passed on */
#define AUTHORIZE_LOCALES_MAX 256 /* octets of ui_locales; passed on */
#define AUTHORIZE_IDP_MAX 64      /* octets of idp_hint, as of an idpId */
#define AUTHORIZE_AGE_MAX 10      /* digits of max_age: 317 years */
#define AUTHORIZE_CHALLENGE 43    /* characters of a code_challenge (RFC 7636 4.2) */

/* Parameters of the endpoint. */
extern const struct route_param authorize_params[];

/* The state that may be given back: none when it was not sent, came twice, or is too long. */
const char *authorize_state(const struct request *req);

/*
 * Reads all of them in the order of oauth.md 3.2; the first fault answers. req->client is set, and
 * client_id and redirect_uri are checked already. Fills ret but for flow_id and asked_at. The
 * outcomes are those of RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6 and 6, RFC 8707, RFC 9396.
 */
enum az_status authorize_params_read(struct request *req, struct authorization *ret);

#endif
