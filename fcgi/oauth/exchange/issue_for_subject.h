/* Tokens of the person behind a request, for the authorization server of an upstream. */
#ifndef AZ_OAUTH_EXCHANGE_ISSUE_FOR_SUBJECT_H
#define AZ_OAUTH_EXCHANGE_ISSUE_FOR_SUBJECT_H

#include "crypto/token.h"
#include "http/route.h"
#include "oauth/own_token.h"

/*
 * Make an access token of the person of `token`, the token of the request, for `resource`, as a
 * token exchange of the caller's client would (RFC 8693; decisions.md "Gateway"): policy is asked
 * (evaluation 1) and an audit row is written. It has no scopes, lives for a minute, at most as long
 * as the caller's, and ends with its sign-in. It says who calls, and opens nothing. AZ_FORBIDDEN:
 * policy allows no such token. AZ_USER_REQUIRED: the token names no person.
 */
enum az_status issue_for_subject(struct request *req, const struct own_token *token,
                                 const char *resource, struct token_text *ret);

#endif
