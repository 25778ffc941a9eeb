/* The claims that are kept of a person, out of an ID token of another issuer. Pure. */
#ifndef AZ_TOKEN_PERSON_CLAIMS_H
#define AZ_TOKEN_PERSON_CLAIMS_H

#include <jansson.h>
#include <talloc.h>

/* Most octets of kept claims, as JSON text: they are in a row, in the policy input and in each
 * answer of /userinfo. */
#define PERSON_CLAIMS_MAX (16 * 1024)

/*
 * Collect the claims that are kept of a user: those of the ID token, then those of userinfo (or
 * NULL) that the ID token lacks, without `sub` and the claims of the protocol. Claims that do not
 * fit into PERSON_CLAIMS_MAX are left out; name, email, email_verified, preferred_username and
 * groups come first. Belongs to mem; NULL: no memory.
 */
json_t *person_claims_keep(TALLOC_CTX *mem, const json_t *id_token, const json_t *userinfo);

#endif
