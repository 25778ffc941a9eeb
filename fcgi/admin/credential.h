/* Check who may use the admin API, and for what (specification 5, gateway-admin.md 3.9): an admin
 * key in the header X-Admin-API-Key, or the cookie of a session of the console, for which a key was
 * exchanged or a person signed in. */
#ifndef AZ_ADMIN_CREDENTIAL_H
#define AZ_ADMIN_CREDENTIAL_H

#include "crypto/digest.h"
#include "http/route.h"

/* Longest key that is looked up, in octets. Keys that the service makes have 80; a configured one
 * may be longer. */
#define ADMIN_KEY_TEXT_MAX 1024

/*
 * 401 for a missing, unknown, revoked or ended key or session; 404 for a valid one while
 * SVC_ADMIN_ENABLED is false, so that only a caller with a key learns that the API is off; 403 if
 * its role is less than that of the row, if no page of ours sent the request of a session, or if a
 * rule refuses it (operator_rule.h). A
 * header counts alone: with a wrong key, a cookie beside it is not read. With
 * SVC_ALLOW_INSECURE_DEV_KEY no key is needed. The operator of az->by_operator needs neither a key
 * nor the setting: authzctl sets it in its own process, and a request cannot set it.
 */
extern const struct route_credential credential_admin;

/* The same without the rule, for the sign-out and for GET /admin/session: a rule keeps a caller
 * from neither. */
extern const struct route_credential credential_session;

/* The same for the sign-in to the console: a key in the header or a one-time link
 * (console_link.h), no session, and 429 after SHARED_SIGN_INS_MAX failures of an address in a
 * minute. */
extern const struct route_credential credential_sign_in;

/* Refuse a request that needs this role: AZ_ROLE_REQUIRED. For rows whose body decides whether they
 * write. */
enum az_status admin_require(struct request *req, enum admin_role role);

/* Read the hash of the session cookie. False: the browser sent none of ours. */
bool admin_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Make a new session id: set the cookie on the answer and return its hash. */
enum az_status admin_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Tell the browser to forget the session. */
void admin_cookie_drop(struct request *req);

#endif
