/* Common knowledge of the processes of one host about the servers in SVC_DATABASE_URL: where the
 * writer was last, and its timeline (decisions.md "A standby that confirms commits"). */
#ifndef AZ_STORE_DB_DB_BOARD_H
#define AZ_STORE_DB_DB_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "store/db/db.h"

/* In a mapped file, which is zero when it is made. */
struct db_board {
    _Atomic uint32_t host;    /* server that took the last connection, plus one; 0: not known */
    _Atomic uint64_t line;    /* newest timeline of a server that takes writes (db_hosts.c), or 0 */
    _Atomic uint32_t standby; /* what the log said last of the standby; 0: nothing */
    _Atomic int64_t standby_told_ms; /* monotonic time of that line */
};

/* Let a handle share what it learns, and use what the other processes of the host learned. */
void db_use_board(struct db *db, struct db_board *board);

/* Let a handle look at all servers of a list before its first connection, unless the host knows the
 * newest timeline, so that a command does not write to an old primary. */
void db_look_at_all(struct db *db);

/* Forget the timeline and what the log said of the standby, at the start of the service: the
 * database may have been restored, with an earlier timeline. */
void db_forget_line(struct db *db);

#endif
