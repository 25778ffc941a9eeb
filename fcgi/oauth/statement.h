/*
 * Software statements of others and of our own (RFC 7591 section 2.3): who signed one is known and
 * trusted before anything is fetched, then its times and its signature are checked.
 */
#ifndef AZ_OAUTH_STATEMENT_H
#define AZ_OAUTH_STATEMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* Clocks of issuers differ: so long a statement is taken after its end, and before its begin.
 * Seconds; as for client assertions (oauth.md J5). */
#define STATEMENT_SKEW_PAST 10
#define STATEMENT_SKEW_FUTURE 60

/* A statement that may be believed. Values live on op->mem. */
struct statement {
    const char *issuer; /* iss */
    json_t *claims;     /* the object */
    bool verified;      /* false: SVC_SOFTWARE_STATEMENT_VERIFY is off, and it is none of ours */
};

/*
 * Reads a statement. Its issuer is our own, or one of svc.operator.controls.trust; else
 * AZ_UNAPPROVED_SOFTWARE_STATEMENT, and nothing was fetched. AZ_INVALID_SOFTWARE_STATEMENT: too
 * long, malformed, expired, not valid yet, for another audience, wrongly signed, or its issuer's
 * keys cannot be had. AZ_UNAVAILABLE: we cannot tell now.
 */
enum az_status statement_read(struct op *op, const char *text, struct statement *ret);

#endif
