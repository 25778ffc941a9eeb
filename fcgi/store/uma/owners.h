/* The owner of UMA resources and delegations, and the writes of one owner: the row and the audit
 * row change in one statement. */
#ifndef AZ_STORE_UMA_OWNERS_H
#define AZ_STORE_UMA_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/uuid7.h"
#include "store/db/rows/audit.h"

/* The owner, as the access token says. No other owner sees or changes the rows. */
struct uma_owner {
    int64_t client;      /* client.id */
    const char *subject; /* or the client_id, if the token is the client's own */
    int64_t provider;    /* row of the person's identity provider, or 0 */
};

/* Parameters of a write: $1 the time, $2 to $15 the audit row, $16 the id of the object, $17 and
 * $18 the owner. The statement adds its own from $19 on. Its step `written` has a row if something
 * was written, and then the audit row is, too. */
#define UMA_NOTED                                                                                  \
    " noted AS (INSERT INTO audit_log_p%D (created_at, id, " AUDIT_COLUMNS ")"                     \
    " SELECT $1::timestamptz, nextval('audit_id_seq'), $2, $3::uuid, $4, $5, $6, $7, $8, $9, "     \
    "$10, $11::inet, $12, $13, $14, $15 FROM written)"
#define UMA_IS_OWN "id = $16::uuid AND client = $17 AND subject = $18"

/* The client of the owner, which cannot be deleted before the statement ends. */
#define UMA_OWNER "owner AS (SELECT id FROM client WHERE id = $17 FOR KEY SHARE),"

/* A write that is being prepared. */
struct uma_write {
    struct db_batch *batch;
    struct db_step *step; /* for the statement's own parameters */
    bool alone;           /* under the owner's lock */
};

/*
 * Begin a write. With `alone` it waits for other writes of this owner, so that a limit on the
 * owner's rows holds for requests that come at the same moment.
 */
enum az_status uma_write_begin(struct op *op, const struct db_stmt *stmt, bool alone,
                               const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
                               const struct audit_entry *audit, struct uma_write *ret);

/* Run it, in one trip; the result is in write->step. */
enum az_status uma_write_run(struct op *op, struct uma_write *write);

/* Run a write of an object that its statement alone knows how to change, whose one column says if
 * the owner has such an object. */
enum az_status uma_write_object(struct op *op, const struct db_stmt *stmt,
                                const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
                                const struct audit_entry *audit, bool *ret_found);

/* Read an object of the owner ($1 its id, $2 and $3 the owner), or all of them ($1 and $2), as JSON
 * text; *ret is NULL if there is no such object. */
enum az_status uma_fetch_object(struct op *op, const struct db_stmt *stmt,
                                const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
                                const char **ret);
enum az_status uma_fetch_list(struct op *op, const struct db_stmt *stmt,
                              const struct uma_owner *owner, const char **ret);

#endif
