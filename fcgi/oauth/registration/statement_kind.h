/*
 * The kind of a token of a trusted issuer: a statement about software, or a token about a user or a
 * request. A trusted issuer signs both, often with the same keys and with typ JWT or none. If the
 * other tokens registered clients, any user of that issuer could do so with an ID token, and any of
 * its services with an access token (RFC 8725 3.12). Plain rules, without HTTP or database.
 */
#ifndef AZ_OAUTH_REGISTRATION_STATEMENT_KIND_H
#define AZ_OAUTH_REGISTRATION_STATEMENT_KIND_H

#include <talloc.h>

#include "crypto/jwt.h"

/* Input of the rules. */
struct statement_kind {
    const char *typ;                 /* of the header, or NULL */
    const struct jwt_claims *claims; /* read */
    const char *us;                  /* our issuer */
    const json_t *audiences;         /* array of strings of the issuer's entry, or NULL */
};

/* Types that a statement of another issuer may have, then NULL; it may also have none. */
extern const char *const statement_types[];

/* True if typ is in a list that ends with NULL, without regard to case, with or without
 * application/ (RFC 7515 4.1.9). */
bool statement_type_is(const char *typ, const char *const *wanted);

/*
 * Return a public text why a token of another issuer is no software statement, or NULL if it is
 * one; *ret_detail is for the log, on mem. It is one if
 * - its typ is absent, JWT or software-statement+jwt, and
 * - it has no claim of other tokens (nonce, azp ...), and
 * - its typ is software-statement+jwt, or it has a software_id, and
 * - its sub is absent or equals its software_id, and its aud is absent or names us; or the issuer's
 *   entry lists audiences, and its aud names one of them.
 */
const char *statement_kind_fault(TALLOC_CTX *mem, const struct statement_kind *kind,
                                 const char **ret_detail);

#endif
