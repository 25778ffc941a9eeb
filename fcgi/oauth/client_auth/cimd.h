/* Clients with a metadata document at their client_id
 * (draft-ietf-oauth-client-id-metadata-document; specification 4.2, oauth.md 3.2). */
#ifndef AZ_OAUTH_REGISTRATION_CIMD_H
#define AZ_OAUTH_REGISTRATION_CIMD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* True if a client_id is the address of a metadata document: it begins with https://, or with
 * http:// where SVC_CIMD_ALLOW_INSECURE_LOCALHOST is true. */
bool cimd_is_address(const struct op *op, const char *client_id);

/*
 * Resolve the client of an address. If the kept document is too old it is fetched again, checked,
 * and read into a struct client of registration CIMD (id of its row, or 0 if there is none yet). An
 * ADMIN row of that name takes precedence, and nothing is fetched; a disabled row is refused. On
 * op->mem. AZ_INVALID_CLIENT: document or address break a rule, or the host does not deliver it
 * (the public text says which); AZ_BUSY: too many documents are being fetched; AZ_UNAVAILABLE: this
 * service failed.
 */
enum az_status cimd_resolve(struct op *op, const char *client_id, struct client **ret);

/*
 * Read the keys of a client from its document (`not_before`: document_get()), which is kept and
 * fetched as in cimd_resolve(): a client that changes its keys need not wait for its next
 * authorization. Either may be NULL: the document has no such member. `endpoint` was
 * called; the audit row of a changed document names it. On op->mem. The failures are those of
 * cimd_resolve().
 */
enum az_status cimd_keys(struct op *op, const char *client_id, int64_t not_before,
                         const char *endpoint, const json_t **ret_jwks, const char **ret_uri);

/* Create or update the row of such a client, so that a code can be issued for it; set id and
 * version. Concurrent calls make one row. AZ_UNAVAILABLE also means that there are already
 * SVC_DYNAMIC_CLIENTS_MAX clients that registered themselves. */
enum az_status cimd_store(struct op *op, struct client *client);

#endif
