/* The rules for using a code or a refresh token. No database, no HTTP. */
#ifndef AZ_TOKEN_REDEEM_H
#define AZ_TOKEN_REDEEM_H

#include <stdbool.h>

struct client;
struct grant_row;

/* The text for a client whose refresh token was replaced (world.md R5). */
#define REDEEM_REPLACED                                                                            \
    "The refresh token had been replaced: several programs share this sign-in, or it was stolen. " \
    "Sign in again"

enum redeem_verdict {
    REDEEM_GOOD,     /* policy may be asked */
    REDEEM_BAD,      /* invalid_grant; nothing changes */
    REDEEM_REPLAYED, /* used again by a caller who could have used it: the family ends */
};

/*
 * Judge a code (RFC 6749 4.1.3, RFC 7636 4.6). It must be known, of this client and for this
 * redirect_uri, and the verifier (NULL if it was not sent) must match its challenge. A public
 * client must have a challenge. A code that is bound to a DPoP key needs a proof by it (RFC 9449
 * 10); `jkt` is the key of the request's proof, or NULL. Without a challenge no verifier may come,
 * or else an attacker could strip the challenge from the request (RFC 9700 2.1.1). Only then does
 * it count that the code is unused, unexpired and of an enabled provider: a caller who could not
 * have redeemed the code must not be able to end its family with it, or anybody who saw a used code
 * in a log could sign the user out. *ret_why is the reason, for the log.
 */
enum redeem_verdict redeem_judge_code(const struct grant_row *grant, const struct client *client,
                                      const char *redirect_uri, const char *verifier,
                                      const char *jkt, const char **ret_why);

/* Judge an auth_req_id that was approved (CIBA Core 11). It is never replayed: a client may poll
 * once more because it lost the answer, and its id was never in a browser. */
enum redeem_verdict redeem_judge_approval(const struct grant_row *grant,
                                          const struct client *client, const char **ret_why);

/* Judge a refresh token (RFC 6749 6, RFC 9700 4.14). It must be of this client, of a live family
 * whose provider is enabled, and of the DPoP key that it is bound to, if any (RFC 9449 5). A
 * rotated token is good only if it was rotated so recently that it may be used once more. One that
 * ended because a sibling was used is never good: two parties use the family, and one of them may
 * be a thief (decisions.md "Siblings").. *ret_text is why the sign-in ended, for who
 * shows a token with the right secret and key as its client (world.md R5), or NULL: strangers learn
 * nothing. */
enum redeem_verdict redeem_judge_refresh(const struct grant_row *grant, const struct client *client,
                                         const char *jkt, const char **ret_why,
                                         const char **ret_text);

#endif
