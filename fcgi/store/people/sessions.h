/* Browser sessions. The browser holds a secret; rows hold only its SHA-256. */
#ifndef AZ_STORE_PEOPLE_SESSIONS_H
#define AZ_STORE_PEOPLE_SESSIONS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <talloc.h>

#include "base/op.h"
#include "crypto/digest.h"

/* A session. Texts live as long as the operation. */
struct session {
    bool found;                           /* it is live, and its provider is enabled */
    unsigned char id_hash[SHA256_OCTETS]; /* SHA-256 of the cookie: the row's key */
    const char *subject;                  /* user */
    int64_t idp;                          /* identity_provider.id */
    const char *idp_id;                   /* its idpId */
    const char *issuer;                   /* its issuer */
    int64_t auth_time;                    /* seconds since 1970; 0: the provider did not say */
    const char *acr;                      /* or NULL */
    json_t *amr;                          /* array, or NULL */
    json_t *claims;                       /* object: claims of the last sign-in */
    const char **consents; /* SHA-256 in hex of each consent that is remembered of the user for the
                              place that the caller named, the newest ones; ends with NULL */
};

/* The place for which consents are remembered: a client and the host of its redirect_uri. */
struct consent_place {
    int64_t client;   /* client.id; 0: the client has no row */
    const char *host; /* NULL: no consent is remembered for it */
};

/* Mode of the control `consent` (decisions.md "Browser side"). */
enum consent_mode { CONSENT_OFF, CONSENT_DYNAMIC_CLIENTS, CONSENT_ALWAYS };

/* Find the session of a cookie's hash if it is not too old, move its end, read the remembered
 * consents of its user for the place (or NULL) and the mode of the consent control: one trip.
 * ret->found false: there is none, it ended, or its provider is disabled. */
enum az_status session_find(struct op *op, const unsigned char *id_hash,
                            const struct consent_place *place, struct session *ret,
                            enum consent_mode *ret_mode);

/* Result of a sign-in, from the provider and checked by us. */
struct sign_in_result {
    int64_t idp;               /* identity_provider.id; must still be enabled */
    int64_t providers_version; /* version of the list of providers that the names depend on; checked
                                  again */
    const char *issuer;        /* issuer of the provider */
    const char *upstream_sub;  /* its sub */
    const char *subject_name;  /* our name for the user at the first sign-in */
    const char *subject_other; /* used instead if a subject or client has that name */
    const char *home_issuer;   /* stored if this is the first sign-in */
    bool userinfo_joined;      /* claims of userinfo are among them */
    json_t *claims;            /* object, kept for /userinfo and policy */
    int64_t auth_time;         /* seconds since 1970; 0: the provider did not say */
    const char *acr;           /* or NULL */
    const char **amr;          /* or NULL */
    const char *upstream_sid;  /* or NULL */
    const char *id_token;      /* ID token of the provider, sealed here; or NULL */
    const char *ip;            /* address of the browser, or NULL */
    const char *user_agent;    /* of the browser, or NULL */
    bool for_console;          /* the sign-in was begun for a session of the console */
};

/*
 * Make the session of a sign-in (make its subject or renew its claims) and end `old_id_hash` (or
 * NULL), in one commit and one trip; `id_hash` is the hash of the new cookie. Fill *ret as
 * session_find does, with the stored name of the subject. ret->found false: nothing was done,
 * because the list of providers has changed (*ret_stale) or the provider was disabled meanwhile.
 */
enum az_status session_create(struct op *op, const struct sign_in_result *result,
                              const unsigned char id_hash[SHA256_OCTETS],
                              const unsigned char *old_id_hash, const struct consent_place *place,
                              struct session *ret, enum consent_mode *ret_mode, bool *ret_stale);

/* Seconds within which a sign-in for the console becomes a session of the console: the browser is
 * sent on at once. */
#define SESSION_CONSOLE_VALIDITY 60

/*
 * Take the mark that the sign-in of a session was begun for the console, once: the row has it only
 * if session_create() set it, at most SESSION_CONSOLE_VALIDITY ago. *ret_taken false: the session
 * is from another sign-in, or the mark was taken. One trip.
 */
enum az_status session_take_console(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                                    bool *ret_taken);

/* Read the names that a page shows to the signed-in user: e-mail address or name from the claims of
 * the last sign-in (or NULL), and the name of the provider (or NULL). One trip. */
enum az_status session_person(struct op *op, const struct session *session, const char **ret_label,
                              const char **ret_provider);

/* Return the place that the provider's ID token is sealed for. It lives on mem. */
const char *session_id_token_place(TALLOC_CTX *mem, const char *sid);

#endif
