/* What the grants of /token share: their parameters, another try when the client was stale, and the
 * answer. */
#ifndef AZ_OAUTH_GRANT_H
#define AZ_OAUTH_GRANT_H

#include "http/request.h"
#include "token/issue.h"

/* RFC 8707: one token has one resource. Equal repetitions count once, two different ones are
 * AZ_INVALID_TARGET (decisions.md); NULL when none was sent. */
enum az_status grant_read_resource(struct request *req, const char **ret);

/* The asked scopes (NULL: none were) within the registered ceiling; the registered ones are the
 * default (policy.md 6.2). */
enum az_status grant_read_scopes(struct request *req, const char *asked,
                                 struct issue_question *question);

/*
 * What a family was authorized for, narrowed by `resource` and, with `types`, by resource_types of
 * this request, each of which must be within it (AZ_INVALID_TARGET). authorization_details may only
 * come as they were authorized.
 */
enum az_status grant_read_family(struct request *req, const struct grant_row *grant, bool types,
                                 struct issue_question *question);

/*
 * What is known of a family's client against the client that authenticated: AZ_STALE without a
 * fault when the cached row is stale, so that no refusal rests on it. Notes flow and subject for
 * the audit. AZ_OK says nothing else of the family.
 */
enum az_status grant_check_client(struct request *req, const struct grant_row *grant);

/* The part of a question that is the request's; flow_id NULL makes one. */
void grant_frame(struct request *req, const char *flow_id, const char *grant_type,
                 struct issue_question *question);

/* AZ_UNAUTHORIZED_CLIENT when the client registered grant types and this one is not among
 * them. */
enum az_status grant_check_registered(struct request *req, const char *grant_type);

/* Whether the client registered no grant types, or this one too. */
bool grant_registered(const struct client *client, const char *grant_type);

/*
 * Runs a grant; while it says AZ_STALE (the client as cached is stale), authenticates against the
 * row as it is now and runs it again, a few times. Then answers (specification 2.12).
 */
enum az_status grant_run(struct request *req,
                         enum az_status (*attempt)(struct request *req, struct issued *ret));

#endif
