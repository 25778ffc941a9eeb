/*
 * The cookies of a browser: the session, and the marks that bind a sign-in and a sign-out to the
 * browser that began it. 256 random bits each; HttpOnly, SameSite=Lax, Secure by
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

/* Marks of single sign-ins that a browser keeps. Eight tabs that open at once make eight; 16 are
 * about 1,200 octets of each request, of the 8,192 that web servers read of all fields. */
#define FLOW_COOKIES_MAX 16
/* Most of these marks that one answer drops, of the fields that an answer can have. */
#define FLOW_COOKIES_DROP 64

/*
 * Return the hash of the browser mark: the one that the browser sent, else a new one that is set on
 * the answer. Several tabs share it, so one does not end the sign-in of another. Tabs that start at
 * once have no mark yet, each gets one, and the last that arrives stays, also in place of a mark
 * that a later tab has used meanwhile. So the mark is also set as that of this one sign-in, in a
 * cookie that is named by its state (world.md F1).
 */
enum az_status browser_cookie_need(struct request *req,
                                   const unsigned char state_hash[SHA256_OCTETS],
                                   unsigned char ret_hash[SHA256_OCTETS]);
bool browser_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

/* Read, or drop if the browser sent it, the mark of the one sign-in of a state. */
bool flow_cookie_read(const struct request *req, const unsigned char state_hash[SHA256_OCTETS],
                      unsigned char ret_hash[SHA256_OCTETS]);
void flow_cookie_drop(struct request *req, const unsigned char state_hash[SHA256_OCTETS]);

/* The same of the mark of sign-outs. It is another cookie, because the form of a client's page
 * comes without cookies: a new mark must not take the place of one that a sign-in waits for. */
enum az_status logout_cookie_need(struct request *req, unsigned char ret_hash[SHA256_OCTETS]);
bool logout_cookie_read(const struct request *req, unsigned char ret_hash[SHA256_OCTETS]);

#endif
