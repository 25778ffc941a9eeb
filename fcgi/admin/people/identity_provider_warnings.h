/* Reasons why sign-ins at an identity provider would fail, shown to the administrator who stores
 * it. */
#ifndef AZ_ADMIN_IDENTITY_PROVIDER_WARNINGS_H
#define AZ_ADMIN_IDENTITY_PROVIDER_WARNINGS_H

#include <jansson.h>

#include "base/json/jsonx.h"
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
json_t *identity_provider_warnings(struct op *op, json_t *provider);

/* ---- for identity_provider_check.c */

/* Append the sentence "MEMBER: WHAT". */
void identity_provider_warn(struct jsonx_build *list, const char *member, const char *what);

/* Warn of an address that would not be fetched, or whose traffic others could read. Return false if
 * it would not be fetched. */
bool identity_provider_address(struct op *op, struct jsonx_build *list, const char *member,
                               const char *url);

/* Fetch a JSON object, which is `what`, by the rules and limits of every fetch from providers
 * (SVC_SAFE_HTTP_...); it is not kept. Return NULL, or the fault for the operator. The fault of the
 * operation stays as it is. */
const char *identity_provider_fetch(struct op *op, const char *url, const char *what, json_t **ret);

/* Return the address of the discovery document of a provider's DTO, and the member that names it,
 * for warnings. NULL: it has no issuer, or no memory. */
const char *identity_provider_document(TALLOC_CTX *mem, const json_t *provider,
                                       const char **ret_member);

/* The same for the discovery document of an issuer, which must name it (OpenID Connect Discovery
 * 4.3). */
const char *identity_provider_discover(struct op *op, const char *issuer, const char *url,
                                       json_t **ret);

/* Return why an issuer cannot be that of a provider: its ID tokens would be of other issuers, one
 * for each tenant (world.md E1). Else NULL. Where only its discovery document tells, that is
 * fetched. */
const char *identity_provider_tenant_fault(struct op *op, const char *issuer);

#endif
