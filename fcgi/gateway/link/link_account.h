/* The account of a person at an upstream, and its credential: the rows oauth_link and user_secret
 * of the table of upstreamAuth types (gateway-admin.md 3.5). */
#ifndef AZ_GATEWAY_LINK_LINK_ACCOUNT_H
#define AZ_GATEWAY_LINK_LINK_ACCOUNT_H

#include <stdbool.h>

#include "gateway/upstream/credential.h"

/*
 * Get the credential of the caller's own account at the upstream (an upstream_credential_fn). An
 * access token that has expired, or that the upstream has just refused, is refreshed first; of
 * several requests at once, one refreshes and the others use what it got. AZ_LINK_REQUIRED: there
 * is no connection that works, or it lacks upstream scopes that the resource asks for; ret->link
 * names the page on which the person connects the account, and a row for it has been stored.
 * AZ_UPSTREAM_AUTH: the upstream asks for scopes for which the person was asked already, or the
 * token endpoint refuses this service; AZ_USER_REQUIRED: the token names no person.
 * AZ_UPSTREAM_UNREACHABLE, AZ_UPSTREAM_TIMEOUT: the token endpoint did not answer, and what is
 * stored has been kept.
 */
enum az_status link_credential(struct op *op, const struct upstream_wish *wish,
                               struct upstream_credential *ret);

/* Tell if the person has a connection with the resource that works, for the member `linked` of the
 * question to policy. It asks the database. */
enum az_status link_is_linked(struct op *op, const struct upstream_caller *caller,
                              const struct managed_resource *resource, bool *ret);

/*
 * Check several resources at once, for a list of tools: ret[i] belongs to resources[i] and is false
 * if no account is needed. This takes one trip to the database, or no trip if no resource needs an
 * account.
 */
enum az_status link_are_linked(struct op *op, const struct upstream_caller *caller,
                               const struct managed_resource *const *resources, size_t count,
                               bool *ret);

#endif
