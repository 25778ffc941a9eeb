/* Making the struct az of a process: settings read and checked, handles made, nothing connected
 * yet. */
#ifndef AZ_PROCESS_H
#define AZ_PROCESS_H

#include <stdbool.h>

#include "base/op.h"
#include "base/settings.h"

/* sysexits.h EX_CONFIG: what a start-up refusal exits with (specification 5.2,
 * gateway-admin.md 7.3). */
#define EXIT_CONFIG 78

/*
 * Reads the settings and makes the handles. Every problem is one line in `problems`; NULL when
 * memory is short. The result is usable for the CLI even when there are problems with settings it
 * does not need (`keyring` is NULL without its two keys); `shared` is made only when `with_shared`
 * (the service) and nothing is wrong.
 */
struct az *process_new(TALLOC_CTX *mem, bool with_shared, struct problems *problems);

/* An operation of this process outside a request. */
struct op process_op(TALLOC_CTX *mem, struct az *az);

/*
 * What must hold in the database before requests are answered: schema version, signing key that
 * opens, the configured admin key registered, and per-user secrets gone if
 * SVC_CREDENTIAL_KEY_DISCARD_PER_USER says so (once per start of az->parent). AZ_UNAVAILABLE when
 * the database is away: try again later.
 */
enum az_status process_check_database(struct op *op);

#endif
