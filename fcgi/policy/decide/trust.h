/* Reading the trust row (svc.operator.controls.trust), which names the issuers whose software
 * statements and ID tokens are trusted, and the trust bundle of workloads. Nothing is fetched from
 * an issuer that is not in it. */
#ifndef AZ_POLICY_DECIDE_TRUST_H
#define AZ_POLICY_DECIDE_TRUST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* The key of its row. */
#define TRUST_ROW "svc.operator.controls.trust"

/* The lists of the row. */
enum trust_list {
    TRUST_STATEMENTS, /* statement_issuers: software statements */
    TRUST_ID_TOKENS,  /* trusted_issuers: ID tokens that may be exchanged */
};

/* An entry of a list. Texts live as long as the row. */
struct trust_issuer {
    const char *issuer;      /* as in its tokens */
    const char *jwks_uri;    /* address of its keys; NULL: found by discovery */
    const json_t *audiences; /* array: its tokens must name one of them; NULL: any or none */
    const char *first;       /* address of the first entry of the list */
};

/*
 * Find an issuer in a list of the published row: the first entry with its name, compared octet by
 * octet. An entry is an address, or an object with further members. *ret_found is false if there is
 * none, or if the entry is malformed, so that its conditions are unknown. Takes one trip to the
 * database each time: such tokens are rare, and a removed issuer must not be contacted again.
 */
enum az_status trust_find(struct op *op, enum trust_list list, const char *issuer,
                          struct trust_issuer *ret, bool *ret_found);

/* The workloads that are trusted. Texts live to the end of the operation. */
struct trust_spiffe {
    const char *bundle_url; /* address of the trust bundle; NULL: no workload is trusted */
    const json_t *domains;  /* array of trust domains; NULL: those of the registered clients */
};

/* Read the members about SPIFFE, of the row with this revision if the process keeps it, else as
 * served now (published_keep()). */
enum az_status trust_spiffe(struct op *op, const char *revision, struct trust_spiffe *ret);

#endif
