/* The rules of CIBA (OpenID Connect CIBA Core 1.0; gateway-admin.md 4.2), without HTTP and SQL. */
#ifndef AZ_OAUTH_CIBA_CIBA_RULES_H
#define AZ_OAUTH_CIBA_CIBA_RULES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/json/fields.h"
#include "store/tokens/ciba_requests.h"

/* Longest login_hint, in octets: idpId, a colon and a sub. An e-mail address is shorter. */
#define LOGIN_HINT_MAX (64 + 1 + 255)
/* Longest binding_message, in characters: a person compares it with the one on another screen. */
#define BINDING_MESSAGE_MAX 64

/* Read a login_hint in each way that it can be read: as our sub, as `idpId:sub`, as an e-mail
 * address. The texts are on mem or in `text`. False: it is too long, or there is no memory. */
bool ciba_hint_read(TALLOC_CTX *mem, const char *text, struct ciba_hint *ret);

/* Return the fault of a binding_message as public text, or NULL. It is shown to a person, who must
 * see all of it. */
const char *ciba_binding_fault(const char *text);

/* Read requested_expiry (NULL: not sent), in seconds; `otherwise` is the configured lifetime. A
 * number outside the limits of settings.h becomes the nearest one within them: CIBA Core 7.1 leaves
 * the lifetime to the server. False: not a positive integer. */
bool ciba_expiry_read(const char *text, int64_t otherwise, int64_t *ret);

/*
 * Return the answer to a poll of the client with this key (client.id), by the state table of
 * gateway-admin.md 4.2. AZ_OK: the request is approved, and policy may be asked again.
 */
enum az_status ciba_poll_judge(const struct ciba_poll *poll, int64_t client);

/* The answer of an identity provider: Keycloak's words, or ours with more about the sign-in. */
struct ciba_callback {
    const char *status; /* one of the words of the table */
    const char *sub;    /* the person's sub at the provider, or NULL */
    const char *acr;    /* or NULL */
    int64_t auth_time;  /* seconds since 1970; 0: not sent */
};

/* Longest acr, in characters; it is a URI or a short name. */
#define CIBA_ACR_MAX 512

extern const struct field_table ciba_callback_table;

/* True if the status means that the person agreed. */
bool ciba_callback_approves(const struct ciba_callback *callback);

/* Return the fault of a body that the table accepts, as public text, or NULL. `now` is in seconds
 * since 1970. */
const char *ciba_callback_fault(const struct ciba_callback *callback, int64_t now);

#endif
