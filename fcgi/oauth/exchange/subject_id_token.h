/* The claims of an ID token of another issuer that is exchanged (specification 7.1). Pure rules:
 * they take text, expectations and the time; they fetch nothing and verify no signature. */
#ifndef AZ_OAUTH_EXCHANGE_SUBJECT_ID_TOKEN_H
#define AZ_OAUTH_EXCHANGE_SUBJECT_ID_TOKEN_H

#include "crypto/jws.h"
#include "crypto/jwt.h"

/* The clock of the issuer may be this far ahead, in seconds. There is no tolerance after exp: the
 * exchanged token ends at that time too. */
#define SUBJECT_ID_TOKEN_SKEW 60

/* Longest acr, in octets, and most words of amr that policy gets: as of a sign-in. */
#define SUBJECT_ID_TOKEN_TEXT_MAX 256
#define SUBJECT_ID_TOKEN_AMR_MAX 16

/* An ID token that was split. Nothing in it is proved until its signature is verified. */
struct subject_id_token {
    struct jws *jws;          /* its parts */
    struct jwt_claims claims; /* iss and sub are there and not empty */
};

/* Media types of ID tokens, ending with NULL; a token may also have none. */
extern const char *const subject_id_token_types[];

/* Descriptions of specification 7.1 for faults that the caller finds. */
#define SUBJECT_ID_TOKEN_UNTRUSTED "Subject token issuer is not trusted"
#define SUBJECT_ID_TOKEN_UNREACHABLE "Unable to verify subject token issuer"
#define SUBJECT_ID_TOKEN_SIGNATURE "Subject token signature verification failed"
#define SUBJECT_ID_TOKEN_UNACCEPTABLE "Subject token is not acceptable"

/* Split a token and read iss and sub. AZ_INVALID: *ret_text is the public text and *ret_detail that
 * for the operator, both constant. */
enum az_status subject_id_token_read(TALLOC_CTX *mem, const char *text,
                                     struct subject_id_token *ret, const char **ret_text,
                                     const char **ret_detail);

/* Return the public text of a fault of the claims; never NULL. */
const char *subject_id_token_text(enum jwt_fault fault);

/*
 * Check the claims. AZ_OK alone says that the token is acceptable; with any other status *ret_text
 * is the public text and *ret_detail that for the operator, both constant. exp must be there and in
 * the future; the rest follows: nbf and iat, if present, must not be in the future; with
 * `audiences` (ending with NULL) the token must name one of them, and with several audiences azp
 * must be one of them too. An access token, a logout token (OpenID Connect Back-Channel Logout 2.4)
 * and the like are refused: more parties see those than an ID token. An algorithm that is not
 * allowed is refused here, before anything is fetched.
 */
enum az_status subject_id_token_check(const struct subject_id_token *token,
                                      const char *const *audiences, int64_t now,
                                      const char **ret_text, const char **ret_detail);

#endif
