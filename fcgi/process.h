/* Making the struct az of a process: read and check the settings and make the handles, without
 * connecting to anything. */
#ifndef AZ_PROCESS_H
#define AZ_PROCESS_H

#include <stdbool.h>

#include "base/op.h"
#include "base/settings.h"

/* EX_CONFIG of sysexits.h: exit status if the settings or the database keep the program from
 * starting (specification 5.2, gateway-admin.md 7.3). */
#define EXIT_CONFIG 78

/*
 * Read the settings and make the handles. Each problem is one line in `problems`. Return NULL
 * without memory, or if there is no keyring and no problem explains it. The CLI can use the result
 * in spite of problems with settings that it does not need (`keyring` is NULL without its two
 * keys). `shared` is made only with `with_shared` (the service) and without problems.
 */
struct az *process_new(TALLOC_CTX *mem, bool with_shared, struct problems *problems);

/* Return an operation of this process outside a request. */
struct op process_op(TALLOC_CTX *mem, struct az *az);

/*
 * Check what must hold before requests are answered: the schema version fits, the signing keys
 * exist and open, the configured admin key is registered, and per-user secrets are discarded if
 * SVC_CREDENTIAL_KEY_DISCARD_PER_USER says so (once per start of az->parent). AZ_UNAVAILABLE if the
 * database cannot be reached: try again later.
 */
enum az_status process_check_database(struct op *op);

#endif
