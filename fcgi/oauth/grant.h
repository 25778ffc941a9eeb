/* The functions of the grants (the rows of grants.c), and the steps that they share with each other
 * and with the preview of /authorize (oidc/flow_preview.h). */
#ifndef AZ_OAUTH_GRANT_H
#define AZ_OAUTH_GRANT_H

#include "http/route.h"
#include "token/issue.h"

struct grant;

/* The grant of CIBA Core 10.1, at /token and at /bc-authorize. */
#define GRANT_CIBA "urn:openid:params:grant-type:ciba"

/* RFC 6749 4.4, 4.1.3 and 6, and CIBA Core 10.1. */
enum az_status grant_client_credentials(struct request *req, struct issued *ret);
enum az_status grant_authorization_code(struct request *req, struct issued *ret);
enum az_status grant_refresh_token(struct request *req, struct issued *ret);
enum az_status grant_ciba(struct request *req, struct issued *ret);

/* Refuse a public client for a grant that needs a confidential one, and a client that registered
 * grant types without this one: AZ_UNAUTHORIZED_CLIENT. The cached row alone is not enough to
 * refuse a client. */
enum az_status grant_check_confidential(struct request *req, const struct grant *grant);
enum az_status grant_check_registered(struct request *req, const struct grant *grant);

/* RFC 8693. */
enum az_status grant_token_exchange(struct request *req, struct issued *ret);

/* Read the resource (RFC 8707), NULL if none was sent. A token has one resource: equal repetitions
 * count once, and two different ones are AZ_INVALID_TARGET. A grant with the parameter `audience`
 * (RFC 8693 2.1) takes it as another name of `resource`. */
enum az_status grant_read_resource(struct request *req, const char **ret);

/* Set the requested resource and resource_types. */
enum az_status grant_read_target(struct request *req, struct issue_question *question);

/* Set all that a request asks for, with the client's default for scopes that it does not name. No
 * other token limits it. */
enum az_status grant_read_request(struct request *req, struct issue_question *question);

/*
 * Set the requested scopes, which must be within those of `granted` (RFC 6749 6, RFC 8693 2.1), or
 * all of these if none were sent. Scopes that are no longer registered for the client are left out.
 * Scopes of `ignored` (ending with NULL, or NULL) that are outside are left out too.
 * AZ_INVALID_SCOPE: another one is outside.
 */
enum az_status grant_narrow_scopes(struct request *req, const char *granted,
                                   const char *const *ignored, struct issue_question *question);

/* Set the requested scopes (NULL if the client sent none) within the registered ceiling. The
 * registered scopes are the default (policy.md 6.2). */
enum az_status grant_read_scopes(struct request *req, const char *asked,
                                 struct issue_question *question);

/*
 * Set what a request may narrow: `wide` holds what was authorized, *ret is `details` of the request
 * if it sent authorization_details, else `wide`. AZ_INVALID_AUTHORIZATION_DETAILS, with the name of
 * the entry: they give more than `wide` (RFC 9396 6), or `wide` has none.
 */
enum az_status grant_narrow_details(struct request *req, json_t *wide, json_t **ret);

/*
 * Likewise for resource and, with `types`, resource_types. A token for one resource cannot become
 * one for another or for all. AZ_INVALID_TARGET: outside what was authorized (RFC 8707 2.2).
 */
enum az_status grant_narrow_target(struct request *req, const char *resource,
                                   json_t *resource_types, bool types,
                                   struct issue_question *question);

/* Set what a family was authorized for, narrowed by resource, authorization_details and, with
 * `types`, resource_types of this request. The family keeps all of it for the next refresh. */
enum az_status grant_read_family(struct request *req, const struct grant_row *grant, bool types,
                                 struct issue_question *question);

/*
 * Compare the family's client as stored with the client that authenticated. AZ_STALE without a
 * fault: the cached row is out of date, so nothing may be refused because of it. Also set the flow
 * and the subject of the audit row. AZ_OK does not mean that the family is the client's.
 */
enum az_status grant_check_client(struct request *req, const struct grant_row *grant);

/* Return the thumbprint of the key of the request's DPoP proof; NULL: there is no good proof. */
const char *grant_jkt(const struct request *req);

/* Issue the first tokens of a family that may be redeemed: for a code, or for an approval. `types`:
 * the request may narrow resource_types too. Returns what token_issue() does. */
enum az_status grant_issue_first(struct request *req, const struct issue_family *family, bool types,
                                 struct issued *ret);

/*
 * Set *ret to the network of a request in the form of rows, written to `octets`, or to NULL if it
 * is not known: the whole IPv4 address, or the /64 of IPv6 (world.md R2). Loopback is no network,
 * because every program of the host has it, and behind a proxy that SVC_TRUSTED_PROXY_COUNT does
 * not count no address is the client's.
 */
enum az_status grant_network(struct request *req, const unsigned char family[UUID7_OCTETS],
                             unsigned char octets[GRANT_NET_OCTETS], const unsigned char **ret);

/* Set the part of a question that follows from the request, and note for the audit row what the
 * question asks for: its resource, types and details are set before. A NULL flow_id starts a new
 * flow. */
void grant_frame(struct request *req, const char *flow_id, struct issue_question *question);

/* True if the client registered no grant types, or this one among others. */
bool grant_registered(const struct client *client, const char *grant_type);

#endif
