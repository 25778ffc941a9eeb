/* The servers of SVC_DATABASE_URL, and the timelines that tell an old primary from a new one. For
 * the db_*.c files only. */
#ifndef AZ_STORE_DB_CONNECT_DB_HOSTS_H
#define AZ_STORE_DB_CONNECT_DB_HOSTS_H

#include "store/db/db_board.h"

/* Most servers that are told apart; libpq handles a longer list itself. */
#define DB_HOSTS_MAX 8

/* Parts of the connection string for one server; NULL: it says nothing of that. */
struct db_host {
    const char *name, *address, *port;
};

struct db_hosts {
    size_t count; /* 0: the servers cannot be told apart, so libpq has to choose */
    struct db_host host[DB_HOSTS_MAX];
};

/* Return the servers of a valid connection string, on mem; NULL: no memory. */
struct db_hosts *db_hosts_read(TALLOC_CTX *mem, const char *url);

/* Return the number of the server to try first: where the processes of the host found the writer
 * last, else `otherwise`. */
size_t db_hosts_first(const struct db_hosts *hosts, struct db_board *board, size_t otherwise);

/* Remember that a server took the connection, or that it did not. */
void db_hosts_note(struct db_board *board, size_t host, bool good);

/* Return the timeline of a line, for messages. */
unsigned db_line_timeline(uint64_t line);

/* Return the line of a cluster, by its identifier in text form, and a timeline. */
uint64_t db_line_make(const char *cluster, unsigned long timeline);

/* Read the line of a server that takes writes: its cluster and its timeline. *ret is 0 if the
 * server does not report them, such as a service that only speaks the protocol of PostgreSQL.
 * *ret_pooler: a pooler is before it; *ret_standby: the server takes no writes, which a pooler may
 * report of another server. False: its answer was not read, for example without memory; it may be
 * an old primary. */
bool db_line_read(PGconn *conn, uint64_t *ret, bool *ret_pooler, bool *ret_standby);

/* Make a line the writer's. False: another server of the same cluster took writes with a newer
 * timeline, so this server is an old primary. */
bool db_line_take(struct db_board *board, uint64_t line);

/* True if the first line belongs to an old primary of the same cluster. */
bool db_line_is_old(uint64_t line, uint64_t newest);

/* Run a statement on a new connection, outside a pipeline; NULL: no answer within the time limit of
 * a connection, or no memory. */
PGresult *db_ask(PGconn *conn, const char *sql);

#endif
