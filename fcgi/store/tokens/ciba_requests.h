/* Authentication requests of CIBA (OpenID Connect CIBA Core 1.0), as the client sees them: made at
 * /bc-authorize, polled at /token. */
#ifndef AZ_STORE_TOKENS_CIBA_REQUESTS_H
#define AZ_STORE_TOKENS_CIBA_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "crypto/token.h"
#include "store/clients/clients.h"
#include "store/db/rows/audit.h"
#include "store/tokens/grants_find.h"

/* Requests of one person that may wait at a time: a client must not be able to bury a request among
 * others, or to ask until the person gives in. */
#define CIBA_OPEN_MAX 10
/* Seconds by which the interval grows with a poll that comes too early, and its maximum
 * (gateway-admin.md 4.2). */
#define CIBA_INTERVAL_STEP 5
#define CIBA_INTERVAL_MAX 60

/* The ways to read a login_hint; NULL: it cannot be read so. */
struct ciba_hint {
    const char *sub;          /* our name of the person */
    const char *idp_id;       /* the provider of `idpId:sub` */
    const char *upstream_sub; /* and the person's sub there */
    const char *email;        /* e-mail address */
};

/* A person to whom a hint leads. Texts live as long as the operation. */
struct ciba_person {
    bool found;               /* there is exactly one, and the provider is enabled */
    const char *subject;      /* our name */
    const char *issuer;       /* issuer of the provider */
    const char *upstream_sub; /* the person's sub there */
    json_t *claims;           /* object: claims of the last sign-in */
    int64_t idp;              /* identity_provider.id */
    const char *idp_id;       /* its idpId */
    const char *endpoint;     /* its backchannelNotificationEndpoint, or NULL */
};

/*
 * Find the person of a hint among those who have signed in before. An e-mail address counts only if
 * the provider says that it is verified; else a person could take the address of another and answer
 * in that one's place. ret->found false: no person matches, or several do. One trip.
 */
enum az_status ciba_person_find(struct op *op, const struct ciba_hint *hint,
                                struct ciba_person *ret);

/* A request to be stored. */
struct ciba_request_new {
    const struct token_parts *parts;    /* of TOKEN_AUTH_REQ */
    const struct client *client;        /* as cached; the statement checks its version */
    const struct ciba_person *person;   /* who must answer */
    const char *revision;               /* bundle revision of the preview; must be acceptable */
    const char *flow_id;                /* UUID that ties the audit rows together */
    const unsigned char *callback_hash; /* SHA256_OCTETS, or NULL: the provider is not asked */
    const char *binding_message;        /* or NULL */
    const char *scope;                  /* what policy would grant, so the next two */
    const char *resource;               /* or NULL */
    json_t *details;                    /* array, or NULL */
    int64_t interval;                   /* seconds between two polls */
    int64_t expires_at;                 /* seconds since 1970 */
};

/* Outcomes of storing a request. */
enum ciba_made {
    CIBA_MADE,  /* the request and the audit row are stored */
    CIBA_STALE, /* client, provider or revision have changed; nothing was done */
    CIBA_FULL,  /* CIBA_OPEN_MAX requests of the person wait already; nothing was done */
};

/* Store a request and its audit row in one commit, under a lock of the person. One trip. */
enum az_status ciba_request_insert(struct op *op, const struct ciba_request_new *request,
                                   const struct audit_entry *audit, enum ciba_made *ret);

/* States of a request. `expired` is a state of its own, because it depends on the time. */
enum ciba_state {
    CIBA_PENDING,  /* the person has not answered */
    CIBA_APPROVED, /* the person agreed; the family of the same id is the approval */
    CIBA_DENIED,   /* the person refused */
    CIBA_CONSUMED, /* tokens were issued */
};

/* A request as a poll finds it. */
struct ciba_poll {
    struct grant_row owner; /* found, client, flow_id and subject alone */
    enum ciba_state state;
    bool expired; /* its time is over */
    bool early;   /* this poll came before the interval had passed */
};

/* Note the poll of a client and find the request. owner.found is false for an unknown id and a
 * wrong secret alike; the request may be another client's, which a poll does not change. One trip.
 */
enum az_status ciba_request_poll(struct op *op, const struct token_parts *parts,
                                 const struct client *client, struct ciba_poll *ret);

/* Delete requests that ended an hour ago (housekeeping). */
enum az_status ciba_requests_purge(struct op *op);

#endif
