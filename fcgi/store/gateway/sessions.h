/* Sessions of older MCP clients: what the sealed id of a session cannot say (gateway-admin.md
 * 1.13). A session without a row is as its id says. */
#ifndef AZ_STORE_GATEWAY_SESSIONS_H
#define AZ_STORE_GATEWAY_SESSIONS_H

#include <stdbool.h>

#include "crypto/digest.h"
#include "store/db/db.h"

#define GATEWAY_SESSION_OCTETS 16
/* Rows of one owner: a person with one client. A host opens a handful of sessions a day; one that
 * opens more than this only to leave rows is refused. */
#define GATEWAY_SESSIONS_MAX 100
/* Subscriptions of one session, and the octets of their URIs together: what one stream tells
 * (RELAY_URIS_MAX, RELAY_UPDATES_MAX). */
#define GATEWAY_SESSION_URIS_MAX 50
#define GATEWAY_SESSION_URIS_OCTETS_MAX 8192

/* The key of a row, as the id of the session has it. */
struct gateway_session {
    unsigned char id[GATEWAY_SESSION_OCTETS];
    unsigned char owner[SHA256_OCTETS];
    int64_t until; /* seconds since 1970 */
};

/* The contents of a row. */
struct gateway_session_row {
    bool ended;
    int log_level;   /* 0 to 7, or -1 if no level was set */
    bool watches;    /* it has subscriptions */
    int64_t changes; /* number of changes of these */
};

/* Add the statement that reads the row of a session to a batch. */
struct db_step *session_step(struct db_batch *batch,
                             const unsigned char id[GATEWAY_SESSION_OCTETS]);

/* Take the row out of that step after the batch ran. */
void session_take(const struct db_step *step, struct gateway_session_row *ret);

/* Make the row, or change it: log_level -1 leaves the level, and `ends` false leaves the session as
 * it is. AZ_BUSY: the owner has GATEWAY_SESSIONS_MAX others. One trip. */
enum az_status session_keep(struct op *op, const struct gateway_session *session, int log_level,
                            bool ends);

/* Read the rows of these sessions; one without a row is as its id says. */
enum az_status sessions_look(struct op *op, const unsigned char (*id)[GATEWAY_SESSION_OCTETS],
                             size_t count, struct gateway_session_row *ret);

/* Add a subscription to the row, which is made if it is not there; one that is there already stays.
 * *ret_full: the session has as many as it may have. AZ_BUSY: as for session_keep(). */
enum az_status session_watch(struct op *op, const struct gateway_session *session, const char *uri,
                             bool *ret_full);

/* Remove one; *ret_was false: the session does not have it. */
enum az_status session_unwatch(struct op *op, const struct gateway_session *session,
                               const char *uri, bool *ret_was);

/* Read the subscriptions, with NULL at the end; *ret NULL: the session has no row. */
enum az_status session_uris(struct op *op, const struct gateway_session *session,
                            const char ***ret);

/* Delete the rows of sessions whose time is over; *removed counts them. */
enum az_status session_rows_purge(struct op *op, int64_t *removed);

#endif
