/* Names of subjects: the `sub` of a person that an identity provider knows by another name
 * (decisions.md "Subject identifiers"). */
#ifndef AZ_TOKEN_SUBJECT_H
#define AZ_TOKEN_SUBJECT_H

#include <stdbool.h>

#include "base/op.h"

/* OpenID Connect Core 2: a `sub` has at most 255 ASCII characters. */
#define SUBJECT_NAME_MAX 255

struct identity_providers;

/* What a name is made of. */
struct subject_person {
    const char *issuer;       /* of the upstream */
    const char *upstream_sub; /* there */
    const char *idp_id;       /* of its provider; NULL: a trusted issuer without one */
};

/* The two names of a person, tried in this order when it is first seen. */
struct subject_names {
    const char *name;  /* what a reader knows it by, unless it cannot be one */
    const char *other; /* of a hash: for when a subject or a client has that name */
};

/*
 * The names on op->mem. The home issuer's subjects keep their own sub, all others are
 * `<idpId>|<sub>` (the issuer without its scheme for a NULL idp_id). A hash of issuer and sub takes
 * the place of a sub that is empty, long, not printable ASCII, looks like the client_id of a
 * metadata document, or like another provider's `<idpId>|<sub>`. The hash names one person alone,
 * whichever issuer is the home issuer later.
 */
enum az_status subject_names(struct op *op, const struct identity_providers *providers,
                             const struct subject_person *person, struct subject_names *ret);

#endif
