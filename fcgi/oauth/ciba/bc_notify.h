/* Telling an identity provider that a person must answer (gateway-admin.md 4.2, channel A). */
#ifndef AZ_OAUTH_CIBA_BC_NOTIFY_H
#define AZ_OAUTH_CIBA_BC_NOTIFY_H

#include "crypto/digest.h"
#include "http/request.h"
#include "store/tokens/ciba_requests.h"

/* The message to the provider, and the part of it that we keep. */
struct ciba_notice {
    const char *request_id;            /* the id of the request, as a UUID; no secret */
    const char *bearer;                /* our JWT, with which the provider answers: a secret */
    unsigned char hash[SHA256_OCTETS]; /* SHA-256 of the JWT */
};

/* Sign the JWT that tells the provider who asks, and that it sends back with the person's answer.
 */
enum az_status bc_notice_make(struct request *req, const struct ciba_person *person,
                              const unsigned char id[UUID7_OCTETS], int64_t expires_at,
                              struct ciba_notice *ret);

/* Tell the provider of the person; the caller holds a place for fetches. A provider that cannot be
 * reached is logged and not a failure: the person can answer on our page. */
void bc_notice_send(struct request *req, const struct ciba_notice *notice,
                    const struct ciba_request_new *request);

#endif
