/* Our own client at the authorization server of an upstream: its metadata, as a document for those
 * that fetch it, and registration at the others (RFC 7591). */
#ifndef AZ_GATEWAY_LINK_REGISTRATION_H
#define AZ_GATEWAY_LINK_REGISTRATION_H

#include <jansson.h>

#include "gateway/link/provider.h"
#include "http/request.h"

/* Longest answer of a registration endpoint, in octets. Usual answers have 1 kB. */
#define LINK_REGISTRATION_MAX 65536
/* Longest client_id and client_secret that a server may give us, in octets. */
#define LINK_CLIENT_ID_MAX 2048
#define LINK_CLIENT_SECRET_MAX 2048

/* Serve our metadata document for a resource (/.well-known/svc-gateway-client/{resource}), or for
 * those that share a redirect address (/.well-known/svc-gateway-client.json). */
enum az_status link_client_metadata_handle(struct request *req);

/*
 * Find our registration at the server of a resource, or register: once, of all processes. Sets
 * client_id, secret, auth_method and registered. AZ_UPSTREAM_AUTH if the server offers no
 * registration or refuses ours.
 */
enum az_status link_registration_need(struct op *op, const struct managed_resource *resource,
                                      const json_t *metadata, struct link_provider *provider);

#endif
