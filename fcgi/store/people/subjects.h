/* Subjects that are met outside a sign-in: the people of ID tokens that are exchanged. */
#ifndef AZ_STORE_PEOPLE_SUBJECTS_H
#define AZ_STORE_PEOPLE_SUBJECTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* A person, with the names for the first sight (token/subject.h). */
struct subject_met {
    const char *issuer;        /* of the ID token */
    const char *upstream_sub;  /* `sub` at that issuer */
    const char *idp_id;        /* idpId of the provider with that issuer, or NULL */
    const char *name, *other;  /* the name, and the one if that is taken */
    const char *home_issuer;   /* stored unless another value is stored already; may be NULL */
    json_t *claims;            /* of the ID token, object; stored at first sight alone */
    int64_t providers_version; /* of the list that name and idp_id were made from */
};

/* The outcome of subject_meet(); on op->mem. */
struct subject_seen {
    const char *name;
    json_t *claims; /* as stored, of a person who was known before; or NULL */
    bool older;     /* they are from before userinfo of the provider was joined first */
    bool stale;     /* the list of providers has changed: nothing was written, and name is NULL */
};

/*
 * Find the name of a person, who is stored at first sight, so that an exchange and a sign-in of one
 * person give one `sub`. Claims that are stored stay, because only a sign-in at this service
 * changes them. One trip.
 */
enum az_status subject_meet(struct op *op, const struct subject_met *met, struct subject_seen *ret);

/* A person as known here: the part of a question to policy that a sign-in fills. */
struct subject_known {
    const char *issuer; /* of the identity provider; NULL: no such person */
    const char *idp_id; /* where the claims are from, or NULL */
    json_t *claims;     /* object, of the last sign-in */
};

/* Read what is known of a person. */
enum az_status subject_know(struct op *op, const char *subject, struct subject_known *ret);

#endif
