/* The authorization server of an upstream for one managed resource of type oauth_link: its
 * endpoints, and our client there (gateway-admin.md 3.5). */
#ifndef AZ_GATEWAY_LINK_PROVIDER_H
#define AZ_GATEWAY_LINK_PROVIDER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"
#include "crypto/digest.h"

struct managed_resource;
struct managed_secrets;

/* Memory of op->mem or of the resource. NULL if the resource has no provider. */
struct link_provider {
    const char *issuer; /* expected in iss (RFC 9207), or NULL if unknown */
    bool sends_iss;     /* every authorization response has iss */
    const char *authorization, *token, *revocation, *registration; /* endpoints */
    const char *resource;           /* parameter of RFC 8707, or NULL if it is not sent */
    const json_t *scopes_supported; /* of the upstream's metadata (RFC 9728 2), or NULL */
    const char *client_id;          /* our client */
    const char *secret;             /* its secret, or NULL */
    const char *private_key;        /* its key, or NULL */
    const char *auth_method; /* client_secret_basic, client_secret_post, private_key_jwt or none */
    bool registered;         /* we registered it ourselves */
};

/*
 * Find the endpoints of a resource, from its configuration or by discovery, and our client there,
 * which is registered if it must be. AZ_UPSTREAM_UNREACHABLE, AZ_UPSTREAM_TIMEOUT: discovery or
 * registration has no answer; AZ_UPSTREAM_INVALID: an answer that cannot be used; AZ_UPSTREAM_AUTH:
 * this service is no client there and cannot register. `not_before` (milliseconds since 1970; 0: no
 * such condition): which authorization server the upstream has is asked anew if it was asked
 * before.
 */
enum az_status link_provider_get(struct op *op, const struct managed_resource *resource,
                                 const struct managed_secrets *secrets, int64_t not_before,
                                 struct link_provider *ret);

/* Return a warning for the operator if the upstream does not name the configured issuer among its
 * authorization servers, which it is asked anew; NULL: it does, or names none now. */
const char *link_issuer_warning(struct op *op, const struct managed_resource *resource);

/*
 * Fill *ret, an array, if it is empty and the upstream is found by its metadata: with the scopes of
 * the upstream's challenge, else with scopes_supported (MCP, authorization, "Scope Selection
 * Strategy").
 */
enum az_status link_provider_scopes(struct op *op, const struct managed_resource *resource,
                                    const struct link_provider *provider, json_t **ret);

/*
 * True if the authorization server of a resource sends people to the redirect address that several
 * resources share, because our client there was registered with it: the operator says so, or the
 * resource was stored before each one had its own address and the operator has not said otherwise.
 */
bool link_redirect_is_shared(const struct managed_resource *resource);

/*
 * Return the redirect address of a resource, or with NULL the shared one; on op->mem, or NULL if
 * out of memory. Each resource has its own, so that an answer tells which server it comes from: at
 * one address for all, a malicious server could send a person on to an honest one, whose answer
 * would then count as its own (mix-up, RFC 9700 4.4).
 */
const char *link_callback_uri(struct op *op, const char *name);

/*
 * Return the client_id that is the address of our metadata document for a resource, or with NULL
 * for those that share an address; on op->mem, or NULL if out of memory. A document has one
 * redirect address: one with the addresses of all resources would let a malicious server have the
 * code of another one sent to its own address.
 */
const char *link_client_metadata_uri(struct op *op, const char *name);

/* Return the name of a resource for the two functions above: NULL if it shares an address. */
const char *link_redirect_name(const struct managed_resource *resource);

/*
 * Compute the SHA-256 of the configuration that decides where the secrets of a connection go: the
 * upstream and its authorization server. A connection that was made with another one does not
 * count, so that a changed resource never sends tokens to a party that the person did not choose.
 */
enum az_status link_binding(struct op *op, const struct managed_resource *resource,
                            unsigned char ret[SHA256_OCTETS]);

/* True if tokens of an issuer (NULL if it is unknown) may be shown to a provider. */
bool link_is_issuer(const struct link_provider *provider, const char *issuer);

/* Write a digest of the binding and of the server that was found: a code is redeemed where the
 * browser was sent. */
enum az_status link_binding_at(struct op *op, const struct link_provider *provider,
                               const unsigned char binding[SHA256_OCTETS],
                               unsigned char ret[SHA256_OCTETS]);

#endif
