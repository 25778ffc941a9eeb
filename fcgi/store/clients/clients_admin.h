/*
 * Clients as the administrator sees and writes them. Rows go in as a JSON object of column values
 * (the columns of the field table in admin/client_dto.c), bound by name; ClientDto comes out as the
 * view client_dto shapes it.
 */
#ifndef AZ_STORE_CLIENTS_CLIENTS_ADMIN_H
#define AZ_STORE_CLIENTS_CLIENTS_ADMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* A client to be written. */
struct client_row {
    const char *client_id;        /* which */
    const char *columns;          /* JSON object; a column that is not in it gets its default */
    const unsigned char *sealed;  /* new secret, sealed; NULL: none given */
    size_t sealed_length;         /* octets */
    const char *issued_statement; /* the statement we signed for it, or NULL */
};

/* What an admin handler must know of the row it is about to replace. */
struct client_state {
    bool found;               /* there is one */
    bool has_secret;          /* a secret is stored */
    const char *type;         /* confidential or public */
    const char *registration; /* ADMIN, DCR, STATEMENT or CIMD */
    const char *statement;    /* claims that are stored, JSON text, or NULL */
};

/* A new secret and how long the one before it stays good. */
struct client_rotation {
    const unsigned char *sealed; /* new secret, sealed */
    size_t sealed_length;        /* octets */
    int64_t previous_until_ms;   /* milliseconds since 1970; 0: the old one is dropped */
};

/* ClientDto objects as JSON text on op->mem. One trip each; *ret_dto is NULL for an unknown client.
 */
enum az_status clients_list(struct op *op, const char **ret_array);
enum az_status client_dto_fetch(struct op *op, const char *client_id, const char **ret_dto);

enum az_status client_state_fetch(struct op *op, const char *client_id, struct client_state *ret);

/* Makes an ADMIN client. AZ_CONFLICT: the client_id is taken, by a client or by a subject: tokens
 * of the two would look alike. One trip. */
enum az_status client_insert(struct op *op, const struct client_row *row, const char **ret_dto);

/*
 * Replaces all columns ClientDto has but registration_type; `enabled` and the secret are kept where
 * none is given, the statement that a client registered with is always kept, and a client that is
 * public afterwards loses its secret. *ret_dto is NULL for an
 * unknown client. One trip.
 */
enum az_status client_replace(struct op *op, const struct client_row *row, const char **ret_dto);

/* AZ_NOT_FOUND for an unknown client. Its tokens name a row that is gone, so they are inactive. */
enum az_status client_delete(struct op *op, const char *client_id);

/*
 * Stores a new secret. AZ_NOT_FOUND for an unknown client, AZ_INVALID_FIELDS for a public one.
 * *ret_previous_until is the ISO 8601 time at which the one before ends, or NULL.
 */
enum az_status client_rotate_secret(struct op *op, const char *client_id,
                                    const struct client_rotation *rotation,
                                    const char **ret_previous_until);

#endif
