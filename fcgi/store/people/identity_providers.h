/* Identity providers: their rows, and the list that a process caches until it changes. */
#ifndef AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_H
#define AZ_STORE_PEOPLE_IDENTITY_PROVIDERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A stored provider. NULL: empty. */
struct identity_provider {
    int64_t id;            /* internal key */
    int64_t version;       /* changes with every update */
    const char *idp_id;    /* its name in paths */
    const char *name;      /* name shown to users; NULL: show idp_id */
    const char *issuer;    /* its issuer identifier, compared octet by octet */
    const char *client_id; /* our client_id there */
    const unsigned char
        *secret_sealed;   /* our secret there, sealed; NULL: public client with PKCE */
    size_t secret_length; /* octets */
    const char *authorization_endpoint; /* NULL: taken from discovery (oidc/upstream/upstream.h), so
                                           the next three */
    const char *token_endpoint;
    const char *userinfo_endpoint;
    const char *jwks_uri;
    const char **scopes;         /* ends with NULL; NULL: openid profile email */
    json_t *authorize_params;    /* object of strings, or NULL */
    const char *userinfo;        /* auto, off or required; NULL: auto */
    const char **list_claims;    /* claims that are lists, ending with NULL, or NULL */
    const char **claims;         /* claims that are kept, ending with NULL; NULL: all */
    const char *discovery_url;   /* of its discovery document; NULL: below its issuer */
    const char **issuer_aliases; /* other texts of its iss, ending with NULL, or NULL */
    const char *auth_method;     /* our authentication there (client/proof.h); NULL: by discovery */
    int64_t secret_ends;         /* when our secret there ends, seconds since 1970; 0: unknown */
    const char **prompts;        /* words of prompt that it takes, ending with NULL; NULL: all */
    bool sends_auth_time;        /* false: its ID tokens have no auth_time */
    bool enabled;                /* false: no sign-ins, and its sessions have ended */
};

/* Columns of `identity_provider p` for statements that read a provider beside other things, and the
 * rows of their table, for a member of a struct. */
#define IDENTITY_PROVIDER_COLUMNS                                                                  \
    "p.id, p.version, p.idp_id, p.name, p.issuer, p.client_id, p.secret_sealed,"                   \
    " p.authorization_endpoint, p.token_endpoint, p.userinfo_endpoint, p.jwks_uri,"                \
    " to_json(p.scopes) AS scopes, p.authorize_params, p.enabled,"                                 \
    " to_json(p.list_claims) AS list_claims, p.userinfo,"                                          \
    " p.sends_auth_time IS NOT FALSE AS sends_auth_time, to_json(p.claims) AS claims,"             \
    " p.discovery_url, to_json(p.issuer_aliases) AS issuer_aliases, p.token_auth_method,"          \
    " floor(extract(epoch FROM coalesce(p.client_secret_expires_at, p.secret_exp)))::bigint"       \
    "  AS secret_ends, to_json(p.prompts) AS prompts"
/* clang-format off */
#define IDENTITY_PROVIDER_ROWS(into, member)                                                       \
    {"id", DB_INTO(into, member.id)},                                                              \
    {"version", DB_INTO(into, member.version)},                                                    \
    {"idp_id", DB_INTO(into, member.idp_id)},                                                      \
    {"name", DB_INTO(into, member.name)},                                                          \
    {"issuer", DB_INTO(into, member.issuer)},                                                      \
    {"client_id", DB_INTO(into, member.client_id)},                                                \
    {"secret_sealed", DB_OCTETS_INTO(into, member.secret_sealed, member.secret_length)},           \
    {"authorization_endpoint", DB_INTO(into, member.authorization_endpoint)},                      \
    {"token_endpoint", DB_INTO(into, member.token_endpoint)},                                      \
    {"userinfo_endpoint", DB_INTO(into, member.userinfo_endpoint)},                                \
    {"jwks_uri", DB_INTO(into, member.jwks_uri)},                                                  \
    {"scopes", DB_INTO(into, member.scopes)},                                                      \
    {"authorize_params", DB_INTO(into, member.authorize_params)},                                  \
    {"enabled", DB_INTO(into, member.enabled)},                                                    \
    {"list_claims", DB_INTO(into, member.list_claims)},                                            \
    {"userinfo", DB_INTO(into, member.userinfo)},                                                  \
    {"sends_auth_time", DB_INTO(into, member.sends_auth_time)},                                    \
    {"claims", DB_INTO(into, member.claims)},                                                      \
    {"discovery_url", DB_INTO(into, member.discovery_url)},                                        \
    {"issuer_aliases", DB_INTO(into, member.issuer_aliases)},                                      \
    {"token_auth_method", DB_INTO(into, member.auth_method)},                                      \
    {"secret_ends", DB_INTO(into, member.secret_ends)},                                            \
    {"prompts", DB_INTO(into, member.prompts)}
/* clang-format on */

/* True if `iss` is the issuer of a provider or one of its aliases (world.md U8). */
bool identity_provider_says(const struct identity_provider *provider, const char *iss);

/* Return the place that a secret is sealed for, so that a secret moved to another row does not
 * open. NULL: no memory. */
const char *identity_provider_secret_place(TALLOC_CTX *mem, const char *idp_id);

/* All providers, oldest first. */
struct identity_providers {
    int64_t version;  /* last value of the sequence when they were read */
    const char *home; /* home issuer that the first sign-in stored; NULL: there was none yet */
    size_t count;     /* entries */
    const struct identity_provider *provider; /* array */
};

/*
 * Get the providers: from the cache, unless `fresh` is set or nothing is cached; else read them
 * (one trip). A list without an enabled provider is not cached, because no later write depends on
 * it that could find out that it is out of date. The list lives at least until the end of the
 * operation. A write that depends on the list must check its version in its statement.
 */
enum az_status identity_providers_get(struct op *op, bool fresh,
                                      const struct identity_providers **ret);

/* Most logos of one page: with all of them it has a third of the size that a page may have
 * (http/page/template.h). The providers after these are shown without one. */
#define PROVIDER_LOGOS_MAX 16

/* Get the logos of enabled providers, oldest first, as an object of data: URLs by idp_id, on
 * op->mem. They are read for each page (one trip), because only that page needs them. */
enum az_status identity_provider_logos(struct op *op, json_t **ret);

#endif
