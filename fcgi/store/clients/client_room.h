/*
 * Room for clients that register themselves. There are at most SVC_DYNAMIC_CLIENTS_MAX of each
 * registration type, because anyone can make such clients, and rate limits alone would let an
 * attacker fill the disk slowly. When all places of a type are taken, its oldest client that never
 * had a token makes room, if it is older than an hour. So a client that fills the room does not
 * keep others out, and no client is removed while its user signs in for the first time.
 */
#ifndef AZ_STORE_CLIENTS_CLIENT_ROOM_H
#define AZ_STORE_CLIENTS_CLIENT_ROOM_H

#include "base/op.h"
#include "store/db/db.h"

/* Public text for a registration that SVC_DYNAMIC_CLIENTS_MAX refuses. */
#define CLIENT_ROOM_FULL                                                                           \
    "The maximum number of self-registered clients is reached; ask the operator of this service, " \
    "or try again later"

/* Age below which a client is not removed to make room. Younger clients count towards the share of
 * their address. */
#define CLIENT_YOUNG "now() - interval '1 hour'"

/* The part of the room that the young, unused clients of one address may take: a tenth, but at
 * least CLIENT_SHARE_MIN, so that a small room still serves an office behind one address. Without
 * this limit one address could fill the room within the hour in which nothing can be removed. */
#define CLIENT_SHARE_PART 10
#define CLIENT_SHARE_MIN 10

/* Client c has a family that lives, or a code that can be redeemed. A sign-in that has only begun
 * proves nothing: an attacker can begin one for each of his clients. */
#define CLIENT_HAS_FAMILY                                                                          \
    " EXISTS (SELECT 1 FROM token_grant g WHERE g.client = c.id AND g.revoked_at IS NULL"          \
    "  AND g.number >= c.revoked_before AND g.expires_at > now() AND g.idle_expires_at > now())"

/* Client c never had a token. */
#define CLIENT_UNUSED " NOT EXISTS (SELECT 1 FROM client_use u WHERE u.client = c.id)"

/* Result of client_room_add for the statement that makes the client: '' if there is room, the id
 * of the client that makes room, or '0' (no client has that id) if none can. */
#define CLIENT_ROOM_FOUND "current_setting('authz.client_room')"

/* Client c is the one that makes room. It is checked again, because it may have got its first token
 * before it was locked. */
#define CLIENT_MAKES_ROOM                                                                          \
    " c.id = nullif(" CLIENT_ROOM_FOUND ", '')::bigint AND" CLIENT_UNUSED                          \
    " AND NOT" CLIENT_HAS_FAMILY

/*
 * Begin a batch that makes a client of this registration type: BEGIN, the lock of the type, and the
 * search for room. The caller adds the statement that makes the client, then COMMIT. With the lock
 * the number of clients is exact, however many processes register at once. There is always room for
 * a client that has a row already.
 */
void client_room_add(struct op *op, struct db_batch *batch, const char *registration,
                     const char *client_id);

/* Return the number of young, unused clients that one address may have. */
long client_room_share(const struct op *op);

/* Log that a client made room. `removed` is its client_id; NULL: nothing to log. */
void client_room_note(const char *removed, const char *registration);

#endif
