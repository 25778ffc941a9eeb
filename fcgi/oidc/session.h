/* The two cookies of a browser: the session, and the mark that binds a sign-in to the browser that
 * began it. 256 random bits each; HttpOnly, SameSite=Lax, Secure by SVC_SESSION_COOKIE_SECURE, with
 * the prefix __Host- where that can be (Secure, and the issuer has no path), __Secure- where Secure
 * alone holds. Two cookies of one name count as none. */
#ifndef AZ_OIDC_SESSION_H
#define AZ_OIDC_SESSION_H

#include <stdbool.h>

#include "base/b64url.h"
#include "crypto/digest.h"
#include "http/request.h"

/* SHA-256 of the session cookie the browser sent; false: none of ours. */
bool session_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* A new session id: sets the cookie on the answer and gives its hash. */
enum az_status session_cookie_make(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Tells the browser to forget the session. */
void session_cookie_drop(struct request *req);

/*
 * A token for a form of ours: only this browser's session and this `purpose` give it, so that no
 * other site can post the form. Made of the cookie, so nothing is stored. False: no session cookie.
 */
#define SESSION_FORM_TOKEN_SIZE (B64URL_LENGTH(SHA256_OCTETS) + 1)
bool session_form_token(const struct request *req, const char *purpose,
                        char ret[SESSION_FORM_TOKEN_SIZE]);

/*
 * Whether a form was posted from our own pages, as far as the browser says: Origin (when it is
 * there and not "null", which our Referrer-Policy makes of it) is the issuer's, and Sec-Fetch-Site
 * is not another site. The form's token decides; this is beside it.
 */
bool session_form_is_ours(const struct request *req);

/* The browser's mark: the one it sent, else a new one that is set on the answer. Several tabs share
 * it, so one does not end the other's sign-in. */
enum az_status browser_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);
bool browser_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

#endif
