#include "config.h"

#include "token/redeem.h"

#include <ctype.h>
#include <string.h>

#include "base/b64url.h"
#include "crypto/digest.h"
#include "crypto/secret.h"
#include "store/tokens/grants_find.h"

/* RFC 7636 4.1: code-verifier = 43*128unreserved */
#define VERIFIER_MIN 43
#define VERIFIER_MAX 128

static bool
is_verifier(const char *text)
{
    size_t length = strlen(text);
    if (length < VERIFIER_MIN || length > VERIFIER_MAX)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char) text[i]) && strchr("-._~", text[i]) == NULL)
            return false;
    return true;
}

bool
redeem_verifier_fits(const char *challenge, const char *verifier)
{
    unsigned char hash[SHA256_OCTETS];
    char made[B64URL_LENGTH(SHA256_OCTETS) + 1];
    if (challenge == NULL || verifier == NULL)
        return challenge == NULL && verifier == NULL;
    if (!is_verifier(verifier) || sha256(verifier, strlen(verifier), hash) != AZ_OK)
        return false;
    b64url_encode_into(hash, sizeof(hash), made);
    return secret_equal(made, strlen(made), challenge, strlen(challenge));
}

/* What both have in common; REDEEM_GOOD when nothing is wrong so far. */
static enum redeem_verdict
judge_owner(const struct grant_row *grant, const struct client *client, const char **ret_why)
{
    *ret_why = !grant->found                    ? "it is none of ours, or unknown"
               : grant->client.id != client->id ? "it is another client's"
               : grant->revoked                 ? "its family was revoked"
                                                : NULL;
    return *ret_why == NULL ? REDEEM_GOOD : REDEEM_BAD;
}

enum redeem_verdict
redeem_judge_code(const struct grant_row *grant, const struct client *client,
                  const char *redirect_uri, const char *verifier, const char **ret_why)
{
    enum redeem_verdict verdict = judge_owner(grant, client, ret_why);
    if (verdict != REDEEM_GOOD)
        return verdict;
    if (grant->redeemed) {
        *ret_why = "the code was used before";
        return REDEEM_REPLAYED;
    }
    /* It had a secret when it asked: without one, whoever has the code could redeem it. */
    bool bare = strcmp(client->type, "public") == 0 && grant->code_challenge == NULL;
    *ret_why = !grant->code_live          ? "the code has expired"
               : !grant->provider_enabled ? "its identity provider is disabled"
               : strcmp(grant->redirect_uri, redirect_uri) != 0 ? "redirect_uri is another"
               : bare ? "a public client's code needs a challenge"
               : !redeem_verifier_fits(grant->code_challenge, verifier)
                   ? "code_verifier is missing, wrong, or was not announced"
                   : NULL;
    return *ret_why == NULL ? REDEEM_GOOD : REDEEM_BAD;
}

enum redeem_verdict
redeem_judge_refresh(const struct grant_row *grant, const struct client *client,
                     const char **ret_why)
{
    enum redeem_verdict verdict = judge_owner(grant, client, ret_why);
    if (verdict != REDEEM_GOOD)
        return verdict;
    *ret_why = !grant->redeemed           ? "its code was never redeemed"
               : !grant->live             ? "its family has ended"
               : !grant->provider_enabled ? "its identity provider is disabled"
                                          : NULL;
    if (*ret_why != NULL)
        return REDEEM_BAD;
    if (!grant->rotated || grant->reusable)
        return REDEEM_GOOD;
    *ret_why = "it was replaced by another before";
    return REDEEM_REPLAYED;
}
