/* The rules for redeeming a code or a refresh token, without HTTP or SQL (RFC 6749 4.1.3 and 6, RFC
 * 7636). */
#include "config.h"

#include "token/redeem.h"

#include <string.h>

#include "store/tokens/grants_find.h"
#include "tap.h"

/* RFC 7636 appendix B. */
#define VERIFIER "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
#define CHALLENGE "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
#define REDIRECT "https://app.example/cb"

#define TEN "aaaaaaaaaa"
#define FORTY TEN TEN TEN TEN
#define HUNDRED_TWENTY FORTY FORTY FORTY

/* clang-format off */
static const struct { const char *challenge, *verifier; bool fits; const char *name; } verifiers[] = {
    {CHALLENGE, VERIFIER, true, "the pair of RFC 7636 appendix B"},
    {NULL, NULL, true, "neither: a confidential client without PKCE (oauth.md S4)"},
    {CHALLENGE, NULL, false, "no verifier where a challenge was sent"},
    {NULL, VERIFIER, false, "a verifier where no challenge was sent (RFC 9700 2.1.1)"},
    {NULL, "", false, "... also an empty one"},
    {CHALLENGE, "", false, "an empty verifier"},
    {CHALLENGE, CHALLENGE, false, "the challenge itself: S256 is never compared as plain"},
    {CHALLENGE, "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK", false, "another case at the end"},
    {CHALLENGE, VERIFIER "=", false, "padding behind it"},
    /* SHA-256 of 42, 43, 128 and 129 times the letter a: only the length can be wrong */
    {"elOGB_2quSlplZKfRRVlu7gULhhEEXMiqv0rPXawGv8", FORTY "aa", false, "42 characters, one too few"},
    {"ZtNPunH49FD35FWYhT5Tv8I7vRKQJ8uxMaL0_9eHjNA", FORTY "aaa", true, "43 characters"},
    {"aDbPE7rEAOkQUHHNavRwhN-srU5eMCyUv-0k4BOvtz4", HUNDRED_TWENTY "aaaaaaaa", true, "128 characters"},
    {"wSywJKLlVRzKDgj86PHF4xRVXMP-9jKe6ZSj23UhZq4", HUNDRED_TWENTY "aaaaaaaaa", false, "129 characters, one too many"},
    {"", FORTY "aaa", false, "an empty challenge"},
    {CHALLENGE, FORTY "aaa", false, "43 characters, but others"},
    {CHALLENGE, HUNDRED_TWENTY "aaaaaaaa", false, "128 characters, but others"},
    {CHALLENGE, FORTY "a+a", false, "a plus"},
    {CHALLENGE, FORTY "a a", false, "a blank"},
    {CHALLENGE, FORTY "a\xc3\xa9", false, "a letter outside ASCII"},
};
/* clang-format on */

static const struct client owner = {.id = 7, .client_id = "web", .type = "confidential"};
static const struct client stranger = {.id = 8, .client_id = "other", .type = "confidential"};
/* The owner after it became a public client. */
static const struct client open_owner = {.id = 7, .client_id = "web", .type = "public"};

/* Return a code that may be redeemed. */
static struct grant_row
good_code(void)
{
    return (struct grant_row){
        .found = true,
        .client = {.id = 7, .client_id = "web"},
        .code_live = true,
        .live = true,
        .provider_enabled = true,
        .redirect_uri = REDIRECT,
        .code_challenge = CHALLENGE,
    };
}

static struct grant_row
good_refresh(void)
{
    struct grant_row grant = good_code();
    grant.redeemed = true;
    grant.code_live = false;
    return grant;
}

static enum redeem_verdict
judge_code(struct grant_row grant, const struct client *client, const char *redirect_uri,
           const char *verifier, const char **ret_why)
{
    return redeem_judge_code(&grant, client, redirect_uri, verifier, NULL, ret_why);
}

static void
test_verifier(const char *challenge, const char *verifier, bool fits, const char *name)
{
    const char *why;
    struct grant_row grant = good_code();
    grant.code_challenge = challenge;
    is_int(judge_code(grant, &owner, REDIRECT, verifier, &why), fits ? REDEEM_GOOD : REDEEM_BAD,
           "verifier: %s", name);
    ok(fits || strstr(why, "code_verifier") != NULL, "... the log names it");
}

static void
test_code(void)
{
    const char *why;
    struct grant_row bad = good_code();
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_GOOD, "a good code");
    ok(why == NULL, "... and no reason against it");
    is_int(judge_code(bad, &stranger, REDIRECT, VERIFIER, &why), REDEEM_BAD, "another client's");
    ok(why != NULL && strstr(why, "another client") != NULL, "... which the log says");
    is_int(judge_code(bad, &owner, REDIRECT "/", VERIFIER, &why), REDEEM_BAD,
           "another redirect_uri");
    is_int(judge_code(bad, &owner, REDIRECT, NULL, &why), REDEEM_BAD, "no verifier");
    is_int(judge_code(bad, &open_owner, REDIRECT, VERIFIER, &why), REDEEM_GOOD,
           "a public client's");
    bad.code_challenge = NULL;
    is_int(judge_code(bad, &owner, REDIRECT, NULL, &why), REDEEM_GOOD,
           "without PKCE, a confidential client's (oauth.md S4)");
    is_int(judge_code(bad, &open_owner, REDIRECT, NULL, &why), REDEEM_BAD,
           "... but not a public one's, which has no other proof (specification 5)");
    is_int(judge_code(bad, &open_owner, REDIRECT, VERIFIER, &why), REDEEM_BAD,
           "... nor with a verifier that has no challenge");
    struct client strict = owner;
    strict.pkce_required = true;
    is_int(judge_code(bad, &strict, REDIRECT, NULL, &why), REDEEM_BAD,
           "... nor that of a client which must send a challenge (oauth.md S4)");
    is_int(judge_code(good_code(), &strict, REDIRECT, VERIFIER, &why), REDEEM_GOOD,
           "... whose code with one is good");
    bad = good_code();
    bad.found = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_BAD, "an unknown one");
    bad = good_code();
    bad.code_live = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_BAD, "an expired one");
    bad = good_code();
    bad.provider_enabled = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_BAD, "a disabled provider");
    bad = good_code();
    bad.revoked = true;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_BAD, "of a revoked family");
    bad.redeemed = true;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_BAD,
           "a replay in a revoked family is only refused");
    bad.revoked = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_REPLAYED,
           "a replay ends the family (RFC 6749 4.1.2)");
    is_int(judge_code(bad, &stranger, REDIRECT, VERIFIER, &why), REDEEM_BAD,
           "... but not if another client sends it");
    is_int(judge_code(bad, &owner, "x", VERIFIER, &why), REDEEM_BAD,
           "... nor with another redirect_uri (decisions.md \"Codes\")");
    is_int(judge_code(bad, &owner, REDIRECT, NULL, &why), REDEEM_BAD, "... nor without a verifier");
    is_int(judge_code(bad, &owner, REDIRECT, FORTY "aaa", &why), REDEEM_BAD,
           "... nor with another verifier");
    bad.code_challenge = NULL;
    is_int(judge_code(bad, &open_owner, REDIRECT, NULL, &why), REDEEM_BAD,
           "... nor by a public client without a challenge, which could not have redeemed it");
    is_int(judge_code(bad, &owner, REDIRECT, NULL, &why), REDEEM_REPLAYED,
           "... but by a confidential client without PKCE");
    bad.code_challenge = CHALLENGE;
    bad.provider_enabled = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_REPLAYED,
           "... also while the provider is disabled");
    bad.code_live = false;
    is_int(judge_code(bad, &owner, REDIRECT, VERIFIER, &why), REDEEM_REPLAYED,
           "... also long after the code has expired");
}

static enum redeem_verdict
judge_approval(struct grant_row grant, const struct client *client)
{
    const char *why;
    return redeem_judge_approval(&grant, client, &why);
}

static void
test_approval(void)
{
    struct grant_row bad = good_code();
    is_int(judge_approval(bad, &owner), REDEEM_GOOD, "an approved auth_req_id");
    is_int(judge_approval(bad, &stranger), REDEEM_BAD, "another client's");
    bad.found = false;
    is_int(judge_approval(bad, &owner), REDEEM_BAD, "one without an approval");
    bad = good_code();
    bad.code_live = false;
    is_int(judge_approval(bad, &owner), REDEEM_BAD, "an expired one");
    bad = good_code();
    bad.provider_enabled = false;
    is_int(judge_approval(bad, &owner), REDEEM_BAD, "of a disabled provider");
    bad = good_code();
    bad.revoked = true;
    is_int(judge_approval(bad, &owner), REDEEM_BAD, "of a revoked family");
    bad = good_code();
    bad.redeemed = true;
    is_int(judge_approval(bad, &owner), REDEEM_BAD,
           "one that is polled again is refused, and ends nothing (gateway-admin.md 4.2)");
}

static enum redeem_verdict
judge_refresh(struct grant_row grant, const struct client *client, const char **ret_why)
{
    const char *text;
    return redeem_judge_refresh(&grant, client, NULL, ret_why, &text);
}

static void
test_refresh(void)
{
    const char *why;
    struct grant_row bad = good_refresh();
    is_int(judge_refresh(bad, &owner, &why), REDEEM_GOOD, "a good refresh token");
    is_int(judge_refresh(bad, &stranger, &why), REDEEM_BAD, "another client's");
    bad.found = false;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_BAD, "an unknown one");
    bad = good_refresh();
    bad.redeemed = false;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_BAD,
           "of a family whose code was never redeemed");
    bad = good_refresh();
    bad.live = false;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_BAD, "of a family that ended");
    bad = good_refresh();
    bad.provider_enabled = false;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_BAD, "of a disabled provider");
    bad = good_refresh();
    bad.rotated = bad.reusable = true;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_GOOD, "one that was rotated just now");
    bad.reusable = false;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_REPLAYED,
           "one that was rotated before ends the family (RFC 9700 4.14.2)");
    is_int(judge_refresh(bad, &stranger, &why), REDEEM_BAD, "... but not by another client");
    bad = good_refresh();
    bad.ended = true;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_REPLAYED,
           "one whose sibling was used ends the family (decisions.md \"Siblings\")");
    is_int(judge_refresh(bad, &stranger, &why), REDEEM_BAD, "... but not by another client");
    bad.revoked = true;
    is_int(judge_refresh(bad, &owner, &why), REDEEM_BAD, "of a revoked family");
}

/* Return what the caller is told about a refresh token, or "". */
static const char *
told_to(struct grant_row grant, const struct client *client, const char *jkt)
{
    const char *why, *text;
    redeem_judge_refresh(&grant, client, jkt, &why, &text);
    return text != NULL ? text : "";
}

#define ENDED "The sign-in was ended by its person or an administrator. Sign in again"
#define EXPIRED "The sign-in has expired. Sign in again"

static void
test_told(void)
{
    struct grant_row bad = good_refresh();
    is_str(told_to(bad, &owner, NULL), "", "told: nothing of a good token");
    bad.revoked = true;
    is_str(told_to(bad, &owner, NULL), ENDED, "told: the end by a person (world.md R5)");
    is_str(told_to(bad, &stranger, NULL), "", "... but not another client");
    bad.revoked_why = "replaced";
    is_str(told_to(bad, &owner, NULL), REDEEM_REPLACED, "told: the end by a reuse");
    is_str(told_to(bad, &stranger, NULL), "", "... but not another client");
    bad.revoked_why = "code";
    is_str(told_to(bad, &owner, NULL), "", "... and not one by the code");
    bad = good_refresh();
    bad.live = false;
    is_str(told_to(bad, &owner, NULL), EXPIRED, "told: the end by time");
    is_str(told_to(bad, &stranger, NULL), "", "... but not another client");
    bad.jkt = "k";
    is_str(told_to(bad, &owner, "k"), EXPIRED, "told: who has the DPoP key");
    is_str(told_to(bad, &owner, NULL), "", "... but not who has the token alone");
    is_str(told_to(bad, &owner, "l"), "", "... or another key");
    bad.found = false;
    is_str(told_to(bad, &owner, "k"), "", "... or a wrong secret");
}

/* The key of a code and that of a refresh token are two (RFC 9449 10 and 5). */
static void
test_keys(void)
{
    const char *why, *told;
    struct grant_row code = good_code(), refresh = good_refresh();
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, "k", &why), REDEEM_GOOD,
           "a proof with a code that is bound to no key");
    code.dpop_jkt = "k";
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, "k", &why), REDEEM_GOOD,
           "a code with the key that it is bound to");
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, NULL, &why), REDEEM_BAD,
           "... without a proof");
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, "l", &why), REDEEM_BAD,
           "... with another key");
    code.redeemed = true;
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, "l", &why), REDEEM_BAD,
           "... which cannot end the family either");
    code.dpop_jkt = NULL;
    code.jkt = "thief";
    is_int(redeem_judge_code(&code, &owner, REDIRECT, VERIFIER, "k", &why), REDEEM_REPLAYED,
           "a code that a thief redeemed with a key of his own still ends the family");
    is_int(redeem_judge_refresh(&refresh, &owner, "k", &why, &told), REDEEM_GOOD,
           "a proof with a refresh token that is bound to no key");
    refresh.jkt = "k";
    is_int(redeem_judge_refresh(&refresh, &owner, "k", &why, &told), REDEEM_GOOD,
           "a refresh token with the key that it is bound to");
    is_int(redeem_judge_refresh(&refresh, &owner, NULL, &why, &told), REDEEM_BAD,
           "... without a proof");
    is_int(redeem_judge_refresh(&refresh, &owner, "l", &why, &told), REDEEM_BAD,
           "... with another key");
    refresh.jkt = NULL;
    refresh.dpop_jkt = "k";
    is_int(redeem_judge_refresh(&refresh, &owner, NULL, &why, &told), REDEEM_GOOD,
           "the key of the code does not bind a refresh token");
}

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < sizeof(verifiers) / sizeof(verifiers[0]); i++)
        test_verifier(verifiers[i].challenge, verifiers[i].verifier, verifiers[i].fits,
                      verifiers[i].name);
    test_code();
    test_approval();
    test_refresh();
    test_told();
    test_keys();
    return done();
}
