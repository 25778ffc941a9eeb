/*
 * THE routing table: the whole HTTP surface, one row per endpoint. The dispatcher (http/serve/)
 * does everything a row declares: credential, body, parameters, rate limit, cache headers, audit
 * row, error dialect. The table is the security review: a path without a row is not served. Each
 * member of a row has a line, so that a change of one is a line of a review.
 */
#include "config.h"

#include "admin/admin_keys.h"
#include "admin/attention.h"
#include "admin/audit/audit_export.h"
#include "admin/audit/audit_logs.h"
#include "admin/audit/audit_proof.h"
#include "admin/audit/audit_search.h"
#include "admin/audit/governance.h"
#include "admin/console_link.h"
#include "admin/console_person.h"
#include "admin/console_session.h"
#include "admin/credential.h"
#include "admin/gateway/connections.h"
#include "admin/gateway/connector_sync.h"
#include "admin/gateway/connectors.h"
#include "admin/gateway/managed_resources.h"
#include "admin/health.h"
#include "admin/keys.h"
#include "admin/metrics.h"
#include "admin/object_owners.h"
#include "admin/people/client_dto.h"
#include "admin/people/client_list.h"
#include "admin/people/clients.h"
#include "admin/people/home_issuer.h"
#include "admin/people/identity_provider_check.h"
#include "admin/people/identity_provider_dto.h"
#include "admin/people/identity_providers.h"
#include "admin/people/tokens.h"
#include "admin/policy/bundle_audit.h"
#include "admin/policy/bundles.h"
#include "admin/policy/controls.h"
#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_bundle.h"
#include "admin/policy/policy_data.h"
#include "admin/policy/policy_evaluate.h"
#include "admin/policy/policy_impact.h"
#include "admin/policy/policy_payload.h"
#include "admin/policy/policy_rules.h"
#include "admin/policy/policy_shadow.h"
#include "admin/resource/resource_body.h"
#include "admin/resource/resource_page.h"
#include "admin/restore_fence.h"
#include "admin/settings.h"
#include "answers.h"
#include "authzen/access_request.h"
#include "authzen/configuration.h"
#include "authzen/evaluation.h"
#include "gateway/check/asker.h"
#include "gateway/check/check.h"
#include "gateway/check/shape.h"
#include "gateway/door.h"
#include "gateway/link/callback.h"
#include "gateway/link/connect.h"
#include "gateway/link/page.h"
#include "gateway/link/registration.h"
#include "gateway/mcp/endpoint.h"
#include "gateway/mcp/session.h"
#include "gateway/mcp/session_stream.h"
#include "gateway/mcp/sync_admin.h"
#include "gateway/mcp/try_admin.h"
#include "gateway/metadata.h"
#include "gateway/proxy/proxy.h"
#include "http/api/document.h"
#include "http/api/reader.h"
#include "http/route.h"
#include "managed/document.h"
#include "oauth/ciba/bc_authorize.h"
#include "oauth/ciba/bc_callback.h"
#include "oauth/ciba/ciba_rules.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/introspect.h"
#include "oauth/registration/register.h"
#include "oauth/registration/register_members.h"
#include "oauth/revoke.h"
#include "oauth/token.h"
#include "oidc/account.h"
#include "oidc/authorize.h"
#include "oidc/callback.h"
#include "oidc/ciba_page.h"
#include "oidc/consent.h"
#include "oidc/discovery.h"
#include "oidc/home.h"
#include "oidc/logout.h"
#include "oidc/userinfo.h"
#include "policy/engine/engine.h"
#include "store/db/rows/object_owners.h"
#include "store/gateway/connections_list.h"
#include "store/gateway/connectors.h"
#include "store/overview/attention.h"
#include "store/people/admin_keys.h"
#include "store/people/consents.h"
#include "store/people/people_list.h"
#include "store/people/session_ends.h"
#include "store/policy/engines.h"
#include "store/policy/shadow.h"
#include "store/tokens/ciba_list.h"
#include "store/uma/uma_lists.h"
#include "uma/delegations.h"
#include "uma/owner.h"
#include "uma/permission.h"
#include "uma/uma_resources.h"

const struct route_credential credential_none = {.check = NULL};

/* The handler checks the access token itself, with the rows that it reads. */
static const struct route_credential credential_bearer = {
    .check = NULL, .schemes = (const char *const[]){"token", NULL}
};

/* Rows in a list when the request gives neither page nor size. */
#define LISTED_MAX 1000

/* The resources of the admin API that need no code of their own (admin/resource/README), and the
 * filters of their lists, in the order of the parameters of the statement. */
static const struct admin_resource admin_keys_resource = {.rows = &admin_key_rows};
static const struct admin_resource connectors_resource = {.rows = &connectors_rows};
static const struct admin_resource consents_resource = {
    .rows = &consent_rows, .key_is_number = true, .list_max = LISTED_MAX};
static const struct admin_resource engines_resource = {.rows = &engine_rows};
static const struct admin_resource sessions_resource = {.rows = &session_rows,
                                                        .list_max = LISTED_MAX};
static const struct admin_resource people_resource = {.rows = &people_rows,
                                                      .list_max = RESOURCE_PAGE_SIZE};
static const struct admin_resource delegations_resource = {.rows = &delegation_rows,
                                                           .list_max = RESOURCE_PAGE_SIZE};
static const struct admin_resource uma_resources_resource = {.rows = &uma_resource_rows,
                                                             .list_max = RESOURCE_PAGE_SIZE};
static const struct admin_resource ciba_waiting_resource = {.rows = &ciba_waiting_rows,
                                                            .list_max = RESOURCE_PAGE_SIZE};
static const struct route_param consents_params[] = {
    {.name = "subjectId",                   .help = "Only those of this user"},
    {.name = "clientId",                                     .help = "Only those for this client"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};
/* clang-format off */
static const struct route_param sessions_params[] = {
    {.name = "subjectId", .help = "Only those of this user"},
    {.name = "idpId", .help = "Only those of this identity provider"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};
/* clang-format on */
static const struct route_param people_params[] = {
    {.name = "q",
     .help = "A part of the subject, the name or the address, in any case, of one of the 10,000 "
             "people who signed in last; of any other the whole subject or address"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL          },
};
static const struct route_param delegations_params[] = {
    {.name = "subjectId",                        .help = "Only those by or to this person"},
    {.name = "clientId",                                          .help = "Only those by or to this client"},
    {.name = "resourceId",.help = "Only those of this UMA resource"},
    {.name = "state",
     .words = delegation_states,
     .help = "Only those that are live, or have ended"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL                                         },
};
static const struct route_param uma_resources_params[] = {
    {.name = "q",                         .help = "Only resources with this text in the name, in any case"},
    {.name = "subjectId",                                   .help = "Only those of this owner"},
    {.name = "clientId",.help = "Only those that this client registered"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL                 },
};
static const struct route_param ciba_waiting_params[] = {
    {.name = "subjectId",                  .help = "Only those that wait for this person"},
    {.name = "clientId",                                    .help = "Only those of this client"},
    RESOURCE_PAGE_PARAMS,
    {.name = NULL},
};

/* clang-format off */
#define ROUTE(verb, pattern, name, handler) \
    .method = verb, \
    .path = pattern, \
    .operation = name, \
    .handle = handler
#define GET(pattern, name, handler) ROUTE("GET", pattern, name, handler)
#define POST(pattern, name, handler) ROUTE("POST", pattern, name, handler)
#define PUT(pattern, name, handler) ROUTE("PUT", pattern, name, handler)
#define PATCH(pattern, name, handler) ROUTE("PATCH", pattern, name, handler)
#define DELETE(pattern, name, handler) ROUTE("DELETE", pattern, name, handler)
#define HEAD(pattern, name, handler) ROUTE("HEAD", pattern, name, handler)
#define OPTIONS(pattern, name, handler) ROUTE("OPTIONS", pattern, name, handler)

/* The members that rows of one kind have in common. A row adds what differs. */
#define PUBLIC .credential = &credential_none
#define BEARER .credential = &credential_bearer
#define METADATA PUBLIC, .cache = CACHE_OWN, .cors = CORS_OPEN
#define OAUTH .dialect = DIALECT_OAUTH, .cache = CACHE_NO_STORE, .audited = true
#define PAT .credential = &credential_pat, OAUTH, .wrong_method = AZ_UNSUPPORTED_METHOD_TYPE
#define DELEGATING .credential = &credential_delegation, OAUTH
#define LIMITED .rate_limited = true
#define OF_GATEWAY .is_on = gateway_is_on
#define BROWSER PUBLIC, .dialect = DIALECT_PAGE, .cache = CACHE_NO_STORE
#define GATEWAY_PAGE BROWSER, .is_on = gateway_is_on
/* The rows of the admin API by the least role that may use them: auditors read, and ask questions
 * that change nothing; operators write; owners make and see keys. */
#define OF_ADMIN(least) \
    .credential = &credential_admin, \
    .role = least, \
    .dialect = DIALECT_ADMIN, \
    .cache = CACHE_PRIVATE
#define ADMIN OF_ADMIN(ADMIN_ROLE_AUDITOR)
#define OF_SESSION \
    .credential = &credential_session, \
    .role = ADMIN_ROLE_AUDITOR, \
    .dialect = DIALECT_ADMIN, \
    .cache = CACHE_PRIVATE
#define ADMIN_ASK ADMIN, .audited = true
#define ADMIN_WRITE OF_ADMIN(ADMIN_ROLE_OPERATOR), .audited = true
#define ADMIN_OWNER OF_ADMIN(ADMIN_ROLE_OWNER), .audited = true
#define ENGINE .credential = &credential_bundle
#define AUDIT_PUBLIC PUBLIC, .is_on = audit_proof_is_public, .cache = CACHE_PRIVATE, LIMITED
#define HEALTH PUBLIC, .cache = CACHE_PRIVATE

/* Input: a query, a form, or a body with its largest size in octets. */
#define QUERY(accepted) .body = BODY_QUERY, .params = accepted
#define FORM(kind, accepted) .body = kind, .params = accepted, .body_max = HTTP_TOKEN_BODY_MAX
#define BODY(kind, octets) .body = kind, .body_max = octets
#define JSON BODY(BODY_JSON, HTTP_ADMIN_BODY_MAX)
#define SCHEMAS_JSON BODY(BODY_JSON_SCHEMAS, HTTP_ADMIN_BODY_MAX)
#define SMALL_JSON BODY(BODY_JSON, HTTP_TOKEN_BODY_MAX)

/* For the description of the interface (http/api): the row in one sentence, and its answers. */
#define ABOUT(text) .summary = text
#define FIELDS_OF(table) .fields = &(table)
#define ANSWERS(...) .answers = (const struct route_answer[]){__VA_ARGS__, {.status = 0}}
#define GIVES(code, table, text) {code, "application/json", &(table), false, text}
#define GIVES_LIST(table, text) {200, "application/json", &(table), true, text}
#define GIVES_JSON(text) {200, "application/json", NULL, false, text}
#define GIVES_TEXT(text) {200, "text/plain", NULL, false, text}
#define GIVES_NOTHING(code, text) {code, NULL, NULL, false, text}
#define GIVES_REDIRECT {302, NULL, NULL, false, "The browser goes on"}
#define FAILS(code, text) {code, "application/json", NULL, false, text}
#define GIVES_OTHER {303, NULL, NULL, false, "The browser goes on"}
#define LINK_FAILS \
    {403, "text/html", NULL, false, "The link belongs to another account"}, \
    {410, "text/html", NULL, false, "The link was used, or its time is over"}, \
    {502, "text/html", NULL, false, "The upstream cannot be reached, or its answer is not valid"}, \
    {504, "text/html", NULL, false, "The upstream did not answer in time"}
#define GIVES_PAGE {200, "text/html", NULL, false, "A page"}
/* Pages at which a person may have to sign in first. */
#define GIVES_SIGN_IN \
    GIVES_PAGE, \
        {502, "text/html", NULL, false, "The identity provider is not set up correctly"}

/* The endpoints of MCP clients, and their good answers. */
#define MCP_SESSION \
    BEARER, \
    .slash = true, \
    .is_on = gateway_is_on, \
    .dialect = DIALECT_GATEWAY, \
    .cache = CACHE_NO_STORE, \
    .audited = true, \
    LIMITED, \
    .cors = CORS_LISTED
#define MCP_ENDED \
    GIVES_NOTHING(204, "The session is over"), \
    FAILS(400, "The request names no session"), \
    {400, "text/html", NULL, false, "The web server refuses a malformed target"}, \
    FAILS(404, "There is no such resource, or the caller has no such session")
#define MCP_TELLS \
    {200, "text/event-stream", NULL, false, "The stream; it ends with the session or the token"}, \
    FAILS(400, "MCP-Protocol-Version names a revision that is not known"), \
    {400, "text/html", NULL, false, "The web server refuses a malformed target"}, \
    FAILS(404, "There is no such resource, or the caller has no such session"), \
    FAILS(405, "The request names no session or does not accept text/event-stream, or no stream " \
          "can be held here"), \
    FAILS(409, "The session has a stream already"), \
    FAILS(503, "Too many streams are open, or the database or the policy engine cannot be " \
          "reached; try again")
#define MCP MCP_SESSION, BODY(BODY_RAW, MCP_BODY_MAX), FIELDS_OF(mcp_message_table)
#define MCP_ANSWERS \
    GIVES(200, mcp_answer_table, "The answer of JSON-RPC"), \
    {200, "text/event-stream", NULL, false, "The same, to subscriptions/listen"}, \
    GIVES_NOTHING(202, "A notification is taken"), \
    GIVES(400, mcp_failure_table, "The message is not one of its revision"), \
    {400, "text/html", NULL, false, "The web server refuses a malformed target"}, \
    GIVES(403, mcp_failure_table, "The token lacks a scope, which the challenge names, or " \
          "policy denies it"), \
    GIVES(404, mcp_failure_table, "There is no such resource, or no such method"), \
    GIVES(500, mcp_failure_table, "The service failed"), \
    GIVES(503, mcp_failure_table, "The database or the policy engine cannot be reached; try " \
          "again")

/* Questions of web servers in front of upstreams. */
#define CHECKED \
    .credential = &credential_check, \
    .about_another = true, \
    .is_on = gateway_is_on, \
    .dialect = DIALECT_GATEWAY, \
    .cache = CACHE_NO_STORE, \
    .audited = true
#define CHECK_ANSWERS \
    GIVES_NOTHING(200, "The request may be served; X-Authz-Subject and other fields say for " \
                  "whom"), \
    FAILS(400, "The web server does not send what is needed"), \
    FAILS(401, "The caller needs a token, or a better one: the challenges are for it"), \
    FAILS(403, "The web server has no credential, or the request is denied"), \
    FAILS(429, "Too many questions about one caller (SVC_CHECK_RATE_LIMIT_REQUESTS)")
#define CHECKED_AT \
    CHECKED, \
    .arg = &check_by_target, \
    ABOUT("Tell a web server if it may serve the request whose method, host and path these are " \
          "(Envoy)"), \
    ANSWERS(CHECK_ANSWERS)

/* The resource whose rows a generic handler works on (admin/resource/resource.h). */
#define OF(resource) .arg = &(resource)

/* A request to a managed resource, by method: the routes of the resource decide. */
#define PROXIED \
    PUBLIC, \
    .is_on = gateway_is_on, \
    .dialect = DIALECT_GATEWAY, \
    .cache = CACHE_PRIVATE, \
    .body = BODY_STREAM, \
    .audited = true, \
    ABOUT("Pass a request on to a managed resource, as policy decides"), \
    ANSWERS({ROUTE_ANY_STATUS, "*/*", NULL, false, "The answer of the resource, with its " \
             "status"})

/* A file of the reader of the description (http/api/reader.h), and its answers. */
#define READER(file, mime) \
    .arg = &(file), \
    PUBLIC, \
    .cache = CACHE_OWN, \
    ANSWERS({200, mime, NULL, false, "The file"}, \
            {404, "application/json", NULL, false, "The description is switched off"})

const struct route routes[] = {
    {GET("/.well-known/openid-configuration", "getOpenIdConfiguration", discovery_handle),
     METADATA,
     ABOUT("Metadata of the service (OpenID Connect Discovery 4)"),
     ANSWERS(GIVES(200, answer_metadata, "The metadata"))},
    {GET("/.well-known/oauth-authorization-server", "getAuthorizationServerMetadata",
         discovery_handle),
     METADATA,
     ABOUT("Metadata of the service (RFC 8414)"),
     ANSWERS(GIVES(200, answer_metadata, "The metadata"))},
    {GET("/.well-known/jwks.json", "getJwks", jwks_handle),
     METADATA,
     ABOUT("Public keys of the service (RFC 7517)"),
     ANSWERS(GIVES(200, answer_key_set, "The keys"))},
    {GET("/.well-known/oauth-protected-resource", "getProtectedResource", metadata_mcp_handle),
     METADATA,
     ABOUT("Metadata of the MCP endpoint of the gateway (RFC 9728)"),
     ANSWERS(GIVES(200, answer_protected_resource, "The metadata"))},
    {GET("/.well-known/oauth-protected-resource/gateway/mcp", "getMcpProtectedResource",
         metadata_mcp_handle),
     METADATA,
     OF_GATEWAY,
     .slash = true,
     ABOUT("Metadata of the MCP endpoint of the gateway (RFC 9728)"),
     ANSWERS(GIVES(200, answer_protected_resource, "The metadata"))},
    {GET("/.well-known/oauth-protected-resource/gateway/mcp/{name}", "getMcpResourceMetadata",
         metadata_mcp_resource_handle),
     METADATA,
     OF_GATEWAY,
     .slash = true,
     ABOUT("Metadata of a managed resource as an MCP server (RFC 9728)"),
     ANSWERS(GIVES(200, answer_protected_resource, "The metadata"))},
    {GET("/.well-known/oauth-protected-resource/gateway/{name}", "getResourceMetadata",
         metadata_proxy_resource_handle),
     METADATA,
     OF_GATEWAY,
     ABOUT("Metadata of a managed resource (RFC 9728)"),
     ANSWERS(GIVES(200, answer_protected_resource, "The metadata"))},
    {GET("/.well-known/oauth-protected-resource/doors/{name}/{place}", "getDoorMetadata",
         metadata_door_handle),
     METADATA,
     OF_GATEWAY,
     ABOUT("Metadata of a public address of a managed resource (RFC 9728)"),
     ANSWERS(GIVES(200, answer_protected_resource, "The metadata"))},
    {GET("/.well-known/authzen-configuration", "getAuthzenConfiguration",
         authzen_configuration_handle),
     METADATA,
     ABOUT("Metadata of the decision point (AuthZEN 1.0)"),
     ANSWERS(GIVES(200, answer_decision_point, "The metadata"))},

    {GET("/.well-known/svc-gateway-client/{resource}", "getResourceClientMetadata",
         link_client_metadata_handle),
     METADATA,
     .is_on = gateway_is_on,
     ABOUT("Metadata of the gateway as a client of the upstream of a managed resource (client id "
           "metadata document)"),
     ANSWERS(GIVES_JSON("The metadata"))},
    {GET("/.well-known/svc-gateway-client.json", "getGatewayClientMetadata",
         link_client_metadata_handle),
     METADATA,
     .is_on = gateway_is_on,
     ABOUT("Metadata of the gateway as a client of the upstreams of resources that share a "
           "redirect address (client id metadata document)"),
     ANSWERS(GIVES_JSON("The metadata"))},

    /* A page for browsers; other callers get the 404 of a path without a row. */
    {GET("/", "getHome", home_handle),
     PUBLIC,
     .cache = CACHE_PRIVATE,
     ABOUT("Show the start page to a browser"),
     ANSWERS(GIVES_PAGE, {404, "application/json", NULL, false, "The caller is no browser"})},

    {POST("/token", "token", token_handle),
     .credential = &credential_client,
     OAUTH,
     LIMITED,
     .cors = CORS_OPEN,
     BODY(BODY_FORM, HTTP_TOKEN_BODY_MAX),
     .find_param = token_find_param,
     .precheck = token_precheck,
     .body_schema = token_body_schema,
     ABOUT("Issue tokens for a grant (RFC 6749 section 3.2)"),
     ANSWERS(GIVES(200, answer_token, "The tokens"))},
    {POST("/introspect", "introspect", introspect_handle),
     .credential = &credential_introspect,
     OAUTH,
     LIMITED,
     FORM(BODY_FORM, introspect_params),
     ABOUT("Tell the meaning of a token, as policy decides now (RFC 7662)"),
     ANSWERS(GIVES(200, answer_introspection, "Active or not"),
             {200, "application/token-introspection+jwt", NULL, false, "The same, signed for "
              "the caller (RFC 9701)"})},
    {POST("/revoke", "revoke", revoke_handle),
     .credential = &credential_client_optional,
     OAUTH,
     LIMITED,
     .cors = CORS_OPEN,
     FORM(BODY_FORM_LENIENT, revoke_params),
     ABOUT("Revoke a token (RFC 7009)"),
     ANSWERS(GIVES_NOTHING(200, "The token is not valid any more, or the request names none "
                           "that its caller may revoke"))},
    {POST("/bc-authorize", "bcAuthorize", bc_authorize_handle),
     .credential = &credential_client,
     OAUTH,
     LIMITED,
     FORM(BODY_FORM, bc_authorize_params),
     ABOUT("Ask for the approval of a person on another device (OpenID Connect CIBA Core 1.0 "
           "section 7)"),
     ANSWERS(GIVES(200, answer_auth_request, "The person is asked; poll /token"))},
    {POST("/bc-authorize/callback", "bcAuthorizeCallback", bc_callback_handle),
     BEARER,
     OAUTH,
     SMALL_JSON,
     FIELDS_OF(ciba_callback_table),
     ABOUT("Receive the answer of a person from the identity provider"),
     ANSWERS(GIVES_NOTHING(200, "The answer is stored"),
             FAILS(403, "The request does not wait for this answer"))},
    {POST("/register", "register", register_handle),
     PUBLIC,
     .cache = CACHE_NO_STORE,
     .audited = true,
     LIMITED,
     .cors = CORS_OPEN,
     BODY(BODY_RAW, HTTP_TOKEN_BODY_MAX),
     FIELDS_OF(register_table),
     ABOUT("Register a client (RFC 7591)"),
     ANSWERS(GIVES(201, answer_registration, "The client as registered"),
             {403, "application/json", NULL, false, "Registration is switched off"})},

    {GET("/userinfo", "userinfo", userinfo_handle),
     BEARER,
     OAUTH,
     .cors = CORS_OPEN,
     ABOUT("Claims of the user (OpenID Connect Core 5.3)"),
     ANSWERS(GIVES(200, answer_userinfo, "The claims"))},
    {POST("/userinfo", "userinfoByForm", userinfo_handle),
     BEARER,
     OAUTH,
     .cors = CORS_OPEN,
     FORM(BODY_FORM_LENIENT, userinfo_params),
     ABOUT("Claims of the user (OpenID Connect Core 5.3)"),
     ANSWERS(GIVES(200, answer_userinfo, "The claims"))},

    {POST("/permission", "requestPermission", permission_handle),
     PAT,
     BODY(BODY_RAW, HTTP_TOKEN_BODY_MAX),
     .body_schema = permission_body_schema,
     FIELDS_OF(uma_permission_table),
     ABOUT("Give a ticket for permissions on resources (Federated Authorization for UMA 2.0 "
           "section 4)"),
     ANSWERS(GIVES(201, answer_ticket, "The ticket"))},
    {POST("/resource_registration/resource", "registerResource", uma_resource_register_handle),
     PAT,
     SMALL_JSON,
     FIELDS_OF(uma_resource_table),
     ABOUT("Register a resource (Federated Authorization for UMA 2.0 section 3.2.1)"),
     ANSWERS(GIVES(201, answer_uma_id, "The resource is registered"),
             FAILS(409, "The owner has the maximum number of resources"))},
    {GET("/resource_registration/resource", "listResources", uma_resource_list_handle),
     PAT,
     ABOUT("List the ids of the owner's resources"),
     ANSWERS(GIVES_JSON("The ids"))},
    {GET("/resource_registration/resource/{resourceId}", "getResource", uma_resource_show_handle),
     PAT,
     ABOUT("Show a resource"),
     ANSWERS(GIVES(200, uma_resource_table, "The resource"))},
    {PUT("/resource_registration/resource/{resourceId}", "updateResource",
         uma_resource_replace_handle),
     PAT,
     SMALL_JSON,
     FIELDS_OF(uma_resource_table),
     ABOUT("Replace a resource"),
     ANSWERS(GIVES(200, answer_uma_id, "The resource is replaced"))},
    {DELETE("/resource_registration/resource/{resourceId}", "deleteResource",
            uma_resource_delete_handle),
     PAT,
     ABOUT("Delete a resource and its delegations"),
     ANSWERS(GIVES_NOTHING(204, "The resource is deleted"))},

    {POST("/delegation", "createDelegation", delegation_create_handle),
     DELEGATING,
     SMALL_JSON,
     FIELDS_OF(delegation_table),
     ABOUT("Let a person or a client act on a resource"),
     ANSWERS(GIVES(201, answer_delegation_id, "The delegation is active"),
             FAILS(404, "The owner has no such resource"),
             FAILS(409, "The owner has the maximum number of delegations"))},
    {GET("/delegation", "listDelegations", delegation_list_handle),
     DELEGATING,
     ABOUT("List the owner's delegations"),
     ANSWERS(GIVES_LIST(answer_delegation, "The delegations, the oldest first"))},
    {GET("/delegation/{delegationId}", "getDelegation", delegation_show_handle),
     DELEGATING,
     ABOUT("Show a delegation"),
     ANSWERS(GIVES(200, answer_delegation, "The delegation"))},
    {PUT("/delegation/{delegationId}", "updateDelegation", delegation_change_handle),
     DELEGATING,
     SMALL_JSON,
     FIELDS_OF(delegation_change_table),
     ABOUT("Change the end of an active delegation"),
     ANSWERS(GIVES(200, answer_delegation, "The delegation as stored"))},
    {DELETE("/delegation/{delegationId}", "revokeDelegation", delegation_revoke_handle),
     DELEGATING,
     ABOUT("Revoke a delegation"),
     ANSWERS(GIVES_NOTHING(204, "The delegation is revoked"))},

    {POST("/access/v1/evaluation", "evaluateAccess", evaluation_handle),
     .credential = &credential_authzen,
     OAUTH,
     BODY(BODY_RAW, HTTP_ACCESS_BODY_MAX),
     FIELDS_OF(access_request_table),
     ABOUT("Decide an access request (AuthZEN 1.0, 6)"),
     ANSWERS(GIVES(200, answer_decision, "Permitted or denied"))},
    {POST("/access/v1/evaluations", "evaluateAccesses", evaluations_handle),
     .credential = &credential_authzen,
     OAUTH,
     BODY(BODY_RAW, HTTP_ACCESS_BODY_MAX),
     FIELDS_OF(access_requests_table),
     ABOUT("Decide several access requests (AuthZEN 1.0, 7)"),
     ANSWERS(GIVES(200, answer_decisions, "The decisions in their order; of a single request "
                   "its own"))},

    {GET("/authorize", "authorize", authorize_handle),
     BROWSER,
     LIMITED,
     .audited = true,
     .body = BODY_QUERY_FAULTS,
     .params = authorize_params,
     ABOUT("Begin an authorization (RFC 6749 section 3.1)"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {POST("/authorize", "authorizeByForm", authorize_handle),
     BROWSER,
     LIMITED,
     .audited = true,
     FORM(BODY_FORM_FAULTS, authorize_params),
     ABOUT("Begin an authorization (RFC 6749 section 3.1)"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {GET("/authorize/callback/{idpId}", "authorizeCallback", callback_handle),
     BROWSER,
     .audited = true,
     QUERY(callback_params),
     ABOUT("Receive the answer of an identity provider"),
     ANSWERS(GIVES_REDIRECT,
             {303, NULL, NULL, false, "The sign-in was used already: its request begins again"},
             GIVES_SIGN_IN)},
    {GET("/authorize/consent", "showConsent", consent_show_handle),
     BROWSER,
     QUERY(consent_params),
     ABOUT("Show the consent page"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {POST("/authorize/consent", "answerConsent", consent_answer_handle),
     BROWSER,
     .audited = true,
     FORM(BODY_FORM, consent_form_params),
     ABOUT("Accept the answer of the consent page"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {GET("/authorize/ciba", "showApproval", ciba_show_handle),
     BROWSER,
     LIMITED,
     QUERY(ciba_page_params),
     ABOUT("Show what waits for the approval of the user (CIBA)"),
     ANSWERS(GIVES_REDIRECT,
             GIVES_SIGN_IN,
             {403, "text/html", NULL, false, "The request does not wait for this user"})},
    {POST("/authorize/ciba", "answerApproval", ciba_answer_handle),
     BROWSER,
     LIMITED,
     .audited = true,
     FORM(BODY_FORM, ciba_form_params),
     ABOUT("Accept the answer of the approval page"),
     ANSWERS(GIVES_REDIRECT,
             GIVES_PAGE,
             {403, "text/html", NULL, false, "The request does not wait for this user"})},
    {GET("/gateway/link", "showLink", link_show_handle),
     GATEWAY_PAGE,
     LIMITED,
     QUERY(link_page_params),
     ABOUT("Show the page on which a person connects an account at an upstream"),
     ANSWERS(GIVES_REDIRECT, GIVES_PAGE, LINK_FAILS)},
    {POST("/gateway/link", "answerLink", link_answer_handle),
     GATEWAY_PAGE,
     LIMITED,
     .audited = true,
     FORM(BODY_FORM, link_form_params),
     ABOUT("Accept the answer of the link page"),
     ANSWERS(GIVES_OTHER, GIVES_PAGE, LINK_FAILS)},
    {GET("/gateway/connect", "showConnections", connections_show_handle),
     GATEWAY_PAGE,
     LIMITED,
     QUERY(connections_page_params),
     ABOUT("Show the accounts that the person has connected"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {GET("/gateway/connect/callback", "linkCallbackShared", link_callback_handle),
     GATEWAY_PAGE,
     LIMITED,
     .audited = true,
     QUERY(link_callback_params),
     ABOUT("Receive the answer of the authorization server of a resource that shares this "
           "redirect address"),
     ANSWERS(GIVES_OTHER, GIVES_PAGE, LINK_FAILS)},
    {GET("/gateway/connect/callback/{resource}", "linkCallback", link_callback_handle),
     GATEWAY_PAGE,
     LIMITED,
     .audited = true,
     QUERY(link_callback_params),
     ABOUT("Receive the answer of the authorization server of the upstream of one managed "
           "resource"),
     ANSWERS(GIVES_OTHER, GIVES_PAGE, LINK_FAILS)},
    {GET("/gateway/connect/{resource}", "connect", connect_handle),
     GATEWAY_PAGE,
     LIMITED,
     QUERY(connect_params),
     ABOUT("Begin to connect an account without a client"),
     ANSWERS(GIVES_REDIRECT, GIVES_OTHER, GIVES_SIGN_IN)},
    {POST("/gateway/connect/{resource}/disconnect", "disconnect", disconnect_handle),
     GATEWAY_PAGE,
     LIMITED,
     .audited = true,
     FORM(BODY_FORM, disconnect_params),
     ABOUT("Disconnect an account"),
     ANSWERS(GIVES_OTHER, GIVES_PAGE)},
    {GET("/account", "showAccount", account_show_handle),
     BROWSER,
     LIMITED,
     QUERY(account_params),
     ABOUT("Show a person the own sessions, applications, connections, approvals and delegations"),
     ANSWERS(GIVES_REDIRECT, GIVES_SIGN_IN)},
    {POST("/account", "endAtAccount", account_end_handle),
     BROWSER,
     LIMITED,
     .audited = true,
     FORM(BODY_FORM, account_form_params),
     ABOUT("End one of them"),
     ANSWERS(GIVES_OTHER, GIVES_PAGE)},
    {GET("/logout", "logout", logout_handle),
     BROWSER,
     .audited = true,
     QUERY(logout_params),
     ABOUT("End the session (OpenID Connect RP-Initiated Logout 1.0)"),
     ANSWERS(GIVES_REDIRECT, GIVES_PAGE)},
    {POST("/logout", "logoutByForm", logout_handle),
     BROWSER,
     .audited = true,
     FORM(BODY_FORM, logout_params),
     ABOUT("End the session (OpenID Connect RP-Initiated Logout 1.0)"),
     ANSWERS(GIVES_REDIRECT, GIVES_PAGE)},
    {GET("/logout/return", "logoutReturn", logout_return_handle),
     BROWSER,
     QUERY(logout_return_params),
     ABOUT("Receive the user back from an identity provider"),
     ANSWERS(GIVES_REDIRECT, GIVES_PAGE)},

    {POST("/admin/session", "beginConsoleSession", console_session_begin_handle),
     .credential = &credential_sign_in,
     .role = ADMIN_ROLE_AUDITOR,
     .dialect = DIALECT_ADMIN,
     .cache = CACHE_PRIVATE,
     .audited = true,
     ABOUT("Exchange an admin key, or a one-time link of one (X-Authz-Console-Link), for a "
           "session of the console"),
     ANSWERS(GIVES_NOTHING(204, "The cookie is the session"),
             FAILS(429, "Too many sign-ins of this address failed; Retry-After says when to try "
                   "again"))},
    {GET("/admin/session", "getConsoleSession", console_session_show_handle),
     OF_SESSION,
     ABOUT("Show who asks: the key, its role and the times of the session"),
     ANSWERS(GIVES(200, answer_console_session, "The key, and the session if there is one"))},
    {GET("/admin/session/start", "startConsoleSession", console_start_handle),
     BROWSER,
     LIMITED,
     .audited = true,
     QUERY(console_start_params),
     ABOUT("Sign a person in to the console at an identity provider"),
     ANSWERS(GIVES_REDIRECT,
             GIVES_SIGN_IN,
             {403, "text/html", NULL, false, "Policy gives the person no role, or another site "
              "sent the browser here"},
             {404, "text/html", NULL, false, "The admin API is switched off"})},
    {DELETE("/admin/session", "endConsoleSession", console_session_end_handle),
     OF_SESSION,
     .audited = true,
     ABOUT("End the session of the console"),
     ANSWERS(GIVES_NOTHING(204, "The session is ended"))},

    {GET("/admin/api/admin-keys", "listAdminKeys", resource_list_handle),
     ADMIN,
     OF(admin_keys_resource),
     ABOUT("List the admin keys, including revoked ones"),
     ANSWERS(GIVES_LIST(admin_key_view, "The keys, without their plaintext"))},
    {POST("/admin/api/admin-keys", "createAdminKey", admin_key_create_handle),
     ADMIN_OWNER,
     JSON,
     FIELDS_OF(admin_key_table),
     ABOUT("Make an admin key"),
     ANSWERS(GIVES(201, answer_new_admin_key, "The key, with its plaintext this once"))},
    {DELETE("/admin/api/admin-keys/{id}", "revokeAdminKey", admin_key_delete_handle),
     ADMIN_OWNER,
     ABOUT("Revoke an admin key"),
     ANSWERS(GIVES_NOTHING(204, "The key is revoked"))},
    {POST("/admin/api/admin-keys/{id}/link", "createConsoleLink", console_link_make_handle),
     ADMIN_OWNER,
     ABOUT("Make a one-time link that signs a browser in to the console with the rights of an "
           "admin key"),
     ANSWERS(GIVES(201, answer_console_link, "The link, shown this once"))},
    {GET("/admin/api/admin-keys/{id}/plaintext", "getAdminKeyPlaintext",
         admin_key_plaintext_handle),
     ADMIN_OWNER,
     ABOUT("Show the plaintext of an admin key"),
     ANSWERS(GIVES(200, answer_plaintext, "The plaintext"))},

    {GET("/admin/api/audit-logs", "listAuditLogs", audit_logs_handle),
     ADMIN,
     QUERY(audit_logs_params),
     ABOUT("List audit rows, newest first"),
     ANSWERS(GIVES(200, answer_audit_page, "A page of rows"))},
    {GET("/admin/api/audit-logs/export", "exportAuditLogs", audit_export_handle),
     ADMIN,
     QUERY(audit_export_params),
     ABOUT("Export audit rows"),
     ANSWERS(GIVES(200, answer_audit_export, "The rows"),
             {200, "application/x-ndjson", NULL, false, "One row per line"},
             {200, "text/csv", NULL, false, "One row per line"})},
    {GET("/admin/api/audit-logs/search", "searchAuditLogs", audit_search_handle),
     ADMIN,
     QUERY(audit_search_params),
     ABOUT("Find audit rows, newest first, in a log of any size"),
     ANSWERS(GIVES(200, answer_audit_search, "Rows, and where the next page begins"))},
    {GET("/admin/api/audit-logs/{id}", "getAuditLog", audit_log_handle),
     ADMIN,
     ABOUT("Show an audit row"),
     ANSWERS(GIVES(200, answer_audit_row, "The row"))},
    {GET("/admin/api/audit-logs/{id}/proof", "proveAuditLog", audit_proof_handle),
     ADMIN,
     ABOUT("Prove that an audit row is in the log over all rows"),
     ANSWERS(GIVES_TEXT("The proof with the row, in the form c2sp.org/tlog-proof@v1"),
             FAILS(409, "The row is not sealed yet"))},
    {GET("/admin/api/audit/checkpoint", "getAuditCheckpoint", audit_checkpoint_handle),
     ADMIN,
     ABOUT("Show the newest checkpoint of the log over all audit rows"),
     ANSWERS(GIVES_TEXT("A signed note (c2sp.org/tlog-checkpoint)"))},
    {GET("/admin/api/audit/keys", "getAuditKeys", audit_keys_handle),
     ADMIN,
     ABOUT("Show the keys that ever signed checkpoints"),
     ANSWERS(GIVES(200, answer_key_set, "The keys"))},
    {GET("/admin/api/audit/tile/**", "getAuditTile", audit_tile_handle),
     ADMIN,
     ABOUT("Show hashes of the log over all audit rows: LEVEL/N, or LEVEL/N.p/WIDTH for a tile "
           "that is not full"),
     ANSWERS({200, "application/octet-stream", NULL, false, "SHA-256 hashes, one after the "
              "other (c2sp.org/tlog-tiles)"})},
    {GET("/audit/checkpoint", "getPublicAuditCheckpoint", audit_checkpoint_handle),
     AUDIT_PUBLIC,
     ABOUT("Show the newest checkpoint of the log over all audit rows"),
     ANSWERS(GIVES_TEXT("A signed note (c2sp.org/tlog-checkpoint)"))},
    {GET("/audit/keys", "getPublicAuditKeys", audit_keys_handle),
     AUDIT_PUBLIC,
     ABOUT("Show the keys that ever signed checkpoints"),
     ANSWERS(GIVES(200, answer_key_set, "The keys"))},

    {GET("/admin/api/governance/report", "getGovernanceReport", governance_handle),
     ADMIN,
     QUERY(governance_params),
     ABOUT("Report what policy decided in a period"),
     ANSWERS(GIVES(200, answer_governance, "The report"))},
    {GET("/admin/api/governance-report", "getGovernanceReportAlias", governance_handle),
     ADMIN,
     QUERY(governance_params),
     ABOUT("Report what policy decided in a period"),
     ANSWERS(GIVES(200, answer_governance, "The report"))},

    {GET("/admin/api/attention", "listAttention", attention_list_handle),
     ADMIN,
     ABOUT("List what an operator should look at"),
     ANSWERS(GIVES_LIST(attention_view, "The entries, at most 20 of each kind"))},
    {GET("/admin/api/engines", "listEngines", resource_list_handle),
     ADMIN,
     OF(engines_resource),
     ABOUT("List the policy engines that fetch the bundle"),
     ANSWERS(GIVES_LIST(engine_view, "What each said last, at most 1000"))},
    {GET("/admin/api/settings", "listSettings", settings_list_handle),
     ADMIN,
     ABOUT("List the settings in force, with their origin"),
     ANSWERS(GIVES(200, answer_settings, "The settings; of a secret only that it is set"))},
    {GET("/admin/api/schemas/{name}", "getSchema", api_schema_handle),
     ADMIN,
     ABOUT("Show the JSON Schema of a body of the admin API"),
     ANSWERS(GIVES_JSON("The schema"))},
    {GET("/admin/api/keys", "listKeys", keys_list_handle),
     ADMIN,
     ABOUT("List the signing keys: next, active and retired"),
     ANSWERS(GIVES_LIST(answer_key, "The keys, without key material"))},
    {POST("/admin/api/keys/rotate", "rotateKeys", keys_rotate_handle),
     ADMIN_OWNER,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(key_rotation_table),
     ABOUT("Make the next signing key active"),
     ANSWERS(GIVES_LIST(answer_key, "The keys afterwards"))},

    {GET("/admin/api/clients", "listClients", clients_list_handle),
     ADMIN,
     QUERY(clients_list_params),
     ABOUT("List the clients"),
     ANSWERS(GIVES_LIST(client_table, "The clients, all or a page of them; X-Total-Count is "
                        "their number on all pages"))},
    {POST("/admin/api/clients", "createClient", resource_create_handle),
     ADMIN_WRITE,
     JSON,
     .params = resource_owner_params,
     OF(clients_resource),
     FIELDS_OF(client_table),
     ABOUT("Create a client"),
     ANSWERS(GIVES(201, client_table, "The client, with its secret this once"))},
    {GET("/admin/api/clients/{clientId}", "getClient", resource_get_handle),
     ADMIN,
     OF(clients_resource),
     ABOUT("Show a client"),
     ANSWERS(GIVES(200, client_table, "The client"))},
    {PUT("/admin/api/clients/{clientId}", "updateClient", resource_put_handle),
     ADMIN_WRITE,
     JSON,
     .params = resource_owner_params,
     OF(clients_resource),
     FIELDS_OF(client_table),
     ABOUT("Replace a client"),
     ANSWERS(GIVES(200, client_table, "The client as stored"))},
    {DELETE("/admin/api/clients/{clientId}", "deleteClient", resource_delete_handle),
     ADMIN_WRITE,
     OF(clients_resource),
     ABOUT("Delete a client and its tokens"),
     ANSWERS(GIVES_NOTHING(204, "The client is deleted"))},
    {POST("/admin/api/clients/{clientId}/rotate-secret", "rotateClientSecret",
          client_rotate_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(client_rotation_table),
     ABOUT("Give a client a new secret"),
     ANSWERS(GIVES(200, answer_rotation, "The new secret, shown this once"))},

    {GET("/admin/api/identity-providers", "listIdentityProviders", resource_list_handle),
     ADMIN,
     OF(identity_providers_resource),
     ABOUT("List the identity providers"),
     ANSWERS(GIVES_LIST(identity_provider_table, "The identity providers"))},
    {POST("/admin/api/identity-providers", "createIdentityProvider", resource_create_handle),
     ADMIN_WRITE,
     JSON,
     .params = resource_owner_params,
     OF(identity_providers_resource),
     FIELDS_OF(identity_provider_table),
     ABOUT("Create an identity provider"),
     ANSWERS(GIVES(201, identity_provider_table, "The identity provider"))},
    {POST("/admin/api/identity-providers/check", "checkIdentityProvider",
          identity_provider_check_handle),
     ADMIN_WRITE,
     JSON,
     FIELDS_OF(identity_provider_table),
     ABOUT("Ask an identity provider for its metadata and keys; nothing is stored"),
     ANSWERS(GIVES(200, answer_provider_check, "What was found"))},
    {GET("/admin/api/identity-providers/{idpId}", "getIdentityProvider", resource_get_handle),
     ADMIN,
     OF(identity_providers_resource),
     ABOUT("Show an identity provider"),
     ANSWERS(GIVES(200, identity_provider_table, "The identity provider"))},
    {PUT("/admin/api/identity-providers/{idpId}", "updateIdentityProvider", resource_put_handle),
     ADMIN_WRITE,
     JSON,
     .params = resource_owner_params,
     OF(identity_providers_resource),
     FIELDS_OF(identity_provider_table),
     ABOUT("Replace an identity provider"),
     ANSWERS(GIVES(200, identity_provider_table, "The identity provider as stored"))},
    {GET("/admin/api/home-issuer", "getHomeIssuer", home_issuer_get_handle),
     ADMIN,
     ABOUT("Show the issuer whose people keep their sub as their name"),
     ANSWERS(GIVES(200, answer_home_issuer, "The home issuer"))},
    {PUT("/admin/api/home-issuer", "setHomeIssuer", home_issuer_put_handle),
     ADMIN_WRITE,
     JSON,
     FIELDS_OF(home_issuer_table),
     ABOUT("Make the issuer of a provider the home issuer"),
     ANSWERS(GIVES(200, answer_home_issuer, "The home issuer, and what follows"))},
    {DELETE("/admin/api/identity-providers/{idpId}", "deleteIdentityProvider",
            resource_delete_handle),
     ADMIN_WRITE,
     OF(identity_providers_resource),
     ABOUT("Delete an identity provider"),
     ANSWERS(GIVES_NOTHING(204, "The identity provider is deleted"))},

    {GET("/admin/api/managed-resources", "listManagedResources", resource_page_handle),
     ADMIN,
     QUERY(managed_resources_params),
     OF(managed_resources_resource),
     ABOUT("List the managed resources"),
     ANSWERS(GIVES_LIST(managed_resource_table, "The managed resources, without their secrets, "
                        "all or a page of them; X-Total-Count is their number on all pages"))},
    {POST("/admin/api/managed-resources", "createManagedResource", resource_create_handle),
     ADMIN_WRITE,
     SCHEMAS_JSON,
     .params = resource_owner_params,
     OF(managed_resources_resource),
     FIELDS_OF(managed_resource_table),
     ABOUT("Create a managed resource"),
     ANSWERS(GIVES(201, managed_resource_table, "The managed resource"),
             GIVES_NOTHING(409, "The name is already in use"))},
    {GET("/admin/api/managed-resources/{name}", "getManagedResource", resource_get_handle),
     ADMIN,
     OF(managed_resources_resource),
     ABOUT("Show a managed resource"),
     ANSWERS(GIVES(200, managed_resource_table, "The managed resource, without its secrets"))},
    {PUT("/admin/api/managed-resources/{name}", "updateManagedResource", resource_put_handle),
     ADMIN_WRITE,
     SCHEMAS_JSON,
     .params = resource_owner_params,
     OF(managed_resources_resource),
     FIELDS_OF(managed_resource_table),
     ABOUT("Replace a managed resource; a secret that is left out stays, null clears it"),
     ANSWERS(GIVES(200, managed_resource_table, "The managed resource as stored"))},
    {DELETE("/admin/api/managed-resources/{name}", "deleteManagedResource", resource_delete_handle),
     ADMIN_WRITE,
     OF(managed_resources_resource),
     ABOUT("Delete a managed resource"),
     ANSWERS(GIVES_NOTHING(204, "The managed resource is deleted"))},
    {POST("/admin/api/managed-resources/{name}/probe", "probeManagedResource",
          managed_resource_probe_handle),
     ADMIN_WRITE,
     ABOUT("Request the upstream of a managed resource once, without a credential"),
     ANSWERS(GIVES(200, answer_probe, "The outcome, which lastProbe shows later"))},
    {GET("/admin/api/managed-resources/{name}/connections", "listConnections",
         connections_list_handle),
     ADMIN,
     QUERY(connections_list_params),
     OF(connections_resource),
     ABOUT("List the accounts that people connected to a managed resource"),
     ANSWERS(GIVES_LIST(connection_view, "The connections, the newest first, at most 1000 or a "
                        "page, without their tokens; X-Total-Count is their number"))},
    {GET("/admin/api/connections", "listAllConnections", resource_page_handle),
     ADMIN,
     QUERY(connections_all_params),
     OF(connections_resource),
     ABOUT("List the accounts that people connected to managed resources"),
     ANSWERS(GIVES_LIST(connection_view, "The connections, the newest first, at most 1000 or a "
                        "page, without their tokens; X-Total-Count is their number"))},
    {DELETE("/admin/api/managed-resources/{name}/connections", "deleteConnection",
            connections_delete_handle),
     ADMIN_WRITE,
     QUERY(connections_params),
     ABOUT("Disconnect the account of a person"),
     ANSWERS(GIVES_NOTHING(204, "The connection is deleted"))},

    {GET("/admin/api/connectors", "listConnectors", resource_list_handle),
     ADMIN,
     OF(connectors_resource),
     ABOUT("List the installed connectors"),
     ANSWERS(GIVES_LIST(connector_view, "The installed connectors"))},
    {GET("/admin/api/connectors/available", "listAvailableConnectors", connectors_available_handle),
     ADMIN,
     ABOUT("List the connectors of the catalogue"),
     ANSWERS(GIVES_LIST(connector_view, "The connectors, installed or not"))},
    {POST("/admin/api/connectors/sync", "syncConnectors", connector_sync_handle),
     ADMIN_WRITE,
     QUERY(connector_sync_params),
     ABOUT("Sync all installed connectors with the catalogue"),
     ANSWERS(GIVES(200, answer_sync, "The report"))},
    {GET("/admin/api/connectors/{id}", "getConnector", connector_get_handle),
     ADMIN,
     ABOUT("Show a connector, installed or of the catalogue"),
     ANSWERS(GIVES(200, connector_view, "The connector"))},
    {DELETE("/admin/api/connectors/{id}", "uninstallConnector", connector_delete_handle),
     ADMIN_WRITE,
     QUERY(save_params),
     ABOUT("Uninstall a connector that nothing uses"),
     ANSWERS(GIVES_NOTHING(204, "The connector is not installed any more"),
             FAILS(409, "Objects use the connector: connector_in_use with its blockers"))},
    {POST("/admin/api/connectors/{id}/install", "installConnector", connector_install_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     .params = connector_install_params,
     FIELDS_OF(connector_install_table),
     ABOUT("Install a connector, and create its managed resource if the body asks for it"),
     ANSWERS(GIVES(201, connector_view, "The connector"),
             GIVES(200, connector_view, "It was installed already, and nothing is changed"))},
    {POST("/admin/api/connectors/{id}/sync", "syncConnector", connector_sync_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     .params = connector_sync_params,
     FIELDS_OF(connector_sync_table),
     ABOUT("Sync an installed connector with the catalogue, with other settings if the body has "
           "them"),
     ANSWERS(GIVES(200, answer_sync, "The report"))},

    {GET("/admin/api/object-owners", "listObjectOwners", object_owners_list_handle),
     ADMIN,
     QUERY(object_owners_params),
     ABOUT("List the objects that directories of files keep as they say"),
     ANSWERS(GIVES_LIST(object_owner_view, "The objects and their owners"))},
    {PUT("/admin/api/object-owners", "putObjectOwners", object_owners_put_handle),
     ADMIN_WRITE,
     JSON,
     FIELDS_OF(object_owners_table),
     ABOUT("Mark objects as those of an owner, all of them or none"),
     ANSWERS(GIVES_NOTHING(204, "The objects are marked"),
             FAILS(409, "An object belongs to another owner, or is not stored"))},
    {DELETE("/admin/api/object-owners", "deleteObjectOwner", object_owner_delete_handle),
     ADMIN_WRITE,
     QUERY(object_owner_params),
     ABOUT("Release an object from its owner; the object stays"),
     ANSWERS(GIVES_NOTHING(204, "The object has no owner"))},
    {POST("/admin/api/object-owners/secrets", "compareObjectSecrets", object_secrets_handle),
     ADMIN_WRITE,
     LIMITED,
     JSON,
     FIELDS_OF(object_secrets_table),
     ABOUT("Tell which secrets are those that objects were made of"),
     ANSWERS(GIVES(200, answer_same_secrets, "True or false for each"))},

    {GET("/admin/api/consents", "listConsents", resource_page_handle),
     ADMIN,
     QUERY(consents_params),
     OF(consents_resource),
     ABOUT("List remembered consents"),
     ANSWERS(GIVES_LIST(consent_view, "The consents, the newest first, at most 1000 or a page; "
                        "X-Total-Count is their number"))},
    {DELETE("/admin/api/consents/{id}", "deleteConsent", resource_delete_handle),
     ADMIN_WRITE,
     OF(consents_resource),
     ABOUT("Forget a consent"),
     ANSWERS(GIVES_NOTHING(204, "The consent is forgotten"))},
    {GET("/admin/api/sessions", "listSessions", resource_page_handle),
     ADMIN,
     QUERY(sessions_params),
     OF(sessions_resource),
     ABOUT("List browser sessions"),
     ANSWERS(GIVES_LIST(session_view, "The sessions, the newest first, at most 1000 or a page; "
                        "X-Total-Count is their number"))},
    {DELETE("/admin/api/sessions/{sid}", "deleteSession", resource_delete_handle),
     ADMIN_WRITE,
     OF(sessions_resource),
     ABOUT("End a browser session"),
     ANSWERS(GIVES_NOTHING(204, "The session is ended"))},

    {GET("/admin/api/subjects", "listPeople", resource_page_handle),
     ADMIN,
     QUERY(people_params),
     OF(people_resource),
     ABOUT("Find people by subject, name or address"),
     ANSWERS(GIVES_LIST(person_view, "A page of people, the one who signed in last first; "
                        "X-Total-Count is their number"))},
    {GET("/admin/api/subjects/{subjectId}", "getPerson", resource_get_handle),
     ADMIN,
     OF(people_resource),
     ABOUT("Show a person with the claims of the last sign-in"),
     ANSWERS(GIVES(200, person_view, "The person"))},
    {GET("/admin/api/delegations", "listAllDelegations", resource_page_handle),
     ADMIN,
     QUERY(delegations_params),
     OF(delegations_resource),
     ABOUT("List the delegations of all owners"),
     ANSWERS(GIVES_LIST(delegation_view, "A page of delegations, the newest first; "
                        "X-Total-Count is their number"))},
    {GET("/admin/api/uma-resources", "listUmaResources", resource_page_handle),
     ADMIN,
     QUERY(uma_resources_params),
     OF(uma_resources_resource),
     ABOUT("List the UMA resources of all owners"),
     ANSWERS(GIVES_LIST(uma_resource_view, "A page of resources, the newest first; "
                        "X-Total-Count is their number"))},
    {GET("/admin/api/ciba-requests", "listWaitingApprovals", resource_page_handle),
     ADMIN,
     QUERY(ciba_waiting_params),
     OF(ciba_waiting_resource),
     ABOUT("List the CIBA requests that wait for a person"),
     ANSWERS(GIVES_LIST(ciba_waiting_view, "A page of requests, the newest first; X-Total-Count "
                        "is their number"))},

    {GET("/admin/api/tokens", "listTokens", tokens_list_handle),
     ADMIN,
     QUERY(tokens_params),
     ABOUT("List the live tokens, newest first, without their texts"),
     ANSWERS(GIVES(200, answer_token_page, "A page of tokens"))},
    {POST("/admin/api/tokens/introspect", "inspectToken", token_introspect_handle),
     ADMIN_ASK,
     JSON,
     FIELDS_OF(token_question_table),
     ABOUT("Tell the facts of a token, live or not, without asking policy"),
     ANSWERS(GIVES(200, answer_token_facts, "The facts"))},
    {POST("/admin/api/tokens/revoke", "revokeTokenByOperator", token_revoke_handle),
     ADMIN_WRITE,
     JSON,
     FIELDS_OF(token_revocation_table),
     ABOUT("Revoke a token, a refresh token with its family, or all tokens of a person or a "
           "client"),
     ANSWERS(GIVES(200, answer_token_facts, "What it was"),
             GIVES_NOTHING(404, "There is no such person or client"))},
    {POST("/admin/api/restore-fence", "fenceAfterRestore", restore_fence_handle),
     ADMIN_OWNER,
     ABOUT("Revoke all tokens and end all sessions, after the database was restored to an earlier "
           "moment"),
     ANSWERS(GIVES(200, answer_fence, "What was ended"))},

    {GET("/admin/api/policy-data", "listPolicyData", policy_data_list_handle),
     ADMIN,
     QUERY(policy_data_params),
     ABOUT("List the rows of policy data"),
     ANSWERS(GIVES_LIST(policy_payload_table, "The rows"))},
    {POST("/admin/api/policy-data", "createPolicyData", policy_data_create_handle),
     ADMIN_WRITE,
     JSON,
     .params = save_params,
     FIELDS_OF(policy_payload_table),
     ABOUT("Create a row of policy data"),
     ANSWERS(GIVES(201, policy_payload_table, "The row"))},
    {GET("/admin/api/policy-data/schema", "getPolicyDataSchema", policy_data_schema_handle),
     ADMIN,
     QUERY(policy_data_key_params),
     ABOUT("Show the JSON Schema of a row"),
     ANSWERS(GIVES_JSON("The schema"))},
    {GET("/admin/api/controls", "listControls", controls_list_handle),
     ADMIN,
     ABOUT("List the controls"),
     ANSWERS(GIVES_LIST(answer_control, "The controls"))},
    {GET("/admin/api/controls/settings", "listControlSettings", controls_settings_handle),
     ADMIN,
     ABOUT("List every setting of the controls"),
     ANSWERS(GIVES_JSON("The settings: row and path, and the value"))},
    {GET("/admin/api/controls/{id}", "getControl", control_get_handle),
     ADMIN,
     ABOUT("Show a control"),
     ANSWERS(GIVES_JSON("The control: rows, inputs, outputs and reason codes"))},

    {GET("/admin/api/policy-data/by-key", "getPolicyDataByKey", policy_data_get_handle),
     ADMIN,
     QUERY(policy_data_key_params),
     ABOUT("Show the row of a key"),
     ANSWERS(GIVES(200, policy_payload_table, "The row"))},
    {PUT("/admin/api/policy-data/by-key", "putPolicyDataByKey", policy_data_put_handle),
     ADMIN_WRITE,
     JSON,
     .params = policy_data_save_params,
     FIELDS_OF(policy_payload_table),
     ABOUT("Create or replace the row of a key"),
     ANSWERS(GIVES(200, policy_payload_table, "The row as stored"),
             GIVES(201, policy_payload_table, "The row is new"))},
    {PATCH("/admin/api/policy-data/by-key", "patchPolicyDataByKey", policy_data_patch_handle),
     ADMIN_WRITE,
     BODY(BODY_RAW, HTTP_ADMIN_BODY_MAX),
     .params = policy_data_save_params,
     ABOUT("Change the payload of a row by a merge patch (RFC 7396)"),
     ANSWERS(GIVES(200, policy_payload_table, "The row as stored"))},
    {DELETE("/admin/api/policy-data/by-key", "deletePolicyDataByKey", policy_data_delete_handle),
     ADMIN_WRITE,
     QUERY(policy_data_save_params),
     ABOUT("Delete the row of a key"),
     ANSWERS(GIVES_NOTHING(204, "The row is deleted"))},
    {GET("/admin/api/policy-data/{id}", "getPolicyData", policy_data_row_get_handle),
     ADMIN,
     ABOUT("Show a row of policy data"),
     ANSWERS(GIVES(200, policy_payload_table, "The row"))},
    {PUT("/admin/api/policy-data/{id}", "putPolicyData", policy_data_row_put_handle),
     ADMIN_WRITE,
     JSON,
     .params = save_params,
     FIELDS_OF(policy_payload_table),
     ABOUT("Replace a row of policy data"),
     ANSWERS(GIVES(200, policy_payload_table, "The row as stored"))},
    {DELETE("/admin/api/policy-data/{id}", "deletePolicyData", policy_data_row_delete_handle),
     ADMIN_WRITE,
     QUERY(save_params),
     ABOUT("Delete a row of policy data"),
     ANSWERS(GIVES_NOTHING(204, "The row is deleted"))},

    {GET("/admin/api/policy-rules", "listPolicyRules", policy_rules_list_handle),
     ADMIN,
     QUERY(policy_rules_params),
     ABOUT("List the rules"),
     ANSWERS(GIVES_LIST(policy_rule_table, "The rules"))},
    {POST("/admin/api/policy-rules", "createPolicyRule", policy_rules_create_handle),
     ADMIN_WRITE,
     JSON,
     .params = save_params,
     FIELDS_OF(policy_rule_table),
     ABOUT("Create a rule and activate it"),
     ANSWERS(GIVES(201, policy_rule_table, "The rule"))},
    {POST("/admin/api/policy-rules/evaluate", "evaluatePolicy", policy_evaluate_handle),
     ADMIN_ASK,
     BODY(BODY_JSON_ENVELOPE, HTTP_DEPLOY_BODY_MAX),
     FIELDS_OF(policy_evaluate_table),
     ABOUT("Try an input, or replay a stored decision, by the active policy, with changes to it, "
           "or by an earlier revision"),
     ANSWERS(GIVES(200, answer_evaluation, "The answer of the engine"))},
    {PUT("/admin/api/policy-rules/by-path", "putPolicyRuleByPath", policy_rule_put_by_path_handle),
     ADMIN_WRITE,
     JSON,
     .params = save_params,
     FIELDS_OF(policy_rule_table),
     ABOUT("Create or replace the rule of a path and activate it"),
     ANSWERS(GIVES(200, policy_rule_table, "The rule as stored"),
             GIVES(201, policy_rule_table, "The rule is new"))},
    {GET("/admin/api/policy-rules/{id}", "getPolicyRule", policy_rule_get_handle),
     ADMIN,
     ABOUT("Show a rule"),
     ANSWERS(GIVES(200, policy_rule_table, "The rule"))},
    {PUT("/admin/api/policy-rules/{id}", "putPolicyRule", policy_rule_put_handle),
     ADMIN_WRITE,
     JSON,
     .params = save_params,
     FIELDS_OF(policy_rule_table),
     ABOUT("Replace a rule and activate it"),
     ANSWERS(GIVES(200, policy_rule_table, "The rule as stored"))},
    {DELETE("/admin/api/policy-rules/{id}", "deletePolicyRule", policy_rule_delete_handle),
     ADMIN_WRITE,
     QUERY(save_params),
     ABOUT("Delete a rule"),
     ANSWERS(GIVES_NOTHING(204, "The rule is deleted"))},
    {GET("/admin/api/policy-impact", "listPolicyImpact", policy_impact_list_handle),
     ADMIN,
     ABOUT("List the measurements of policy changes, without their results"),
     ANSWERS(GIVES_LIST(answer_impact, "The measurements, the newest first"))},
    {POST("/admin/api/policy-impact", "measurePolicyImpact", policy_impact_create_handle),
     ADMIN_ASK,
     BODY(BODY_JSON_ENVELOPE, HTTP_DEPLOY_BODY_MAX),
     FIELDS_OF(policy_impact_table),
     ABOUT("Measure what a change of the policy would have decided on recorded questions; nothing "
           "is saved"),
     ANSWERS(GIVES(200, answer_impact, "The result"),
             GIVES(202, answer_impact, "It is being measured; Location has the rest"))},
    {GET("/admin/api/policy-impact/{id}", "getPolicyImpact", policy_impact_get_handle),
     ADMIN,
     ABOUT("Show a measurement, and wait for its result as Prefer: wait says"),
     ANSWERS(GIVES(200, answer_impact, "The result"),
             GIVES(202, answer_impact, "It is being measured"))},
    {DELETE("/admin/api/policy-impact/{id}", "deletePolicyImpact", policy_impact_delete_handle),
     ADMIN_WRITE,
     ABOUT("Delete a measurement, and end it if it is under way"),
     ANSWERS(GIVES_NOTHING(204, "The measurement is deleted"))},
    {GET("/admin/api/policy-shadow", "getPolicyShadow", policy_shadow_get_handle),
     ADMIN,
     ABOUT("Show the shadow of the policy, or the last one, with what it would have decided"),
     ANSWERS(GIVES(200, shadow_view, "The shadow"))},
    {PUT("/admin/api/policy-shadow", "putPolicyShadow", policy_shadow_put_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_ENVELOPE, HTTP_DEPLOY_BODY_MAX),
     FIELDS_OF(policy_shadow_table),
     ABOUT("Save a change as the shadow of the policy: it decides nothing, and live decisions are "
           "compared with it"),
     ANSWERS(GIVES(201, shadow_view, "The shadow"),
             FAILS(409, "There is a shadow already, and no If-Match"))},
    {DELETE("/admin/api/policy-shadow", "dropPolicyShadow", policy_shadow_delete_handle),
     ADMIN_WRITE,
     ABOUT("End the shadow of the policy; its result stays"),
     ANSWERS(GIVES_NOTHING(204, "The shadow is dropped"))},
    {POST("/admin/api/policy-shadow/promote", "promotePolicyShadow", policy_shadow_promote_handle),
     ADMIN_WRITE,
     QUERY(impact_limit_params),
     ABOUT("Deploy the change of the shadow, if the revision that it was compared with is active; "
           "needs If-Match"),
     ANSWERS(GIVES(200, answer_deploy, "Counts of the changes"),
             FAILS(409, "Rows were saved since the shadow was, or it was dropped, replaced or "
                   "made of another revision meanwhile"))},
    {POST("/admin/api/policy-bundle/deploy", "deployPolicyBundle", policy_bundle_deploy_handle),
     ADMIN_ASK,
     .precheck = policy_bundle_deploy_check,
     BODY(BODY_JSON_ENVELOPE, HTTP_DEPLOY_BODY_MAX),
     .params = impact_limit_params,
     FIELDS_OF(policy_deploy_table),
     ABOUT("Save rules and data rows, all of them or none"),
     ANSWERS(GIVES(200, answer_deploy, "Counts of the changes"))},

    /* Fixed names stand before {id}: the first row that matches answers. */
    {GET("/admin/api/bundle-audit", "listBundleAudit", resource_page_handle),
     ADMIN,
     QUERY(bundle_audit_list_params),
     OF(bundle_history_resource),
     ABOUT("List the published bundles, newest first"),
     ANSWERS(GIVES_LIST(answer_bundle, "A page of bundles; X-Total-Count is their number on all "
                        "pages"))},
    {GET("/admin/api/bundle-audit/latest", "getLatestBundleAudit", bundle_audit_latest_handle),
     ADMIN,
     ABOUT("Show the newest bundle"),
     ANSWERS(GIVES(200, answer_bundle, "The bundle"))},
    {GET("/admin/api/bundle-audit/at", "getBundleAuditAt", bundle_audit_at_handle),
     ADMIN,
     QUERY(bundle_audit_at_params),
     ABOUT("Show the bundle that was active at a time"),
     ANSWERS(GIVES(200, answer_bundle, "The bundle"))},
    {GET("/admin/api/bundle-audit/diff", "diffBundleAudit", bundle_audit_diff_handle),
     ADMIN,
     QUERY(bundle_audit_diff_params),
     ABOUT("Compare the rows of two bundles"),
     ANSWERS(GIVES(200, answer_bundle_difference, "The differences"),
             {409, "application/json", NULL, false, "The rows of the bundle were not kept"})},
    {GET("/admin/api/bundle-audit/{id}", "getBundleAudit", bundle_audit_get_handle),
     ADMIN,
     ABOUT("Show a bundle"),
     ANSWERS(GIVES(200, answer_bundle, "The bundle"))},
    {GET("/admin/api/bundle-audit/{id}/content", "getBundleAuditContent",
         bundle_audit_content_handle),
     ADMIN,
     ABOUT("Show the rows of a bundle"),
     ANSWERS(GIVES(200, answer_bundle_content, "The rows"),
             {409, "application/json", NULL, false, "The rows of the bundle were not kept"})},
    {POST("/admin/api/bundle-audit/{id}/rollback", "rollbackBundle", bundle_audit_rollback_handle),
     ADMIN_WRITE,
     QUERY(bundle_audit_rollback_params),
     ABOUT("Restore the rows of an earlier bundle"),
     ANSWERS(GIVES(200, answer_deploy, "Counts of the changes"))},

    {POST("/admin/api/managed-resources/{name}/sync", "syncManagedResource", tools_sync_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(tool_sync_table),
     ABOUT("Read the tools, prompts and instructions of an MCP upstream"),
     ANSWERS(GIVES(200, answer_tool_sync, "What changed"),
             FAILS(409, "The resource is not of type MCP, not complete, or was changed meanwhile"),
             FAILS(502, "The upstream does not answer as it should"),
             FAILS(504, "The upstream did not answer in time"))},
    {POST("/admin/api/managed-resources/{name}/tools/{tool}/try", "tryTool", tool_try_handle),
     ADMIN_ASK,
     .precheck = tool_try_check,
     JSON,
     FIELDS_OF(tool_try_table),
     ABOUT("Ask policy about a call of a tool as the gateway would, and call it if the body says "
           "so"),
     ANSWERS(GIVES(200, answer_tool_try, "The decision, and the result of a call"))},
    {POST("/admin/api/managed-resources/{name}/tools/{tool}/approve", "approveTool",
          tool_approve_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(tool_approval_table),
     ABOUT("Approve a tool that an upstream added or changed"),
     ANSWERS(GIVES_NOTHING(204, "The tool is served"),
             FAILS(409, "The upstream no longer has the tool, or describes it in another way"))},
    {GET("/admin/api/managed-resources/{name}/prompts", "listPrompts", prompts_list_handle),
     ADMIN,
     ABOUT("List the stored prompts of an MCP upstream"),
     ANSWERS(GIVES_LIST(stored_prompt_table, "The prompts, by name"),
             FAILS(409, "The resource is not of type MCP"))},
    {POST("/admin/api/managed-resources/{name}/prompts/{prompt}/approve", "approvePrompt",
          prompt_approve_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(tool_approval_table),
     ABOUT("Approve a prompt that an upstream added or changed"),
     ANSWERS(GIVES_NOTHING(204, "The prompt is served"),
             FAILS(409, "The upstream no longer has the prompt, or describes it in another way"))},
    {GET("/admin/api/managed-resources/{name}/instructions", "getInstructions",
         instructions_show_handle),
     ADMIN,
     ABOUT("Show the stored instructions of an MCP upstream"),
     ANSWERS(GIVES(200, stored_instructions_table, "The instructions"),
             FAILS(409, "The resource is not of type MCP"))},
    {POST("/admin/api/managed-resources/{name}/instructions/approve", "approveInstructions",
          instructions_approve_handle),
     ADMIN_WRITE,
     BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX),
     FIELDS_OF(tool_approval_table),
     ABOUT("Approve the instructions that an upstream gave last"),
     ANSWERS(GIVES_NOTHING(204, "Clients get them"),
             FAILS(409, "The upstream no longer gives instructions, or gives others"))},

    {POST("/gateway/mcp", "callMcp", mcp_handle),
     MCP,
     ABOUT("Answer an MCP message to all resources (Model Context Protocol 2026-07-28, and older "
           "clients)"),
     ANSWERS(MCP_ANSWERS)},
    {POST("/gateway/mcp/{name}", "callMcpResource", mcp_resource_handle),
     MCP,
     ABOUT("Answer an MCP message to one resource"),
     ANSWERS(MCP_ANSWERS)},
    {DELETE("/gateway/mcp", "endMcpSession", mcp_session_end),
     MCP_SESSION,
     ABOUT("End a session of an MCP client from before revision 2026-07-28"),
     ANSWERS(MCP_ENDED)},
    {DELETE("/gateway/mcp/{name}", "endMcpResourceSession", mcp_session_end),
     MCP_SESSION,
     ABOUT("End a session at the endpoint of one resource"),
     ANSWERS(MCP_ENDED)},
    {GET("/gateway/mcp", "openMcpStream", mcp_session_stream),
     MCP_SESSION,
     ABOUT("Open the stream of a session, on which an MCP client from before revision 2026-07-28 "
           "is told of changes of lists and resources"),
     ANSWERS(MCP_TELLS)},
    {GET("/gateway/mcp/{name}", "openMcpResourceStream", mcp_session_stream),
     MCP_SESSION,
     ABOUT("Open the stream of a session at the endpoint of one resource"),
     ANSWERS(MCP_TELLS)},

    {GET("/auth/check", "checkRequest", check_handle),
     CHECKED,
     .arg = &check_by_fields,
     ABOUT("Tell a web server if it may serve a request (forward authentication)"),
     ANSWERS(CHECK_ANSWERS)},
    {HEAD("/auth/check", "checkRequestHead", check_handle),
     CHECKED,
     .arg = &check_by_fields,
     ABOUT("Tell the same without a body"),
     ANSWERS(CHECK_ANSWERS)},
    {GET("/auth/check/at/**", "checkGet", check_handle),
     CHECKED_AT},
    {HEAD("/auth/check/at/**", "checkHead", check_handle),
     CHECKED_AT},
    {POST("/auth/check/at/**", "checkPost", check_handle),
     CHECKED_AT},
    {PUT("/auth/check/at/**", "checkPut", check_handle),
     CHECKED_AT},
    {PATCH("/auth/check/at/**", "checkPatch", check_handle),
     CHECKED_AT},
    {DELETE("/auth/check/at/**", "checkDelete", check_handle),
     CHECKED_AT},
    {OPTIONS("/auth/check/at/**", "checkOptions", check_handle),
     CHECKED_AT},

    {GET("/bundles/{name}", "getBundle", bundle_get_handle),
     ENGINE,
     ABOUT("Fetch the policy bundle (for the engine)"),
     ANSWERS({200, "application/gzip", NULL, false, "The bundle"},
             {200, "application/vnd.openpolicyagent.bundles", NULL, false,
              "The bundle, with long polling"},
             GIVES_NOTHING(304, "The engine has this bundle"))},
    {POST("/bundles/status", "pushBundleStatus", bundle_status_handle),
     ENGINE,
     .cache = CACHE_PRIVATE,
     BODY(BODY_RAW, ENGINE_STATUS_MAX),
     ABOUT("Report the status of the engine"),
     ANSWERS(GIVES_NOTHING(200, "The report is stored"))},
    {POST("/bundles/status/", "pushBundleStatusSlash", bundle_status_handle),
     ENGINE,
     .cache = CACHE_PRIVATE,
     BODY(BODY_RAW, ENGINE_STATUS_MAX),
     ABOUT("Report the status of the engine"),
     ANSWERS(GIVES_NOTHING(200, "The report is stored"))},

    {GET("/gateway/{name}/**", "proxyGet", gateway_proxy_handle),
     PROXIED},
    {HEAD("/gateway/{name}/**", "proxyHead", gateway_proxy_handle),
     PROXIED},
    {POST("/gateway/{name}/**", "proxyPost", gateway_proxy_handle),
     PROXIED},
    {PUT("/gateway/{name}/**", "proxyPut", gateway_proxy_handle),
     PROXIED},
    {PATCH("/gateway/{name}/**", "proxyPatch", gateway_proxy_handle),
     PROXIED},
    {DELETE("/gateway/{name}/**", "proxyDelete", gateway_proxy_handle),
     PROXIED},
    {OPTIONS("/gateway/{name}/**", "proxyOptions", gateway_proxy_handle),
     PROXIED},

    {GET("/openapi.json", "getOpenApi", api_document_handle),
     PUBLIC,
     .cache = CACHE_OWN,
     .cors = CORS_OPEN,
     ABOUT("This description"),
     ANSWERS(GIVES_JSON("OpenAPI 3.1.0"),
             {404, "application/json", NULL, false, "Not for this caller"})},
    {GET("/v3/api-docs", "getApiDocs", api_document_handle),
     PUBLIC,
     .cache = CACHE_OWN,
     .cors = CORS_OPEN,
     ABOUT("This description"),
     ANSWERS(GIVES_JSON("OpenAPI 3.1.0"),
             {404, "application/json", NULL, false, "Not for this caller"})},

    {GET("/swagger-ui", "openReader", reader_open_handle),
     PUBLIC,
     ABOUT("Lead to the reader of this description"),
     ANSWERS(GIVES_REDIRECT,
             {404, "application/json", NULL, false, "The description is switched off"})},
    {GET("/swagger-ui/", "getReader", reader_file_handle),
     READER(reader_page, "text/html"),
     ABOUT("Page that shows this description and tries requests")},
    {GET("/swagger-ui/index.html", "getReaderIndex", reader_file_handle),
     READER(reader_page, "text/html"),
     ABOUT("Page that shows this description and tries requests")},
    {GET("/swagger-ui/reader.css", "getReaderStyle", reader_file_handle),
     READER(reader_style, "text/css"),
     ABOUT("Style of the page")},
    {GET("/swagger-ui/reader.js", "getReaderScript", reader_file_handle),
     READER(reader_script, "text/javascript"),
     ABOUT("Script of the page")},

    {GET("/health", "getHealth", health_live_handle),
     HEALTH,
     .in_clear = true,
     ABOUT("True while the process answers"),
     ANSWERS(GIVES(200, answer_health, "The process answers"))},
    {GET("/health/live", "getHealthLive", health_live_handle),
     HEALTH,
     .in_clear = true,
     ABOUT("True while the process answers"),
     ANSWERS(GIVES(200, answer_health, "The process answers"))},
    {GET("/health/ready", "getHealthReady", health_ready_handle),
     HEALTH,
     .in_clear = true,
     ABOUT("Check everything that the service needs"),
     ANSWERS(GIVES(200, answer_readiness, "Ready, or degraded"),
             GIVES(503, answer_readiness, "A check is DOWN"))},
    {GET("/metrics", "getMetrics", metrics_handle),
     HEALTH,
     ABOUT("Counters in the text format of Prometheus"),
     ANSWERS({200, "text/plain", NULL, false, "The counters"},
             {404, "application/json", NULL, false, "Not for this caller"})},
};

/* The web server asks on a socket of the host, so the scheme is that of the request in question. */
const struct route route_authorizer = {
    GET("/auth/check", "authorize", check_handle),
    CHECKED,
    .in_clear = true,
    .arg = &check_as_authorizer,
};

const struct route route_guards[] = {
    {.path = "/admin/", .operation = "none", ADMIN},
};
/* clang-format on */

const size_t routes_count = sizeof(routes) / sizeof(routes[0]);
const size_t route_guards_count = sizeof(route_guards) / sizeof(route_guards[0]);
