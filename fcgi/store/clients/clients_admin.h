/* Clients as the administrator reads and writes them. */
#ifndef AZ_STORE_CLIENTS_CLIENTS_ADMIN_H
#define AZ_STORE_CLIENTS_CLIENTS_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "store/db/rows/json_rows.h"

/* The columns of a ClientDto that are written; admin/client_dto.c maps its members to them. Neither
 * the key nor the secret: those have parameters of their own. */
#define CLIENTS_ADMIN_COLUMNS                                                                      \
    "client_name, client_type, client_uri, logo_uri, enabled, redirect_uris,"                      \
    " post_logout_redirect_uris, jwks, jwks_uri, auth_method, software_statement,"                 \
    " software_statement_json, issued_statement, scope, id_token_signed_response_alg, dpop_bound," \
    " pkce_required, updated_by"

/*
 * ClientDto, keyed by clientId.
 *
 * An insert makes an ADMIN client; it is refused when a client or a subject has the name, because
 * tokens of the two would look alike. A replace keeps `enabled`, the scope, the algorithm of ID
 * tokens, dpopBoundAccessTokens, pkceRequired and the secret when they are not given, always keeps
 * the statement that a client registered with, and drops the secret of a client that is public
 * afterwards, or has keys in its place. Tokens of a deleted client name a row that is gone, so they
 * are inactive.
 */
extern const struct json_rows clients_admin_rows;

/* Clients must match each of these; NULL matches any. */
struct clients_filter {
    const char *text; /* part of the client_id or of the name, in any case */
    const char *registration_type, *client_type;
    const char *enabled;   /* true or false */
    bool has_used_since;   /* used_since_ms is set: only clients that were used since then */
    int64_t used_since_ms; /* milliseconds since 1970 */
    const char *sort;      /* a word of clients_list_params, or NULL: as they were made */
};

/* Clients as JSON text, and the number of clients on all pages; both on op->mem. */
struct clients_found {
    const char *array; /* of ClientDto, in the order of the filter */
    int64_t total;
};

/* Stored access tokens up to which a page counts those of each client: some milliseconds. */
#define CLIENTS_TOKENS_MAX 5000

/* Read a page of clients, with liveTokens, allowed24h and denied24h; limit 0: all of them, without
 * these. The last use and the decisions are those that housekeeping has added up. One trip. */
enum az_status clients_page(struct op *op, const struct clients_filter *filter, int64_t limit,
                            int64_t offset, struct clients_found *ret);

/* The stored client that a PUT replaces, as far as the rules of ClientDto depend on it. */
struct client_state {
    bool has_secret;          /* a secret is stored */
    const char *type;         /* confidential or public */
    const char *auth_method;  /* token_endpoint_auth_method, or NULL */
    const char *registration; /* ADMIN, DCR, STATEMENT or CIMD */
    const char *statement;    /* stored claims as JSON text, or NULL */
    const char *issued;       /* the statement that was signed of them, or NULL */
    const char *id_token_alg; /* or NULL */
    bool dpop_bound;          /* dpopBoundAccessTokens */
};

/* Read the state on op->mem; *ret is NULL for an unknown client. One trip. */
enum az_status client_state_fetch(struct op *op, const char *client_id,
                                  const struct client_state **ret);

/* A new secret and the time until which the one before it is accepted. */
struct client_rotation {
    const unsigned char *sealed; /* new secret, sealed */
    size_t sealed_length;        /* octets */
    int64_t previous_until_ms;   /* milliseconds since 1970; 0: the old one is dropped */
};

/*
 * Store a new secret. AZ_NOT_FOUND for an unknown client, AZ_INVALID_FIELDS for one without
 * secrets.
 * *ret_previous_until is the ISO 8601 time at which the previous secret expires, or NULL.
 */
enum az_status client_rotate_secret(struct op *op, const char *client_id,
                                    const struct client_rotation *rotation,
                                    const char **ret_previous_until);

#endif
