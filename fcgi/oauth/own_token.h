/* Access tokens at the service's own resource endpoints: /userinfo, UMA, delegation, gateway. They
 * are looked up as introspection does, evaluation 2 included (decisions.md "Our own endpoints"). */
#ifndef AZ_OAUTH_OWN_TOKEN_H
#define AZ_OAUTH_OWN_TOKEN_H

#include "http/route.h"
#include "store/tokens/tokens_find.h"
#include "token/show.h"

/* The access token of a request to an endpoint of our own. */
struct own_token {
    struct token_parts parts;   /* as sent */
    struct token_lookup lookup; /* lookup.row: the token, with its client and subject */
    json_t *scopes;             /* set by own_token_judge(): what policy grants now, an array */
    json_t *baseline;           /* set with it: the pdpOutput of the issuance, or NULL */
    json_t *issued;             /* set with it: its pdpInput; NULL if it was deleted */
};

/* Refuse the token: AZ_INVALID_TOKEN with `error="invalid_token"` in the challenge (RFC 6750 3.1),
 * whatever the reason, which `detail` tells the operator. */
enum az_status own_token_refuse(struct request *req, const char *detail);

/*
 * Read the token from its text and find its row. AZ_INVALID_TOKEN: it is no access token of ours,
 * is not live, is a single-use token, which exists to be introspected, or is bound to a key that
 * the request does not prove (oauth/dpop/dpop.h). Sets req->proved, and client and subject of the
 * audit row. One trip, in which ret->lookup.join takes part, and one more for a bound token.
 */
enum az_status own_token_find(struct request *req, const char *text, struct own_token *ret);

/*
 * Ask policy for evaluation 2 as own_token_judge() does, and leave what it means to the caller:
 * *ret. AZ_INVALID_TOKEN: policy does not let the service ask, or the token ended or is a
 * single-use token meanwhile.
 */
enum az_status own_token_ask(struct request *req, struct own_token *token, struct shown *ret);

/* Note evaluation 2 for the audit row, where it stands unless the request notes another decision.
 * It is packed when the row is written. */
void own_token_note(struct request *req, const struct shown *shown);

/*
 * Ask policy for evaluation 2; the caller is the service itself. The question and the answer go to
 * the audit row. AZ_INVALID_TOKEN: policy denies the token (the audit row is written), or it ended
 * meanwhile. AZ_UNAVAILABLE: there is no answer.
 */
enum az_status own_token_judge(struct request *req, struct own_token *token);

/* Send the audit row of a request that read and changed nothing, and let the handler answer 200. */
enum az_status own_token_note_read(struct request *req);

/*
 * Check the Authorization header of a request, and that the token has one of the scopes (a list
 * that ends with NULL); req->token is set. A request without a token gets a challenge
 * without an error code (RFC 6750 3.1), and a token without the scopes AZ_INSUFFICIENT_SCOPE.
 */
enum az_status own_token_require(struct request *req, const char *const *scopes);

#endif
