/* What a code or refresh token that a client shows is good for. Rules alone: no database, no HTTP.
 */
#ifndef AZ_TOKEN_REDEEM_H
#define AZ_TOKEN_REDEEM_H

#include <stdbool.h>

struct client;
struct grant_row;

enum redeem_verdict {
    REDEEM_GOOD,     /* policy may be asked */
    REDEEM_BAD,      /* invalid_grant, and nothing changes */
    REDEEM_REPLAYED, /* its own client shows it once too often: the family dies */
};

/*
 * A code (RFC 6749 4.1.3, RFC 7636 4.6): found, of this client, unused, alive, for this
 * redirect_uri, with this verifier (NULL: none was sent), which a public client must have. *ret_why
 * says what is wrong, for the operator. Only the client's own replay kills: a stranger who got hold
 * of a used code must not be able to sign its owner out.
 */
enum redeem_verdict redeem_judge_code(const struct grant_row *grant, const struct client *client,
                                      const char *redirect_uri, const char *verifier,
                                      const char **ret_why);

/* A refresh token (RFC 6749 6, RFC 9700 4.14): found, of this client, of a living family whose
 * provider is enabled, and not rotated, or rotated so lately that it may be used once more. */
enum redeem_verdict redeem_judge_refresh(const struct grant_row *grant, const struct client *client,
                                         const char **ret_why);

/*
 * Whether a verifier belongs to an S256 challenge. Without a challenge no verifier may come (RFC
 * 9700 2.1.1: else an attacker strips the challenge from the request); with one it must, with 43 to
 * 128 unreserved characters (RFC 7636 4.1). It is never compared as `plain`.
 */
bool redeem_verifier_fits(const char *challenge, const char *verifier);

#endif
