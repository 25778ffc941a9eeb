/* Metadata of the authorization server of an upstream (RFC 8414, RFC 9728): its addresses, and the
 * rules that it must keep. */
#ifndef AZ_GATEWAY_LINK_METADATA_H
#define AZ_GATEWAY_LINK_METADATA_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

#include "base/op.h"

struct managed_resource;

/* Return the address of a well-known document of an issuer or resource. */
enum link_well_known {
    LINK_INSERTED, /* between host and path: RFC 8414 3.1, RFC 9728 3.1 */
    LINK_APPENDED, /* after the path: OpenID Connect Discovery 4 */
};

/* Return the address of the well-known document `name` of an http or https address; NULL if the
 * address is of another form or out of memory. */
const char *link_well_known_url(TALLOC_CTX *mem, const char *address, const char *name,
                                enum link_well_known where);

/* True if a resource identifier covers an address: the origins are the same, and the path of the
 * identifier is the path of the address or a parent of it. */
bool link_resource_covers(TALLOC_CTX *mem, const char *identifier, const char *address);

/*
 * True if two issuers of upstreams are one: equal, or different in the lone slash of an empty path
 * alone, which names the same place (RFC 3986 6.2.3). Stock servers write both, one in their list
 * and one in their metadata; RFC 8414 3.3 wants equal octets. Never for the iss of an answer (RFC
 * 9207 2.4) or of an ID token.
 */
bool link_issuer_is_same(const char *one, const char *other);

/* Fetch the metadata of an issuer. The document must name that issuer. AZ_UPSTREAM_UNREACHABLE if
 * no metadata can be fetched. */
enum az_status link_metadata_get(struct op *op, const char *issuer, const json_t **ret);

/*
 * Fetch the metadata of the protected resource of an upstream, which must cover its address: at the
 * two well-known places (RFC 9728 3.1), then where the upstream's challenge names it (5.1). An
 * address that is not https and public is not fetched, as for all others. What was fetched before
 * `not_before` (document_get()) is fetched anew.
 */
enum az_status link_resource_metadata_get(struct op *op, const struct managed_resource *resource,
                                          int64_t not_before, const json_t **ret);

/*
 * Ask the upstream without a credential for its challenge (WWW-Authenticate of a 401). *ret is NULL
 * if it sends no challenge. AZ_UPSTREAM_UNREACHABLE or AZ_UPSTREAM_TIMEOUT if it does not
 * answer.
 */
enum az_status link_challenge_get(struct op *op, const struct managed_resource *resource,
                                  const char **ret);

#endif
