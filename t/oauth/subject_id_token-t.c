#include "config.h"

#include "oauth/exchange/subject_id_token.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

#define GOOD_HEADER "{'alg':'RS256','typ':'JWT'}"
#define MINIMAL "'iss':'https://idp.example','sub':'ann'"
#define IN_TIME MINIMAL ",'exp':1795262400"
#define MALFORMED "Subject token is malformed"
#define NOT_ID "Subject token is not an ID token"
#define EARLY "Subject token is not valid yet"
#define EXPIRED "Subject token expired"
#define OTHER_AUD "Subject token audience is not accepted"
#define LISTED "us", "them"

static const char *const listed[] = {LISTED, NULL};
static const char *const nobody[] = {NULL};

/* `wanted`: the public text, or NULL for a good one. Texts of specification 7.1 are in full. */
/* clang-format off */
static const struct { const char *header, *claims; const char *const *audiences; const char *wanted, *name; } cases[] = {
    {GOOD_HEADER, IN_TIME, NULL, NULL, "iss, sub and exp are enough"},
    {"{'alg':'ES256'}", IN_TIME, NULL, NULL, "no typ"},
    {"{'alg':'EdDSA','typ':'application/jwt'}", IN_TIME, NULL, NULL, "typ with application/, in another case"},
    {GOOD_HEADER, IN_TIME ",'typ':'ID'", NULL, NULL, "the claim typ ID"},
    {GOOD_HEADER, IN_TIME ",'nbf':1795258860,'iat':1795258860", NULL, NULL, "nbf and iat a minute ahead"},
    {GOOD_HEADER, MINIMAL ",'exp':1795258801", NULL, NULL, "exp in a second"},

    {GOOD_HEADER, "'sub':'ann','exp':1795262400", NULL, "Subject token missing iss claim", "no iss"},
    {GOOD_HEADER, "'iss':'','sub':'ann'", NULL, "Subject token missing iss claim", "an empty iss"},
    {GOOD_HEADER, "'exp':1", NULL, "Subject token missing iss claim", "iss is the first"},
    {GOOD_HEADER, "'iss':'i','exp':1", NULL, "Subject token missing sub claim", "no sub, and expired"},
    {GOOD_HEADER, "'iss':'i','sub':''", NULL, "Subject token missing sub claim", "an empty sub"},
    {GOOD_HEADER, "'iss':5,'sub':'ann'", NULL, MALFORMED, "iss is a number"},
    {GOOD_HEADER, "'iss':'i','sub':null", NULL, MALFORMED, "sub is null"},
    {GOOD_HEADER, MINIMAL ",'exp':'1795262400'", NULL, MALFORMED, "exp is a text"},
    {GOOD_HEADER, MINIMAL ",'exp':1e300", NULL, MALFORMED, "exp is beyond all times"},

    {GOOD_HEADER, MINIMAL, NULL, "Subject token missing exp claim", "no exp"},
    {GOOD_HEADER, MINIMAL ",'exp':1795258800", NULL, EXPIRED, "exp is now"},
    {GOOD_HEADER, MINIMAL ",'exp':0", NULL, EXPIRED, "exp in 1970"},
    {"{'alg':'none','typ':'at+jwt'}", MINIMAL ",'exp':1,'nbf':1895258800", listed, EXPIRED, "exp is judged first"},
    {GOOD_HEADER, IN_TIME ",'nbf':1795258861", NULL, EARLY, "nbf is further ahead than a clock may be"},
    {GOOD_HEADER, IN_TIME ",'iat':1795258861", NULL, EARLY, "so is iat"},

    {GOOD_HEADER, IN_TIME ",'aud':'us'", listed, NULL, "a listed audience"},
    {GOOD_HEADER, IN_TIME ",'aud':['them']", listed, NULL, "... in a list"},
    {GOOD_HEADER, IN_TIME ",'aud':['x','us'],'azp':'us'", listed, NULL, "one of two, and azp"},
    {GOOD_HEADER, IN_TIME ",'aud':'us','azp':'x'", listed, NULL, "azp beside one audience"},
    {GOOD_HEADER, IN_TIME ",'aud':'x'", listed, OTHER_AUD, "another audience"},
    {GOOD_HEADER, IN_TIME ",'aud':'US'", listed, OTHER_AUD, "... in another case"},
    {GOOD_HEADER, IN_TIME, listed, OTHER_AUD, "none"},
    {GOOD_HEADER, IN_TIME ",'aud':[]", listed, OTHER_AUD, "an empty list"},
    {GOOD_HEADER, IN_TIME ",'aud':['x','us']", listed, OTHER_AUD, "one of two without azp"},
    {GOOD_HEADER, IN_TIME ",'aud':['x','us'],'azp':'x'", listed, OTHER_AUD, "one of two with the azp of the other"},
    {GOOD_HEADER, IN_TIME ",'aud':'us'", nobody, OTHER_AUD, "an empty list of audiences accepts none"},

    {"{'alg':'RS256','typ':'at+jwt'}", IN_TIME, NULL, NOT_ID, "an access token (RFC 9068)"},
    {"{'alg':'RS256','typ':'logout+jwt'}", IN_TIME, NULL, NOT_ID, "a logout token"},
    {"{'alg':'RS256','typ':''}", IN_TIME, NULL, NOT_ID, "an empty typ"},
    {GOOD_HEADER, IN_TIME ",'typ':'Bearer'", NULL, NOT_ID, "the claim typ of an access token"},
    {GOOD_HEADER, IN_TIME ",'typ':null", NULL, NOT_ID, "... of no kind"},
    {GOOD_HEADER, IN_TIME ",'events':{}", NULL, NOT_ID, "the claim events (RFC 8417)"},

    {"{'alg':'none'}", IN_TIME, NULL, SUBJECT_ID_TOKEN_SIGNATURE, "alg none"},
    {"{'alg':'HS256'}", IN_TIME, NULL, SUBJECT_ID_TOKEN_SIGNATURE, "alg HS256"},
    {"{'alg':'rs256'}", IN_TIME, NULL, SUBJECT_ID_TOKEN_SIGNATURE, "alg in another case"},
    {"{'alg':'RS256','crit':['exp']}", IN_TIME, NULL, MALFORMED, "crit"},
    {"{'typ':'JWT'}", IN_TIME, NULL, MALFORMED, "no alg"},
};
/* clang-format on */

static const char *
part(TALLOC_CTX *mem, const char *json)
{
    const char *text = jsonx_dump(mem, env_json(mem, json));
    return b64url_encode(mem, text, strlen(text));
}

/* Return the text of a refusal, or NULL. */
static const char *
refusal(TALLOC_CTX *mem, const char *jwt, const char *const *audiences)
{
    struct subject_id_token token;
    const char *text = "no text", *detail = NULL;
    enum az_status st = subject_id_token_read(mem, jwt, &token, &text, &detail);
    if (st == AZ_OK)
        st = subject_id_token_check(&token, audiences, ENV_NOW, &text, &detail);
    if (st == AZ_OK)
        return NULL;
    if (text != NULL && (detail == NULL || *detail == '\0'))
        return "a refusal without a detail";
    return text;
}

int
main(void)
{
    static const char *const forms[] = {"", ".", "..", "a.b.c", "e30.e30.AAAA", "e30.W10.AAAA"};
    TALLOC_CTX *mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *jwt = talloc_asprintf(mem, "%s.%s.AAAA", part(mem, cases[i].header),
                                          part(mem, talloc_asprintf(mem, "{%s}", cases[i].claims)));
        is_str(refusal(mem, jwt, cases[i].audiences), cases[i].wanted, "%s", cases[i].name);
    }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        is_str(refusal(mem, forms[i], NULL), MALFORMED, "no token: '%s'", forms[i]);
    for (int fault = JWT_FAULT_NONE; fault <= JWT_FAULT_OURS + 1; fault++)
        ok(subject_id_token_text((enum jwt_fault) fault) != NULL,
           "fault %d of the claims is refused with a text (specification 7.1)", fault);
    is_str(subject_id_token_text(JWT_FAULT_LIFETIME), SUBJECT_ID_TOKEN_UNACCEPTABLE,
           "... a fault without a text of its own too");
    talloc_free(mem);
    return done();
}
