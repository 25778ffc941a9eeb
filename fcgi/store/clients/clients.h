/* Clients: their rows, and the cache of a process, whose versions every write checks. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_H
#define AZ_STORE_CLIENTS_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/digest.h"
#include "store/db/trip/db_row.h"

/* Clients in the cache of a worker; most take half a kilobyte. Anyone can register a client of 64
 * kB and make every worker read it, so the octets are limited too: the cache stays below 1 MiB of a
 * worker's 6. */
#define CLIENT_CACHE_MAX 1000
#define CLIENT_CACHE_OCTETS_MAX (1024 * 1024)

/* The part of a client's row that the OAuth endpoints need. It never holds a secret, only the
 * secret's SHA-256. `id` is 0 for a client without a row, which is known by its metadata document
 * only. */
struct client {
    int64_t id;                   /* internal key */
    int64_t version;              /* changes with every update of the row */
    const char *client_id;        /* RFC 6749 2.2 */
    const char *type;             /* confidential or public */
    const char *registration;     /* ADMIN, DCR, STATEMENT or CIMD */
    const char *auth_method;      /* token_endpoint_auth_method, or NULL: any that fits the type */
    const char *scope;            /* registered ceiling, or NULL */
    const char *id_token_alg;     /* id_token_signed_response_alg, or NULL: RS256 */
    const char *software_id;      /* claim of a verified statement, or NULL */
    const char *software_version; /* claim of a verified statement, or NULL */
    const char *statement;        /* verified claims as JSON text, or NULL */
    const char *name;             /* client_name, or NULL */
    const char *uri;              /* client_uri, or NULL */
    const char *logo;             /* logo_uri, or NULL */
    const char *policy;           /* policy_uri, or NULL */
    const char *terms;            /* tos_uri, or NULL */
    const char *jwks;             /* registered keys as JSON text, for private_key_jwt; or NULL */
    const char *jwks_uri;         /* address of its keys, for private_key_jwt; or NULL */
    const char **redirect_uris;   /* registered; ends with NULL; never NULL itself */
    const char **grant_types;     /* registered; ends with NULL; NULL if none are registered */
    bool enabled;                 /* false: authentication fails, tokens are inactive */
    bool pkce_required;           /* a code needs a challenge: by the row, or for all clients */
    bool dpop_bound;              /* dpop_bound_access_tokens: every token is bound to a key */
    bool has_secret;              /* secret_hash is set */
    bool has_previous;            /* previous_hash is set */
    unsigned char secret_hash[SHA256_OCTETS]; /* SHA-256 of the secret */
    unsigned char
        previous_hash[SHA256_OCTETS]; /* of the previous secret, until previous_expires_at */
    int64_t previous_expires_at;      /* seconds since 1970 */
};

/* True if the client is public (RFC 6749 2.1): it has no secret and cannot authenticate. */
bool client_is_public(const struct client *client);

/* Return an empty cache of clients for one process, on mem; NULL: no memory. */
struct client_cache;
struct client_cache *client_cache_new(TALLOC_CTX *mem);

/* Fetch a client: from the cache unless `fresh`, else from the database (one trip), and cache it.
 * *ret_client is NULL for an unknown client_id (AZ_OK). It lives until the cache drops it, at least
 * until the end of the operation. */
enum az_status client_fetch(struct op *op, const char *client_id, bool fresh,
                            struct client **ret_client);

/* True if client_fetch would answer without reading. */
bool client_is_cached(const struct op *op, const char *client_id);

/* Drop a client from this process's cache, because its version is out of date. */
void client_forget(struct op *op, const char *client_id);

/* Get and set the day (since 1970) for which this process has recorded that a cached client got a
 * token, or 0 if there is none or the client is not cached. For client_use.c. */
int64_t client_used_day(const struct op *op, const char *client_id);
void client_set_used_day(struct op *op, const char *client_id, int64_t day);

/* Return the place that a client's secret is sealed for, which depends on the client_id. It lives
 * on mem. */
const char *client_secret_place(TALLOC_CTX *mem, const char *client_id);

/* The row that names the resources with JWT access tokens (world.md T1), by resource indicator. */
#define JWT_RESOURCES_ROW "svc.registry.jwt_resources"

/* The end of a call of regexp_replace that takes the slash of an empty path off a resource
 * indicator or client_id (oauth.md 2.7). */
#define RESOURCE_BARE ", '^([^/]+//[^/?#]+)/$', '\\1')"

/* Finds a row if no new client may have the client_id $1: tokens of a subject with that name would
 * look alike, and a JWT access token for a resource with that name would be taken for its ID
 * token. */
#define CLIENT_NAME_TAKEN                                                                          \
    "SELECT 1 FROM subject WHERE subject = $1 UNION ALL"                                           \
    " SELECT 1 FROM jsonb_object_keys((SELECT payload::jsonb FROM policy_data"                     \
    "  WHERE data_key = 'svc.registry.jwt_resources')) named"                                      \
    "  WHERE regexp_replace(named" RESOURCE_BARE " = regexp_replace($1" RESOURCE_BARE

/* Find a client whose client_id is one of these resources (a list that ends with NULL), compared as
 * CLIENT_NAME_TAKEN does; *ret is its client_id, or NULL. One trip. */
enum az_status client_named_as(struct op *op, const char *const *resources, const char **ret);

/* Columns of `client c` for statements that read a client beside other things, and the rows of
 * their table, for a member of a struct. Claims of a software statement count only if the client
 * registered with one. */
#define CLIENT_COLUMNS                                                                             \
    "c.id AS client_key, c.version AS client_version, c.client_id, c.client_type,"                 \
    " c.registration_type, c.auth_method, c.enabled,"                                              \
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_id END AS software_id,"          \
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_version END AS "                 \
    "software_version,"                                                                            \
    " CASE WHEN c.registration_type = 'STATEMENT' THEN c.software_statement::text END AS "         \
    "statement"

/* clang-format off */
#define CLIENT_ROWS(into, member)                                                                  \
    {"client_key", DB_INTO(into, member.id), .needed = true},                                      \
    {"client_version", DB_INTO(into, member.version), .needed = true},                             \
    {"client_id", DB_INTO(into, member.client_id), .needed = true},                                \
    {"client_type", DB_INTO(into, member.type), .needed = true},                                   \
    {"registration_type", DB_INTO(into, member.registration), .needed = true},                     \
    {"auth_method", DB_INTO(into, member.auth_method)},                                            \
    {"enabled", DB_INTO(into, member.enabled), .needed = true},                                    \
    {"software_id", DB_INTO(into, member.software_id)},                                            \
    {"software_version", DB_INTO(into, member.software_version)},                                  \
    {"statement", DB_INTO(into, member.statement)}
/* clang-format on */

#endif
