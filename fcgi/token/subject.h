/* Names of subjects: the `sub` of a person who signs in at an identity provider (decisions.md
 * "Subject identifiers"). */
#ifndef AZ_TOKEN_SUBJECT_H
#define AZ_TOKEN_SUBJECT_H

#include <stdbool.h>

#include "base/op.h"

/* OpenID Connect Core 2: a `sub` has at most 255 ASCII characters. */
#define SUBJECT_NAME_MAX 255

struct identity_providers;

/*
 * Return the home issuer: that of SVC_SUBJECT_HOME_ISSUER, else the one that was stored at the
 * first sign-in or exchange, else that of the oldest provider that is enabled, else `first_trusted`
 * (or NULL), the first trusted issuer of the trust row; NULL if there is none. A stored one stays
 * when its provider is deleted: if the next provider became the home then, its users would get the
 * names that policy knows for those of the first.
 */
const char *subject_home(const struct op *op, const struct identity_providers *providers,
                         const char *first_trusted);

/* The input of a name. */
struct subject_person {
    const char *issuer;        /* issuer of the identity provider */
    const char *upstream_sub;  /* `sub` at that issuer */
    const char *idp_id;        /* idpId of the provider; NULL: a trusted issuer without one */
    const char *first_trusted; /* first trusted issuer of the trust row; NULL: not read */
};

/* The two names of a person, tried in this order at the first sign-in. */
struct subject_names {
    const char *name;  /* the readable name, if it can be one */
    const char *other; /* with a hash, if a subject or a client already has the first name */
};

/*
 * Make the names, on op->mem. Subjects of the home issuer keep their `sub`; all others are
 * `<idpId>|<sub>` (or, for a NULL idp_id, the issuer without its scheme). A hash of issuer and sub
 * replaces a sub that is empty, long or not printable ASCII, or that looks like the client_id of a
 * metadata document or like the `<idpId>|<sub>` of another provider. The hash belongs to one
 * person, whichever issuer becomes the home issuer later.
 */
enum az_status subject_names(struct op *op, const struct identity_providers *providers,
                             const struct subject_person *person, struct subject_names *ret);

#endif
