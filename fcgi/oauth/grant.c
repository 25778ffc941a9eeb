#include "config.h"

#include "oauth/grant.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/network.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "http/address.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/default_scope.h"
#include "oauth/dpop/dpop.h"
#include "oauth/grants.h"
#include "oauth/parameters/audience.h"
#include "oauth/parameters/parameters.h"
#include "policy/decide/details.h"
#include "policy/decide/registry.h"

/* True if the grant of the request has a parameter of this name. A form may have those of other
 * grants beside its own; they are ignored. */
static bool
grant_has_param(struct request *req, const char *name)
{
    const char *type = request_param(req, "grant_type");
    const struct grant *grant = type != NULL ? grant_of_type(type) : NULL;
    for (size_t i = 0; grant != NULL && grant->params[i].name != NULL; i++)
        if (strcmp(grant->params[i].name, name) == 0)
            return true;
    return false;
}

enum az_status
grant_read_resource(struct request *req, const char **ret)
{
    const char *resource = NULL;
    bool audience = grant_has_param(req, "audience");
    for (size_t i = 0; i < req->params; i++) {
        if (strcmp(req->param[i].name, "resource") != 0
            && !(audience && strcmp(req->param[i].name, "audience") == 0))
            continue;
        const char *value;
        enum az_status st = resource_read(&req->op, req->param[i].value, &value);
        if (st != AZ_OK)
            return st;
        if (resource != NULL && !resource_equal(resource, value))
            return op_fail(&req->op, AZ_INVALID_TARGET,
                           "Only one resource can be requested per token", NULL);
        if (resource == NULL)
            resource = value;
    }
    *ret = resource;
    return AZ_OK;
}

enum az_status
grant_read_target(struct request *req, struct issue_question *question)
{
    enum az_status st = grant_read_resource(req, &question->resource);
    return st == AZ_OK ? resource_types_parse(&req->op, request_param(req, "resource_types"),
                                              &question->resource_types)
                       : st;
}

enum az_status
grant_read_request(struct request *req, struct issue_question *question)
{
    enum az_status st = grant_read_target(req, question);
    if (st == AZ_OK)
        st = details_parse(&req->op, request_param(req, "authorization_details"),
                           &question->details);
    if (st == AZ_OK)
        st = default_resource_read(&req->op, req->client, request_param(req, "scope"),
                                   question->details, &question->resource);
    if (st == AZ_OK)
        st = grant_read_scopes(req, request_param(req, "scope"), question);
    if (st == AZ_OK && request_param(req, "scope") == NULL)
        st = default_scope_read(&req->op, req->client, &question->default_scopes);
    return st;
}

/* True if the registered scope limits the request. A client that registered itself had to name
 * scopes before it knew those of managed resources: the SDK of MCP clients registers those of the
 * first challenge alone. Policy decides there (decisions.md "Gateway"). */
static bool
has_ceiling(const struct request *req, const struct issue_question *question)
{
    const struct client *client = req->client;
    return client->scope != NULL
           && (strcmp(client->registration, "ADMIN") == 0
               || !audience_is_gateway(req->op.az->cfg->oidc_issuer, question->resource));
}

enum az_status
grant_read_scopes(struct request *req, const char *asked, struct issue_question *question)
{
    bool limited = has_ceiling(req, question);
    json_t *words, *all;
    enum az_status st = scope_parse(&req->op, req->client->scope, &all);
    if (st == AZ_OK)
        st = scope_parse(&req->op, asked, &words);
    if (st != AZ_OK)
        return st;
    if (limited)
        question->ceiling = all;
    question->scopes = limited ? words_array_within(req->op.mem, words, all) : words;
    question->default_scopes = asked == NULL ? all : jsonx_own(req->op.mem, json_array());
    if (question->scopes == NULL || question->default_scopes == NULL)
        return op_no_memory(&req->op);
    /* Details decide (specification 4.2): scopes beside them may all be left out. */
    if (json_array_size(words) > 0 && json_array_size(question->scopes) == 0
        && question->details == NULL)
        return op_fail(&req->op, AZ_INVALID_SCOPE,
                       "None of the requested scopes is registered for the client", NULL);
    return AZ_OK;
}

/* Return the scopes without those of `ignored` that were not granted, or NULL if out of memory. */
static json_t *
without_ignored(struct request *req, const json_t *words, const json_t *granted,
                const char *const *ignored)
{
    struct jsonx_build kept = {jsonx_own(req->op.mem, json_array()), false};
    size_t index;
    json_t *word;
    json_array_foreach (words, index, word) {
        const char *text = json_string_value(word);
        if (!words_has(ignored, text) || words_array_has(granted, text))
            jsonx_append(&kept, json_incref(word));
    }
    return jsonx_built(&kept);
}

enum az_status
grant_narrow_scopes(struct request *req, const char *granted, const char *const *ignored,
                    struct issue_question *question)
{
    const char *asked = request_param(req, "scope");
    json_t *within = words_split(req->op.mem, granted), *words;
    if (within == NULL)
        return op_no_memory(&req->op);
    enum az_status st = scope_parse(&req->op, asked, &words);
    if (st != AZ_OK)
        return st;
    if (asked != NULL && ignored != NULL
        && ((words = without_ignored(req, words, within, ignored)) == NULL
            || (asked = words_join(req->op.mem, words)) == NULL))
        return op_no_memory(&req->op);
    if (!words_array_is_within(words, within))
        return op_fail(&req->op, AZ_INVALID_SCOPE, "The scope exceeds the scope that was granted",
                       NULL);
    st = grant_read_scopes(req, asked != NULL ? asked : granted, question);
    if (st != AZ_OK)
        return st;
    question->ceiling = question->ceiling != NULL
                            ? words_array_within(req->op.mem, within, question->ceiling)
                            : within;
    question->default_scopes = jsonx_own(req->op.mem, json_array());
    /* Without memory there must not be no ceiling. */
    return question->ceiling != NULL && question->default_scopes != NULL ? AZ_OK
                                                                         : op_no_memory(&req->op);
}

enum az_status
grant_narrow_details(struct request *req, json_t *wide, json_t **ret)
{
    json_t *details;
    size_t entry;
    enum az_status st =
        details_parse(&req->op, request_param(req, "authorization_details"), &details);
    if (st != AZ_OK)
        return st;
    if (!details_within(details, wide, &entry))
        return op_fail(&req->op, AZ_INVALID_AUTHORIZATION_DETAILS,
                       talloc_asprintf(req->op.mem, "%s exceeds what was authorized",
                                       details_name(req->op.mem, details, entry)),
                       NULL);
    *ret = details != NULL ? details : wide;
    return AZ_OK;
}

enum az_status
grant_narrow_target(struct request *req, const char *resource, json_t *resource_types, bool types,
                    struct issue_question *question)
{
    const char *named;
    json_t *named_types = NULL;
    enum az_status st = grant_read_resource(req, &named);
    if (st == AZ_OK && types)
        st = resource_types_parse(&req->op, request_param(req, "resource_types"), &named_types);
    if (st != AZ_OK)
        return st;
    if (named != NULL && (resource == NULL || !resource_equal(named, resource)))
        return op_fail(&req->op, AZ_INVALID_TARGET, "The resource was not authorized", NULL);
    if (!words_array_is_within(named_types, resource_types))
        return op_fail(&req->op, AZ_INVALID_TARGET, "A resource type was not authorized", NULL);
    question->resource = resource;
    question->resource_types = json_array_size(named_types) > 0 ? named_types : resource_types;
    return AZ_OK;
}

enum az_status
grant_read_family(struct request *req, const struct grant_row *grant, bool types,
                  struct issue_question *question)
{
    enum az_status st =
        grant_narrow_target(req, grant->resource, grant->resource_types, types, question);
    return st == AZ_OK ? grant_narrow_details(req, grant->details, &question->details) : st;
}

enum az_status
grant_check_client(struct request *req, const struct grant_row *grant)
{
    const struct client *client = req->client, *owner = &grant->client;
    if (!grant->found)
        return AZ_OK;
    if (strcmp(owner->client_id, client->client_id) == 0
        && (owner->id != client->id || owner->version != client->version || !owner->enabled))
        return AZ_STALE;
    req->proved = true;
    req->audit.flow_id = grant->flow_id;
    if (owner->id == client->id)
        req->audit.subject_id = grant->subject;
    return AZ_OK;
}

const char *
grant_jkt(const struct request *req)
{
    return req->dpop != NULL ? req->dpop->jkt : NULL;
}

void
grant_frame(struct request *req, const char *flow_id, struct issue_question *question)
{
    question->grant_type = request_param(req, "grant_type");
    question->default_ttl = req->op.az->cfg->access_token_validity;
    question->jkt = grant_jkt(req);
    req->audit.grant_type = question->grant_type;
    req->audit.resource = question->resource;
    req->audit.resource_types = question->resource_types;
    req->audit.details = question->details;
    question->frame = (struct question){
        .endpoint = req->route->path,
        .ip = req->ip,
        .user_agent = req->user_agent,
        .flow_id = flow_id != NULL ? flow_id : random_uuid7(req->op.mem, req->op.now_ms),
        .client = req->client,
        .auth_method = req->client_method,
        .dpop = {req->dpop != NULL, grant_jkt(req), req->client->dpop_bound},
    };
}

bool
grant_registered(const struct client *client, const char *grant_type)
{
    const char **at = client->grant_types;
    if (at == NULL)
        return true;
    while (*at != NULL && strcmp(*at, grant_type) != 0)
        at++;
    return *at != NULL;
}

enum az_status
grant_check_confidential(struct request *req, const struct grant *grant)
{
    if (!grant->confidential_only || !client_is_public(req->client))
        return AZ_OK;
    enum az_status st = client_authenticate_again(req);
    if (st != AZ_OK || !client_is_public(req->client))
        return st;
    return op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT, "Public clients may not use this grant", NULL);
}

enum az_status
grant_check_registered(struct request *req, const struct grant *grant)
{
    if (grant_registered(req->client, grant->type))
        return AZ_OK;
    enum az_status st = client_authenticate_again(req);
    if (st != AZ_OK || grant_registered(req->client, grant->type))
        return st;
    return op_fail(&req->op, AZ_UNAUTHORIZED_CLIENT,
                   "The client is not registered for this grant type", NULL);
}

/* True if the address may be that of a proxy: one that is not counted passed the request on, or the
 * one that is counted did not say for whom. */
static bool
may_be_proxy(const struct request *req)
{
    bool named = req->io->variable(req->io, "HTTP_X_FORWARDED_FOR") != NULL;
    return req->op.az->cfg->trusted_proxy_count > 0
               ? !named
               : named || req->io->variable(req->io, "HTTP_FORWARDED") != NULL;
}

enum az_status
grant_network(struct request *req, const unsigned char family[UUID7_OCTETS],
              unsigned char octets[GRANT_NET_OCTETS], const unsigned char **ret)
{
    unsigned char address[ADDRESS_OCTETS_MAX], mac[SHA256_OCTETS];
    size_t length = address_counted(req->ip, address);
    *ret = NULL;
    if (length == 0 || network_is_loopback(req->ip) || may_be_proxy(req))
        return AZ_OK;
    if (hmac_sha256(family, UUID7_OCTETS, address, length, mac) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "HMAC of a network failed");
    memcpy(octets, mac, GRANT_NET_OCTETS);
    *ret = octets;
    return AZ_OK;
}

enum az_status
grant_issue_first(struct request *req, const struct issue_family *family, bool types,
                  struct issued *ret)
{
    const struct grant_row *grant = family->grant;
    struct issue_question question = {.grant_type = NULL};
    unsigned char octets[GRANT_NET_OCTETS];
    const unsigned char *net = NULL;
    enum az_status st = grant_read_family(req, grant, types, &question);
    if (st == AZ_OK)
        st = grant_read_scopes(req, grant->scope, &question);
    if (st == AZ_OK && family->refreshable && client_is_public(req->client))
        st = grant_network(req, grant->id, octets, &net);
    if (st != AZ_OK)
        return st;
    const struct question_user user = token_user(grant);
    struct issue_family placed = *family;
    placed.place.net = net;
    question.subject_id = grant->subject;
    question.user = &user;
    grant_frame(req, grant->flow_id, &question);
    request_fill_audit(req, 200, "allowed");
    return token_issue(&req->op, &question, &placed, &req->audit, &req->audited, ret);
}
