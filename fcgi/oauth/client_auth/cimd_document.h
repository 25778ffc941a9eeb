/* The rules of client metadata documents: the form of a client_id that is an address, and the
 * members of its document (specification 4.2, oauth.md 3.2,
 * draft-ietf-oauth-client-id-metadata-document). This module does not depend on HTTP. */
#ifndef AZ_OAUTH_REGISTRATION_CIMD_DOCUMENT_H
#define AZ_OAUTH_REGISTRATION_CIMD_DOCUMENT_H

#include <jansson.h>

#include "base/status.h"
#include "store/clients/clients.h"

/* Limits of ClientDto (specification 8), so that the row can be shown and stored. */
#define CIMD_ADDRESS_MAX 256 /* characters of the client_id, all of them ASCII */
#define CIMD_NAME_MAX 256    /* characters of client_name */
#define CIMD_URI_MAX 512     /* characters of client_uri and the like */
#define CIMD_METHOD_MAX 64   /* characters of token_endpoint_auth_method */

/* Most grant_types and response_types of one document, and characters of each; the IANA registry
 * has about ten. They are stored in a row and sent to policy. */
#define CIMD_TYPES_MAX 20
#define CIMD_TYPE_MAX 256

/*
 * Return the fault of the address as it was sent, as a text that fits after its name, or NULL.
 * `http_hosts`: hosts that may be named with http://, comma-separated and without port, or NULL.
 */
const char *cimd_document_address_fault(const char *text, const char *http_hosts);

/*
 * Read the document at `url`: auth_method, name, uri, logo, scope, redirect_uris, grant_types and
 * algorithm of ID tokens of a public client. The rest of *ret stays unchanged. Texts live as long
 * as the document, lists on mem. AZ_INVALID: *ret_why says which rule is broken, on mem or
 * constant; it contains nothing of the document but numbers. AZ_SERVER_ERROR: no memory.
 */
enum az_status cimd_document_read(TALLOC_CTX *mem, const char *url, const json_t *document,
                                  long max_redirect_uris, const char **ret_why, struct client *ret);

#endif
