/* The claims that are kept of a person, out of an ID token of another issuer. Pure. */
#ifndef AZ_TOKEN_PERSON_CLAIMS_H
#define AZ_TOKEN_PERSON_CLAIMS_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/* Most octets of kept claims, as JSON text: they are in a row, in the policy input and in each
 * answer of /userinfo. */
#define PERSON_CLAIMS_MAX (16 * 1024)

/* Most names of incomplete claims that are listed, and longest one in octets; a further or longer
 * one is CLAIMS_ANY. */
#define PERSON_INCOMPLETE_MAX 64
#define PERSON_INCOMPLETE_NAME_MAX 128

/* The answers of a provider about one person. */
struct person_answers {
    const json_t *id_token;   /* claims of the ID token */
    const json_t *userinfo;   /* of userinfo, or NULL */
    const json_t *before;     /* claims of the last sign-in, if this is none; or NULL */
    bool lost;                /* userinfo had claims before and cannot be used now */
    const char *const *lists; /* claims that are lists (listClaims), ending with NULL; or NULL */
    const char *const *only;  /* claims that are kept (claims), ending with NULL; NULL: all */
};

/*
 * Collect the claims that are kept of a user: those of the ID token, then those of userinfo that
 * the ID token lacks, without `sub` and the claims of the protocol. Claims that do not fit into
 * PERSON_CLAIMS_MAX are left out; addresses with their proofs, names and groups come first.
 *
 * An address and its proof come from one answer, the first that has both; else the first address
 * stands without proof (world.md U3). *ret_other (or NULL) becomes the name of an address that the
 * answers say differently, or NULL. Types are those of U4: *_verified is a boolean, and a text for
 * one of `lists` a list of one.
 *
 * The names of claims that are incomplete are kept beside them, as CLAIMS_INCOMPLETE (world.md U5;
 * store/people/stored_claims.h): those that found no room, those that the provider has elsewhere
 * (_claim_names, hasgroups), those that were there, or incomplete, before and that the ID token
 * lacks, and CLAIMS_ANY if userinfo is lost or was before. With `only` other claims are neither
 * kept nor incomplete, and those that are lost are named (world.md U6). Belongs to mem; NULL: no
 * memory.
 */
json_t *person_claims_keep(TALLOC_CTX *mem, const struct person_answers *answers,
                           const char **ret_other);

#endif
