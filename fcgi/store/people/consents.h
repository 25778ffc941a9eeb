/* Authorization requests that wait on the consent page, and remembered consents. */
#ifndef AZ_STORE_PEOPLE_CONSENTS_H
#define AZ_STORE_PEOPLE_CONSENTS_H

#include <stdbool.h>

#include "base/json/fields.h"
#include "base/op.h"
#include "crypto/digest.h"
#include "store/db/rows/audit.h"
#include "store/db/rows/json_rows.h"

/* Longest time that the page may stay open. Seconds. */
#define CONSENT_REQUEST_VALIDITY 600

/* A request that will wait on the consent page. */
struct consent_request_new {
    const unsigned char *id_hash; /* SHA256_OCTETS: hash of the form token */
    const unsigned char *session; /* SHA256_OCTETS: key of the session */
    const char *request;          /* authorization_dump, JSON text */
    const char *revision;         /* bundle revision of the preview; it must still be acceptable */
};

/* Store a request and its audit row in one commit and one trip. *ret_stored false: the session has
 * ended, or the revision may not decide, and nothing was written. */
enum az_status consent_request_insert(struct op *op, const struct consent_request_new *request,
                                      const struct audit_entry *audit, bool *ret_stored);

/* Get the request of a form token if it belongs to this session and has not expired; *ret_request
 * is NULL otherwise. `take` deletes it, so that only one answer counts. JSON text on op->mem. One
 * trip. */
enum az_status consent_request_get(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                                   const unsigned char session[SHA256_OCTETS], bool take,
                                   const char **ret_request);

/* Remembered consents, for the administrator, and the members of one: the newest first,
 * filtered by subject and client_id. After a delete the next authorization asks the user again. */
extern const struct json_rows consent_rows;
extern const struct field_table consent_view;

#endif
