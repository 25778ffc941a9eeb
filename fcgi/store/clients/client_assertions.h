/* The client assertions that were used (oauth.md J7): each is accepted once, on all hosts
 * together. */
#ifndef AZ_STORE_CLIENTS_CLIENT_ASSERTIONS_H
#define AZ_STORE_CLIENTS_CLIENT_ASSERTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* Seconds for which an assertion is remembered after the last host has ceased to accept it. The
 * clock of the database decides when it is forgotten, and the clocks of hosts may be behind. */
#define CLIENT_ASSERTION_MARGIN 300

/* Use the assertion of a client with this jti, which is refused from `until` on and was not
 * accepted before `usable` (seconds since 1970). *ret_first false: it was used before, or by
 * another request at this moment, or the database was restored and fenced since it could be used.
 * One trip. */
enum az_status client_assertion_use(struct op *op, const char *client_id, const char *jti,
                                    int64_t until, int64_t usable, bool *ret_first);

/* Delete assertions that have expired (housekeeping); adds to *removed. */
enum az_status client_assertions_purge(struct op *op, int64_t *removed);

#endif
