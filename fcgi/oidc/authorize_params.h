/* Reading and checking the parameters of an authorization request (specification 4.2, RFC 6749
 * 4.1.1, OpenID Connect Core 3.1.2.1). */
#ifndef AZ_OIDC_AUTHORIZE_PARAMS_H
#define AZ_OIDC_AUTHORIZE_PARAMS_H

#include "http/route.h"
#include "token/authorization.h"

/*
 * Limits. Everything that goes back to the client must fit one header line (HTTP_LOCATION_MAX)
 * beside a redirect_uri of URI_MAX, and so must everything that goes on to the provider.
 */
#define AUTHORIZE_STATE_MAX 4096  /* octets of the escaped state */
#define AUTHORIZE_NONCE_MAX 512   /* octets; real values have fewer than 100 */
#define AUTHORIZE_HINT_MAX 512    /* octets of login_hint and acr_values, sent to the provider */
#define AUTHORIZE_LOCALES_MAX 256 /* octets of ui_locales, sent to the provider */
#define AUTHORIZE_IDP_MAX 64      /* octets of idp_hint; an idpId is no longer */
#define AUTHORIZE_AGE_MAX 10      /* digits of max_age: 317 years */
#define AUTHORIZE_CHALLENGE 43    /* characters of a code_challenge (RFC 7636 4.2) */

/* Parameters of the endpoint. */
extern const struct route_param authorize_params[];

/* Return the state that may be sent back. NULL: it was not sent, was sent twice, or is too long. */
const char *authorize_state(const struct request *req);

/*
 * Read and check all parameters in the order of oauth.md 3.2; the first fault is the answer.
 * req->client is set, and the caller has checked client_id and redirect_uri. Fills ret except
 * flow_id and asked_at. The outcomes are those of RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6 and
 * 6, RFC 8707 and RFC 9396.
 */
enum az_status authorize_params_read(struct request *req, struct authorization *ret);

/* Judge again what depends on the client alone, after its row was read again: its grants, and
 * whether it must send a challenge. */
enum az_status authorize_params_judge(struct request *req,
                                      const struct authorization *authorization);

#endif
