/* The keys by which a client signs its assertions (oauth.md J8): registered with the client, or at
 * its jwks_uri. The trust bundle has the keys of workloads (svid_keys.h). */
#ifndef AZ_OAUTH_CLIENT_KEYS_H
#define AZ_OAUTH_CLIENT_KEYS_H

#include "base/op.h"
#include "oauth/client_auth/client_assertion.h"
#include "store/clients/clients.h"

/*
 * Verify an assertion by the keys of its client. Keys at an address are fetched at most once a
 * minute for a key id that is not among them. AZ_INVALID: no key of the client verifies it, or the
 * client's host does not deliver its keys; *ret_why tells the operator. `endpoint` was called.
 * AZ_BUSY, AZ_UNAVAILABLE: this service failed.
 */
enum az_status client_keys_verify(struct op *op, const struct client *client,
                                  const struct client_assertion *assertion, const char *endpoint,
                                  const char **ret_why);

#endif
