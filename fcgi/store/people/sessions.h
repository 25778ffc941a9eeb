/* Browser sessions, sign-ins on their way through an identity provider, and remembered consent.
 * What a browser holds is a secret; rows hold its SHA-256 alone. */
#ifndef AZ_STORE_PEOPLE_SESSIONS_H
#define AZ_STORE_PEOPLE_SESSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/op.h"
#include "crypto/digest.h"

/* A session as found or made. Texts live as long as the operation. */
struct session {
    bool found;                           /* it stands, and its provider is enabled */
    unsigned char id_hash[SHA256_OCTETS]; /* SHA-256 of the cookie: the row's key */
    const char *subject;                  /* who */
    int64_t idp;                          /* identity_provider.id */
    const char *idp_id;                   /* its idpId */
    int64_t auth_time;                    /* seconds since 1970; 0: the provider did not say */
    bool consented;                       /* what was asked about is remembered as allowed */
};

/* Mode of the control `consent` (decisions.md "Browser side"). */
enum consent_mode { CONSENT_OFF, CONSENT_DYNAMIC_CLIENTS, CONSENT_ALWAYS };

/*
 * Finds the session of a cookie's hash, moves its end, says whether `consent` (SHA256_OCTETS, or
 * NULL) is remembered for its subject, and reads the mode of the consent control: one trip.
 * ret->found false: none, ended, or its provider is disabled.
 */
enum az_status session_find(struct op *op, const unsigned char *id_hash,
                            const unsigned char *consent, struct session *ret,
                            enum consent_mode *ret_mode);

/* Who signed in, as the provider said and we checked. */
struct sign_in_result {
    int64_t idp;               /* identity_provider.id; must still be enabled */
    int64_t providers_version; /* of the list that the names rest on: re-checked */
    const char *issuer;        /* of the provider */
    const char *upstream_sub;  /* its sub */
    const char *subject_name;  /* our name for it if it is seen for the first time */
    const char *subject_other; /* the name it takes if a subject or client has that one */
    json_t *claims;            /* object: kept for /userinfo and policy */
    int64_t auth_time;         /* seconds since 1970; 0: the provider did not say */
    const char *acr;           /* or NULL */
    const char **amr;          /* or NULL */
    const char *upstream_sid;  /* or NULL */
    const char *id_token;      /* the provider's; sealed here; or NULL */
};

/*
 * Makes the session of a sign-in (subject row made or its claims renewed) and ends `old_id_hash`
 * (or NULL), in one commit and one trip; `id_hash` is of the new cookie. Fills *ret as session_find
 * does, with the subject's name as stored. ret->found false: nothing was done, for the list of
 * providers is not as remembered (*ret_stale), or the provider was disabled meanwhile.
 */
enum az_status session_create(struct op *op, const struct sign_in_result *result,
                              const unsigned char id_hash[SHA256_OCTETS],
                              const unsigned char *old_id_hash, const unsigned char *consent,
                              struct session *ret, enum consent_mode *ret_mode, bool *ret_stale);

/* How people know who is signed in, and where: e-mail address or name of the last sign-in's claims
 * (NULL: neither is there), name of the provider (or NULL). One trip. */
enum az_status session_person(struct op *op, const struct session *session, const char **ret_label,
                              const char **ret_provider);

/* The place the provider's ID token is sealed for. Lives on mem. */
const char *session_id_token_place(TALLOC_CTX *mem, const char *sid);

#endif
