/* The trust row (svc.operator.controls.trust) as C reads it: whose tokens and software statements
 * are believed. Nothing of an issuer that is not in it is ever fetched. */
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
    const char *jwks_uri;        /* where its keys are; NULL: found by discovery */
    const json_t *audiences;     /* array: its tokens must name one of them; NULL: any or none */
    const json_t *subject_types; /* array of kinds of subject; NULL: any */
};

/*
 * Looks an issuer up in the payload of the row: the first entry that names it, byte for byte. An
 * entry is an address or an object with more about it. False when it is not there, and for an entry
 * that is broken: its demands cannot be known.
 */
bool trust_read(const json_t *row, enum trust_list list, const char *issuer,
                struct trust_issuer *ret);

/*
 * The same in the row as it is published. One trip: statements and exchanged tokens are seldom, and
 * an issuer that was struck off must not be asked once more. *ret_found false for an unknown one.
 */
enum az_status trust_find(struct op *op, enum trust_list list, const char *issuer,
                          struct trust_issuer *ret, bool *ret_found);

#endif
