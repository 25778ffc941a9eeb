/* Reading the trust row (svc.operator.controls.trust), which names the issuers whose tokens and
 * software statements are trusted. Nothing is fetched from an issuer that is not in it. */
#ifndef AZ_POLICY_DECIDE_TRUST_H
#define AZ_POLICY_DECIDE_TRUST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* The row's lists; their entries have one form. */
enum trust_list {
    TRUST_TOKENS,     /* trusted_issuers: issuers of ID tokens that may be exchanged */
    TRUST_STATEMENTS, /* statement_issuers: issuers of software statements */
    TRUST_LISTS
};

/* An entry. Texts live as long as the row. */
struct trust_issuer {
    const char *issuer;          /* as in its tokens */
    const char *jwks_uri;        /* address of its keys; NULL: found by discovery */
    const json_t *audiences;     /* array: its tokens must name one of them; NULL: any or none */
    const json_t *subject_types; /* array of kinds of subject; NULL: any */
};

/*
 * Find an issuer in the payload of the row: the first entry with its name, compared octet by octet.
 * An entry is an address, or an object with further members. False: there is none, or the entry is
 * malformed, so that its conditions are unknown.
 */
bool trust_read(const json_t *row, enum trust_list list, const char *issuer,
                struct trust_issuer *ret);

/*
 * Find an issuer in the published row. Takes one trip to the database each time: statements and
 * exchanged tokens are rare, and a removed issuer must not be contacted again. *ret_found is false
 * for an unknown issuer.
 */
enum az_status trust_find(struct op *op, enum trust_list list, const char *issuer,
                          struct trust_issuer *ret, bool *ret_found);

#endif
