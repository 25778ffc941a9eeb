/* Making the struct az of a process: read and check the settings and make the handles, without
 * connecting to anything. */
#ifndef AZ_PROCESS_H
#define AZ_PROCESS_H

#include <stdbool.h>

#include "base/op.h"
#include "base/settings/settings.h"

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

/* Add the warnings of settings_warn(), and one for each address of the database to another machine
 * without TLS that proves which server it is. */
void process_warn(TALLOC_CTX *mem, const struct az *az, struct problems *warnings);

/* Return an operation of this process outside a request. */
struct op process_op(TALLOC_CTX *mem, struct az *az);

/*
 * Check the database, more than once if it cannot be used (AZ_CONFLICT): during a failover the
 * addresses may lead to different servers for some seconds.
 */
enum az_status process_look(struct op *op, enum az_status (*check)(struct op *op));

/*
 * Check what must hold before the service starts, and write nothing: the schema version fits, and
 * the credential key opens the signing keys, unless they are not made yet. AZ_UNAVAILABLE if the
 * database cannot be reached: try again later.
 */
enum az_status process_check_database(struct op *op);

/*
 * The same before requests are answered, and make what is missing: the signing keys and the row of
 * the configured admin key. Discard per-user secrets if SVC_CREDENTIAL_KEY_DISCARD_PER_USER says so
 * (once per start of az->parent).
 */
enum az_status process_prepare_database(struct op *op);

/* The same at the start of a process that stays. It looks at the addresses more than once, and at
 * all else once: a failover changes neither the schema nor the keys. */
enum az_status process_start_database(struct op *op);

/* Load what the process decides by, if it decides itself: workers that are forked then share its
 * memory until the next save. Each loads its own if this fails. */
void process_load_policy(struct az *az);

/* Make the memory in which the workers that are forked share the data of later revisions, if they
 * decide themselves. Each reads its own if this fails. After process_load_policy(). */
void process_share_policy(struct az *az);

#endif
