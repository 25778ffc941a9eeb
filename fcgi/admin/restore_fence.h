/* The end of everything that a restore of the database brought back (doc/backup.md). */
#ifndef AZ_ADMIN_RESTORE_FENCE_H
#define AZ_ADMIN_RESTORE_FENCE_H

#include "http/route.h"

/* Revoke all tokens and delete all sessions that exist, and answer with their numbers. The session
 * of the console that asks ends too. */
enum az_status restore_fence_handle(struct request *req);

#endif
