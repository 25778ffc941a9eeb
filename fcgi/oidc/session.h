/*
 * The three cookies of a browser: the session, and the marks that bind a sign-in and a sign-out to
 * the browser that began it. 256 random bits each; HttpOnly, SameSite=Lax, Secure by
 * SVC_SESSION_COOKIE_SECURE. With Secure, the name has the prefix __Host- if the issuer has no
 * path, else __Secure-. Two cookies of one name count as none.
 */
#ifndef AZ_OIDC_SESSION_H
#define AZ_OIDC_SESSION_H

#include <stdbool.h>

#include "base/b64url.h"
#include "crypto/digest.h"
#include "http/request.h"

/* Compute the SHA-256 of the session cookie; false: the browser sent no cookie of this service. */
bool session_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Make a new session id: set the cookie on the answer and return its hash. */
enum az_status session_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Tell the browser to forget the session. */
void session_cookie_drop(struct request *req);

#define SESSION_FORM_TOKEN_SIZE (B64URL_LENGTH(SHA256_OCTETS) + 1)

/*
 * Make a token for one of our forms. Only this browser's session and this `purpose` give the same
 * token, so no other site can post the form. It is derived from the cookie, so nothing is stored.
 * False: no session cookie.
 */
bool session_form_token(const struct request *req, const char *purpose,
                        char ret[SESSION_FORM_TOKEN_SIZE]);

/*
 * True if, as far as the browser says, the form was posted from our own pages: Origin is missing,
 * "null" (which our Referrer-Policy causes) or the issuer's, and Sec-Fetch-Site is not another
 * site. The form's token decides; this is a second check.
 */
bool session_form_is_ours(const struct request *req);

/* Return the hash of the browser mark: the one that the browser sent, else a new one that is set on
 * the answer. Several tabs share it, so one does not end the sign-in of another. */
enum az_status browser_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);
bool browser_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* The same of the mark of sign-outs. It is another cookie, because the form of a client's page
 * comes without cookies: a new mark must not take the place of one that a sign-in waits for. */
enum az_status logout_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);
bool logout_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

#endif
