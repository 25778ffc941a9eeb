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

/* True if a verifier (RFC 7636 4.1) belongs to an S256 challenge, or if there is neither. It is
 * never compared as `plain`. */
static bool
verifier_fits(const char *challenge, const char *verifier)
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

/* True if nothing is bound to a DPoP key, or it is to that of the request's proof. */
static bool
is_keyed(const char *bound, const char *jkt)
{
    return bound == NULL || (jkt != NULL && strcmp(bound, jkt) == 0);
}

/* Judge what codes and refresh tokens have in common. `bound` is the DPoP key that the one in use
 * is bound to, `jkt` that of the request's proof; both may be NULL. */
static enum redeem_verdict
judge_owner(const struct grant_row *grant, const struct client *client, const char *bound,
            const char *jkt, const char **ret_why)
{
    bool keyed = is_keyed(bound, jkt);
    *ret_why = !grant->found                    ? "unknown"
               : grant->client.id != client->id ? "issued to another client"
               : !keyed                         ? "bound to another DPoP key"
               : grant->revoked                 ? "the family was revoked"
                                                : NULL;
    return *ret_why == NULL ? REDEEM_GOOD : REDEEM_BAD;
}

enum redeem_verdict
redeem_judge_code(const struct grant_row *grant, const struct client *client,
                  const char *redirect_uri, const char *verifier, const char *jkt,
                  const char **ret_why)
{
    enum redeem_verdict verdict = judge_owner(grant, client, grant->dpop_jkt, jkt, ret_why);
    if (verdict != REDEEM_GOOD)
        return verdict;
    /* The client had a secret when it asked for the code. Without it, anyone with the code could
     * use it. */
    bool needs = client_is_public(client) || client->pkce_required;
    bool bare = needs && grant->code_challenge == NULL;
    *ret_why = strcmp(grant->redirect_uri, redirect_uri) != 0
                   ? "redirect_uri differs from the authorization request"
               : bare ? "the client needs a code_challenge"
               : !verifier_fits(grant->code_challenge, verifier)
                   ? "code_verifier is missing or wrong, or there was no code_challenge"
                   : NULL;
    if (*ret_why != NULL)
        return REDEEM_BAD;
    if (grant->redeemed) {
        *ret_why = "the code was already used";
        return REDEEM_REPLAYED;
    }
    *ret_why = !grant->code_live          ? "expired"
               : !grant->provider_enabled ? "the identity provider is disabled"
                                          : NULL;
    return *ret_why == NULL ? REDEEM_GOOD : REDEEM_BAD;
}

enum redeem_verdict
redeem_judge_approval(const struct grant_row *grant, const struct client *client,
                      const char **ret_why)
{
    enum redeem_verdict verdict = judge_owner(grant, client, NULL, NULL, ret_why);
    if (verdict != REDEEM_GOOD)
        return verdict;
    *ret_why = grant->redeemed            ? "the tokens were already issued"
               : !grant->code_live        ? "expired"
               : !grant->provider_enabled ? "the identity provider is disabled"
                                          : NULL;
    return *ret_why == NULL ? REDEEM_GOOD : REDEEM_BAD;
}

/* Return what the owner of a refresh token is told about the end of its family, or NULL. */
static const char *
end_text(const struct grant_row *grant)
{
    if (grant->revoked && grant->revoked_why != NULL)
        return strcmp(grant->revoked_why, "code") == 0 ? NULL : REDEEM_REPLACED;
    return grant->revoked ? "The sign-in was ended by its person or an administrator. Sign in again"
           : !grant->live ? "The sign-in has expired. Sign in again"
                          : NULL;
}

enum redeem_verdict
redeem_judge_refresh(const struct grant_row *grant, const struct client *client, const char *jkt,
                     const char **ret_why, const char **ret_text)
{
    enum redeem_verdict verdict = judge_owner(grant, client, grant->jkt, jkt, ret_why);
    bool owner = grant->found && grant->client.id == client->id && is_keyed(grant->jkt, jkt);
    *ret_text = owner && grant->redeemed ? end_text(grant) : NULL;
    if (verdict != REDEEM_GOOD)
        return verdict;
    *ret_why = !grant->redeemed           ? "the code of the family was never used"
               : !grant->live             ? "the family has ended"
               : !grant->provider_enabled ? "the identity provider is disabled"
                                          : NULL;
    if (*ret_why != NULL)
        return REDEEM_BAD;
    if (!grant->ended && (!grant->rotated || grant->reusable))
        return REDEEM_GOOD;
    *ret_why = grant->ended ? "another refresh token was used in place of this one"
                            : "the refresh token was already replaced";
    return REDEEM_REPLAYED;
}
