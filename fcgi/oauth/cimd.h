/* Clients that are known by a metadata document at their client_id (draft-ietf-oauth-client-id-
 * metadata-document; specification 4.2, oauth.md 3.2). */
#ifndef AZ_OAUTH_CIMD_H
#define AZ_OAUTH_CIMD_H

#include <stdbool.h>

#include "base/op.h"
#include "store/clients/clients.h"

/* Whether a client_id is the address of a metadata document: it begins with https://, or with
 * http:// where SVC_CIMD_ALLOW_INSECURE_LOCALHOST is true. */
bool cimd_is_address(const struct op *op, const char *client_id);

/*
 * What is wrong with such an address, as a text for people, or NULL: path other than "/", no
 * fragment, userinfo, dot segment (also %2e), at most 256 characters (ClientDto.clientId).
 */
const char *cimd_address_fault(struct op *op, const char *client_id);

/*
 * The client of an address: its document is fetched when the kept one is too old, checked, and read
 * into a struct client of registration CIMD (id of its row, or 0 when it has none yet). An ADMIN
 * row of that name stands for itself and nothing is fetched; a disabled row refuses. On op->mem.
 * AZ_INVALID_CLIENT: document or address break a rule, or its host does not give it (public text
 * says which); AZ_BUSY: too many are being fetched; AZ_UNAVAILABLE: we cannot now.
 */
enum az_status cimd_resolve(struct op *op, const char *client_id, struct client **ret);

/* Makes or renews the row of such a client, so that a code can be issued for it; sets id and
 * version. One row however many do it at once. AZ_UNAVAILABLE also for a new one when there are
 * SVC_DYNAMIC_CLIENTS_MAX clients that registered themselves. */
enum az_status cimd_store(struct op *op, struct client *client);

#endif
