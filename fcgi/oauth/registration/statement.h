/*
 * Software statements of other issuers and of this service (RFC 7591 section 2.3). The issuer must
 * be trusted before anything is fetched; then times and signature are checked.
 */
#ifndef AZ_OAUTH_REGISTRATION_STATEMENT_H
#define AZ_OAUTH_REGISTRATION_STATEMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Tolerance for clocks of issuers that differ: after the end of a statement, and before its
 * begin. Seconds; as for client assertions (oauth.md J5). */
#define STATEMENT_SKEW_PAST 10
#define STATEMENT_SKEW_FUTURE 60

/* A valid statement. Values live on op->mem. */
struct statement {
    const char *issuer; /* iss */
    json_t *claims;     /* the object */
    bool verified;      /* false: SVC_SOFTWARE_STATEMENT_VERIFY is off, and another issuer signed
                         * it */
};

/*
 * Read a statement. Its issuer is this service, or is listed in svc.operator.controls.trust;
 * otherwise AZ_UNAPPROVED_SOFTWARE_STATEMENT, and nothing is fetched.
 * AZ_INVALID_SOFTWARE_STATEMENT: too long, malformed, expired, not valid yet, another kind of token
 * (statement_kind.h), wrongly signed, the keys of its issuer cannot be fetched, or a statement of
 * ours that its client does not hold any more. AZ_UNAVAILABLE: this service failed.
 */
enum az_status statement_read(struct op *op, const char *text, struct statement *ret);

#endif
