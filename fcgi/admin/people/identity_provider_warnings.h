/* Reasons why sign-ins at an identity provider would fail, shown to the administrator who stores
 * it. */
#ifndef AZ_ADMIN_IDENTITY_PROVIDER_WARNINGS_H
#define AZ_ADMIN_IDENTITY_PROVIDER_WARNINGS_H

#include <jansson.h>

#include "base/op.h"

/* Longest time for the request to the issuer, in seconds: the answer to a POST waits for it. A
 * healthy provider answers in 30 ms, and after one lost packet in little more than 1 s. */
#define IDENTITY_PROVIDER_TRY_SECONDS 3

/*
 * Return sentences about a stored IdentityProviderDto, in an array on op->mem; empty: there is
 * nothing to say, or NULL if out of memory. Each names the member, the fault, and the setting that
 * would allow it. The discovery document of an enabled provider is fetched once, in a place like
 * every fetch (http/fetch/fetch_places.h), and is not kept. The fault of the operation stays as it
 * is.
 */
json_t *identity_provider_warnings(struct op *op, const json_t *provider);

#endif
