/* Reading the trust row (svc.operator.controls.trust), which names the issuers whose software
 * statements are trusted. Nothing is fetched from an issuer that is not in it. */
#ifndef AZ_POLICY_DECIDE_TRUST_H
#define AZ_POLICY_DECIDE_TRUST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* An entry of statement_issuers. Texts live as long as the row. */
struct trust_issuer {
    const char *issuer;      /* as in its statements */
    const char *jwks_uri;    /* address of its keys; NULL: found by discovery */
    const json_t *audiences; /* array: its statements must name one of them; NULL: any or none */
};

/*
 * Find an issuer in the published row: the first entry with its name, compared octet by octet. An
 * entry is an address, or an object with further members. *ret_found is false if there is none, or
 * if the entry is malformed, so that its conditions are unknown. Takes one trip to the database
 * each time: statements are rare, and a removed issuer must not be contacted again.
 */
enum az_status trust_find(struct op *op, const char *issuer, struct trust_issuer *ret,
                          bool *ret_found);

#endif
