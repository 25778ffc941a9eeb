/* Approvals of single calls by the person of the token (gateway-admin.md 3.8, approve_by_ciba).
 * They are requests of CIBA that the gateway starts: the person answers on the same page. */
#ifndef AZ_STORE_GATEWAY_APPROVALS_H
#define AZ_STORE_GATEWAY_APPROVALS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "base/uuid7.h"
#include "crypto/digest.h"

/* A call that waits for an approval. */
struct approval_call {
    const char *subject;       /* of the token */
    int64_t client;            /* client.id of the token's client */
    const unsigned char *hash; /* SHA256_OCTETS: of all that the person approves */
    const char *flow_id;       /* UUID that ties the audit rows together */
    const char *resource;      /* address of the gateway that was called */
    json_t *details;           /* array: what the person is shown */
    int64_t expires_at;        /* seconds since 1970: end of a request that is made now */
};

/* States of an approval. */
enum approval_state {
    APPROVAL_NO_PERSON, /* the subject is not a person who signs in here */
    APPROVAL_FULL,      /* CIBA_OPEN_MAX requests of the person wait already */
    APPROVAL_WAITS,     /* the person has not answered; the request may have been made just now */
    APPROVAL_DENIED,    /* the person refused, and that request has not expired */
    APPROVAL_GIVEN,     /* the person agreed; the approval is used up now */
};

struct approval {
    enum approval_state state;
    /* Set for APPROVAL_WAITS: */
    unsigned char id[UUID7_OCTETS]; /* of the request */
    const char *idp_id;             /* idpId of the person's provider */
    int64_t expires_in;             /* seconds */
};

/*
 * Find the request for a call, and use its approval up; without a request, start one. The lock of
 * the person makes one request of several calls at once, and lets one call through. One trip.
 */
enum az_status approval_take(struct op *op, const struct approval_call *call, struct approval *ret);

#endif
