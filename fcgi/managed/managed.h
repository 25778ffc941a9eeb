/*
 * A managed resource: an upstream behind the gateway, with its routes, tools and credentials
 * (specification 2.10, gateway-admin.md 3.2 to 3.4). This room knows neither HTTP nor SQL.
 */
#ifndef AZ_MANAGED_MANAGED_H
#define AZ_MANAGED_MANAGED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "base/status.h"

/* Longest name, in octets: with "__" and a tool it must leave room in an exposed name. */
#define MANAGED_NAME_MAX 32

/* Kinds of upstreams. */
enum managed_upstream {
    MANAGED_REST,   /* any HTTP server */
    MANAGED_MCP,    /* an MCP server */
    MANAGED_STATIC, /* no upstream: the routes have their answers */
    MANAGED_UPSTREAMS
};

/* States (gateway-admin.md 3.4); status.h has their transitions. */
enum managed_status {
    MANAGED_PENDING,  /* a setting or secret is missing, or it was never reached */
    MANAGED_ACTIVE,   /* it serves */
    MANAGED_DEGRADED, /* the upstream fails; calls are still tried */
    MANAGED_ERROR,    /* it cannot work until the operator acts */
    MANAGED_DISABLED, /* enabled is false */
    MANAGED_STATUSES
};

/* Types of upstreamAuth; auth.h has their members. */
enum managed_auth_type {
    MANAGED_AUTH_NONE,
    MANAGED_AUTH_STATIC_HEADER,
    MANAGED_AUTH_BASIC,
    MANAGED_AUTH_CLIENT_CREDENTIALS,
    MANAGED_AUTH_TOKEN_EXCHANGE,
    MANAGED_AUTH_OAUTH_LINK,
    MANAGED_AUTH_USER_SECRET,
    MANAGED_AUTH_TYPES
};

/* The treatment by toolPinning of a tool that is new or changed since it was approved. */
enum managed_pinning {
    MANAGED_PINNING_BLOCK, /* it is not served until the operator approves it; the default */
    MANAGED_PINNING_WARN,  /* it is served */
};

/* Values of toolList, by which tools/list shows tools. */
enum managed_tool_list {
    MANAGED_LIST_AUTO,   /* the tools, or the search in place of many; the default */
    MANAGED_LIST_ALL,    /* the tools */
    MANAGED_LIST_SEARCH, /* the search */
    MANAGED_LISTS
};

/* State of the pin of a tool of an MCP upstream. */
enum managed_pin {
    MANAGED_PIN_NONE,     /* never synced */
    MANAGED_PIN_APPROVED, /* as approved */
    MANAGED_PIN_NEW,      /* appeared after the first sync */
    MANAGED_PIN_CHANGED,  /* differs from what was approved */
    MANAGED_PIN_MISSING,  /* the upstream no longer has it */
    MANAGED_PINS
};

/* A header field. */
struct managed_header {
    const char *name;
    const char *value;
};

/* Header fields in their order. */
struct managed_headers {
    const struct managed_header *item;
    size_t count;
};

/* One segment of a path pattern. */
struct managed_segment {
    bool variable;    /* {text}: any one segment that is not empty */
    const char *text; /* the literal, or the name of the variable */
};

/* A path pattern: "/repos/{owner}/issues". "/" has no segments. */
struct managed_pattern {
    const struct managed_segment *segment;
    size_t count;
    size_t literals; /* segments that are no variables */
    bool rest;       /* ends with a slash and two asterisks */
};

/* The answer of a route of a STATIC resource. */
struct managed_answer {
    int status; /* 200 to 599 */
    struct managed_headers headers;
    const void *body;
    size_t length; /* octets */
};

/* A route as an MCP resource. */
struct managed_route_resource {
    const char *name, *title, *description, *mime_type; /* all but the name may be NULL */
    const char **query; /* parameters of the template, ends with NULL, or NULL */
};

struct managed_route {
    const char *id;
    const char *const *methods;              /* in upper case, ends with NULL */
    const char *path;                        /* pattern as given, for policy and audit rows */
    struct managed_pattern pattern;          /* the same, read */
    struct managed_pattern upstream_pattern; /* of upstreamPath; the same as pattern by default */
    const char *action;                      /* for policy; the id if none was given */
    json_t *scopes; /* array of the scopes that it needs; [defaultScope] by default */
    const char *
        *query_allow; /* names of parameters, ends with NULL; the pointer is NULL if all pass */
    size_t query_allow_count;
    const char **
        query_repeat; /* names of parameters that may come several times, ends with NULL, or NULL */
    bool encoded_slash; /* encodedSlash: the upstream takes %2F for a character of a segment */
    int64_t max_body;   /* maxBodyBytes: octets of the request's body; 0: the setting */
    int64_t timeout_ms; /* timeoutMs; 0: the setting */
    struct managed_headers request_headers; /* those of the resource, then its own, which win */
    const char **forward_headers;           /* of the caller, ends with NULL, or NULL */
    const struct managed_answer *response;  /* STATIC; else NULL */
    bool preserve_host;                     /* the upstream gets the Host of the caller */
    int64_t retries;              /* more attempts after a connection that failed, 0 to 2 */
    const char *success_pointer;  /* successWhen: JSON Pointer (RFC 6901), or NULL */
    const json_t *success_equals; /* value that stands there in an answer that is no failure */
    const struct managed_route_resource *mcp; /* mcpResource, or NULL */
    json_t *obligations; /* object of obligations that are always added, or NULL */
    bool enabled;        /* false: its paths are served by nobody */
    bool left_out;       /* of a stored document: it is disabled for a fault */
    const char *origin;  /* manifest or local */
};

/* The names of a tool at one endpoint. */
struct managed_names {
    const char *shown; /* in lists; at most SVC_GATEWAY_TOOL_NAME_MAX */
    const char *also;  /* by which a call is served too: at most MANAGED_EXPOSED_MAX; NULL: the same
                        */
};

struct managed_tool {
    const char *name;             /* within the resource */
    struct managed_names exposed; /* at /gateway/mcp: resource__name, sanitized */
    struct managed_names single;  /* at /gateway/mcp/{name}: name, sanitized */
    const char *title;            /* or NULL */
    const char *description;      /* or NULL */
    json_t *input_schema;         /* object; never NULL */
    json_t *output_schema;        /* object, or NULL */
    json_t *annotations;          /* object of the operator or the manifest, or NULL */
    json_t *upstream_annotations; /* MCP: object of what the upstream claims, or NULL */
    json_t *icons;                /* MCP: array of pictures that the upstream gives, or NULL */
    json_t *meta;                 /* MCP: object, `_meta` of the upstream, or NULL */
    json_t *scopes; /* array of the scopes that it needs; those of its route, or [defaultScope] */
    const struct managed_route *route; /* REST and STATIC: the request of a call; MCP: NULL */
    json_t *args;                      /* object {path, query, header, body}, or NULL */
    const char *upstream_name;         /* MCP: name at the upstream; else NULL */
    enum managed_pin pin;
    const char *pin_sha256; /* hash of what the upstream said last, in hex (canonical.h), or NULL if
                               it was never synced */
    bool enabled;
    bool served; /* enabled, passes toolFilter, its route is enabled, and its pin does not hold it
                    back */
    const char *origin; /* manifest, local or upstream */
};

/* upstreamAuth without its secrets. NULL or 0: not given, and it has no default. */
struct managed_auth {
    enum managed_auth_type type;
    const char *type_name; /* as written: "oauth_link" */
    const char *header;    /* name of the field that carries the credential; NULL with `query` */
    const char *scheme;    /* before the value; may be empty */
    const char *query;     /* parameter that carries the credential in place of a header */
    const char *username;  /* basic */

    const char *provider;  /* name of the provider, for people */
    const char *discovery; /* none, prm or issuer */
    const char *issuer;
    const char *authorization_endpoint, *token_endpoint, *revocation_endpoint;
    const char *registration; /* static, cimd or dcr */
    const char *redirect_uri; /* own or shared; NULL: as the row says (redirect_shared) */
    const char *client_id;
    const char *token_auth_method; /* client_secret_basic, client_secret_post, private_key_jwt or
                                      none */
    const char *key_id, *key_alg;  /* privateKeyJwt.kid and .alg */
    json_t *scopes;                /* array of texts, or NULL */
    const char *scope_separator;   /* " " by default */
    const char *scope_param;       /* "scope" by default */
    const char *pkce;              /* S256 (the default), force or none */
    const char *audience, *resource;
    const char *resource_param; /* send (the default), authorize_only or never */
    json_t *authorize_params, *token_params, *refresh_params; /* objects of texts, or NULL */
    const char *token_body_format;                            /* form (the default) or json */
    const char *access_token_pointer; /* JSON Pointer; "/access_token" by default */
    const char *account_pointer;      /* JSON Pointer of the label of the account, or NULL */
    int64_t default_expires_in;       /* seconds; 0: the token does not expire */
    const char *subject_token_type;   /* access_token */
    const char *requested_token_type; /* URI, or NULL */

    const char *label, *help;                    /* user_secret: what people read */
    const char *validate_method, *validate_path; /* user_secret: request that tries it, or NULL */
};

/* The secrets of upstreamAuth, opened; a member is NULL if it is not set. The texts are wiped when
 * they are freed. */
struct managed_secrets {
    const char *value;         /* static_header */
    const char *password;      /* basic */
    const char *client_secret; /* clientSecret */
    const char *private_key;   /* privateKeyJwt.key: PEM or JWK */
};

/* The questions that an MCP upstream may ask while it answers a call: each is a decision of its
 * own, and all are off by default (gateway-admin.md 1.12). */
struct managed_interaction {
    bool form;     /* elicitation: the person fills in a form */
    bool url;      /* elicitation: the person opens an address */
    bool sampling; /* the model of the client writes a text */
    bool roots;    /* the client tells its root directories */
    const char *
        *url_hosts; /* hosts of such addresses beside the upstream's, end with NULL; or NULL */
};

/* The pages of other origins that may call a resource at the proxy (Fetch; world.md G1). */
struct managed_cors {
    const char **origins; /* end with NULL; NULL: no page may */
    const char *methods;  /* for Access-Control-Allow-Methods */
    const char *headers;  /* for Access-Control-Allow-Headers */
    const char *expose;   /* for Access-Control-Expose-Headers */
    int64_t max_age;      /* for Access-Control-Max-Age, seconds */
};

/* A tool or route of a stored document that this program does not serve (document.h). */
struct managed_left_out {
    const char *kind; /* tool or route */
    const char *name; /* of the tool, id of the route, or its place: "tools[2]" */
    const char *why;  /* fits after the name */
};

struct managed_resource {
    int64_t id;      /* id of the row, or 0 if not stored */
    int64_t version; /* changes with every save, sync and approval, not with the status */
    const char *name;
    const char *display_name;
    enum managed_upstream upstream;
    const char *upstream_url;                     /* REST and MCP, or NULL before it is known */
    const char *default_scope;                    /* or NULL */
    const char *resource_type;                    /* URI for policy, or NULL */
    const char *connector_id, *connector_version; /* or NULL */
    json_t *implies; /* scopes of the connector: arrays of those that each implies, or NULL */
    bool enabled;
    bool insecure_host; /* the setting allows http and private addresses for the host */
    enum managed_status status;
    const char *status_reason; /* or NULL */
    const struct managed_route *route;
    size_t routes;
    const struct managed_tool *tool;
    size_t tools;
    const struct managed_left_out *left_out; /* of a stored document */
    size_t left_outs;
    struct managed_auth auth;
    bool redirect_shared; /* oauth_link: stored before each resource had its own redirect address */
    const char **tool_include, **tool_exclude; /* globs of toolFilter, end with NULL, or NULL */
    enum managed_pinning pinning;
    enum managed_tool_list tool_list;
    bool has_resources;       /* MCP: mcpResources is live; else: a route has mcpResource */
    bool live_resources;      /* mcpResources is live: its MCP resources are listed and read */
    bool resource_queries;    /* MCP: URIs with a query pass */
    bool subscriptions;       /* MCP: clients may learn of changes of its resources */
    bool pinned_prompts;      /* mcpPrompts is pinned: a sync reads its prompts, which are served */
    bool pinned_instructions; /* mcpInstructions is pinned: so are its instructions */
    int64_t max_result;       /* MCP: octets of one answer of the upstream */
    struct managed_interaction interaction; /* MCP */
    const char **public_urls;  /* under which a web server serves it, end with NULL; or NULL */
    const char *edge_audience; /* aud of the JWT that its web server gets, or NULL: it gets none */
    int64_t edge_lifetime;     /* of that JWT, seconds */
    struct managed_cors cors;
    struct managed_headers request_headers;
    const char *missing;    /* first setting or secret that is missing ("upstreamAuth.clientId");
                               NULL: it is complete */
    const char *unreadable; /* first fault of a stored document that this program cannot read, after
                               its place; NULL: it can */
};

/* Return the word for a value, as it stands in documents. */
const char *managed_upstream_word(enum managed_upstream upstream); /* REST, MCP, STATIC */
const char *managed_status_word(enum managed_status status);       /* pending, ... */
const char *managed_pin_word(enum managed_pin pin);                /* approved, ... */

/* Return the value for a word; the first one of the enum for another text. */
enum managed_upstream managed_upstream_of(const char *word);
enum managed_status managed_status_of(const char *word);
enum managed_pin managed_pin_of(const char *word);
enum managed_tool_list managed_tool_list_of(const char *word);

/* True if a tool is served: enabled, not held back by toolFilter, its route or its pin.
 * managed_read() stores the result in tool->served. */
bool managed_tool_is_served(const struct managed_resource *resource,
                            const struct managed_tool *tool);

/* True if tools of an MCP upstream wait for approval. */
bool managed_tools_wait(const struct managed_resource *resource);

#endif
