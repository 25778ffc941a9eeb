/* Authorization requests that wait on the consent page, and what was allowed before. */
#ifndef AZ_STORE_PEOPLE_CONSENTS_H
#define AZ_STORE_PEOPLE_CONSENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/digest.h"

/* The page may stay open so long. Seconds. */
#define CONSENT_REQUEST_VALIDITY 600

/* Consents of one list. */
#define CONSENT_LIST_MAX 1000

/* Puts a request down for the session; `id_hash` is of the form token. AZ_LOGIN_REQUIRED: the
 * session is over. One trip. */
enum az_status consent_request_insert(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                                      const unsigned char session[SHA256_OCTETS],
                                      const char *request);

/* The request of a form token, when it is this session's and in time; *ret_request is NULL
 * otherwise. `take` deletes it: one answer counts. JSON text on op->mem. One trip. */
enum az_status consent_request_get(struct op *op, const unsigned char id_hash[SHA256_OCTETS],
                                   const unsigned char session[SHA256_OCTETS], bool take,
                                   const char **ret_request);

/* What is remembered, newest first: array of {id, subjectId, clientId, redirectHost, scope,
 * resource, grantedAt}. NULL: of every subject, of every client. At most CONSENT_LIST_MAX. */
enum az_status consent_list(struct op *op, const char *subject, const char *client_id,
                            json_t **ret);

/* Forgets one: the next authorization asks again. AZ_NOT_FOUND. */
enum az_status consent_delete(struct op *op, int64_t id);

#endif
