/* Common knowledge of the processes of one host about the servers in SVC_DATABASE_URL: where the
 * writer was last, and its timeline (decisions.md "A standby that confirms commits"). */
#ifndef AZ_STORE_DB_DB_BOARD_H
#define AZ_STORE_DB_DB_BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "store/db/db.h"

/* In a mapped file, which is zero when it is made. */
struct db_board {
    _Atomic uint32_t host; /* server that took the last connection, plus one; 0: not known */
    _Atomic uint64_t line; /* newest timeline of a server that takes writes (db_hosts.c); 0: none */
};

/* Let a handle share what it learns, and use what the other processes of the host learned. */
void db_use_board(struct db *db, struct db_board *board);

/* Forget the timeline, at the start of the service: the database may have been restored, with a
 * timeline of before. */
void db_forget_line(struct db *db);

#endif
