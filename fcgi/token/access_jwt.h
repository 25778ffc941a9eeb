/* JWT access tokens (RFC 9068), for the resources that the row svc.registry.jwt_resources names.
 * They are stored and found like every access token; the text alone differs. */
#ifndef AZ_TOKEN_ACCESS_JWT_H
#define AZ_TOKEN_ACCESS_JWT_H

#include "crypto/token.h"
#include "policy/decide/decision.h"
#include "policy/decide/question.h"

/* Longest JWT access token, in octets: it is in a header of each request, and many servers take
 * headers of 8 KiB. */
#define ACCESS_JWT_OCTETS_MAX 4096

/*
 * Make the JWT of a decision that gives one, which expires at `expires_at`, seconds since 1970. The
 * text is on op->mem and is wiped when it is freed. *ret_why becomes the reason, and *ret stays
 * NULL, if the token must be opaque: it is too long, or not all verifiers know the key.
 */
enum az_status access_jwt_make(struct op *op, const struct issue_question *question,
                               const struct decision *decision, int64_t expires_at, char **ret,
                               struct token_parts *ret_parts, const char **ret_why);

/*
 * Read the text of any token of this service, a JWT access token too: for requests that are about a
 * token. The signature is not looked at, because the row has the hash of the whole text. A
 * credential is read by token_parse() alone: a JWT that was sent to another server is none here.
 */
enum az_status access_jwt_parse(TALLOC_CTX *mem, const char *text, enum token_kind *ret_kind,
                                struct token_parts *ret);

#endif
