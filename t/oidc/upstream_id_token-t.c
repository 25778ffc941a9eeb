#include "config.h"

#include "oidc/upstream/upstream_id_token.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/jwk_set.h"
#include "crypto/jws.h"
#include "crypto/keypair.h"
#include "env.h"
#include "keys.h"
#include "store/people/stored_claims.h"
#include "tap.h"
#include "token/authorization.h"
#include "token/person_claims.h"

#define NOW ENV_NOW

/* base64url of the left half of the SHA-256 and the SHA-384 of "access". */
#define AT_HASH_256 "oFYf1knNtrqnhAVfBRuteQ"
#define AT_HASH_384 "SeGOaEgS6QNKbB7vkLM3y8nujeY4Ple3"

static const struct upstream_expected usual = {
    .issuer = "https://idp.example",
    .client_id = "us",
    .nonce = "n-0S6_WzA2Mj",
    .access_token = "access",
    .max_age = AUTHORIZATION_NO_MAX_AGE,
    .now = NOW,
};
/* The user had to sign in within the last minute, or again since the request. */
static const struct upstream_expected recent = {
    .issuer = "https://idp.example",
    .client_id = "us",
    .nonce = "n-0S6_WzA2Mj",
    .max_age = 60,
    .now = NOW,
};
static const struct upstream_expected anew = {
    .issuer = "https://idp.example",
    .client_id = "us",
    .nonce = "n-0S6_WzA2Mj",
    .max_age = AUTHORIZATION_NO_MAX_AGE,
    .prompt_login = true,
    .asked_at = NOW - 300,
    .now = NOW,
};

/* Good claims; a row replaces members, and null removes one. */
static const char good[] = "{'iss':'https://idp.example','aud':'us','sub':'ann',"
                           "'nonce':'n-0S6_WzA2Mj','iat':1795258800,'exp':1795259100}";

/* clang-format off */
static const struct {
    const char *change;                       /* to the good claims */
    const struct upstream_expected *expected;
    const char *why;                          /* "": it is good */
    const char *name;
} rows[] = {
    {"{}", &usual, "", "a good token"},

    {"{'iss':null}", &usual, "token iss is not accepted", "no iss (OIDC Core 3.1.3.7, 2)"},
    {"{'iss':'https://evil.example'}", &usual, "token iss is not accepted", "another iss"},
    {"{'iss':'https://idp.example/'}", &usual, "token iss is not accepted", "iss with a slash more: byte for byte"},
    {"{'iss':'https://IDP.example'}", &usual, "token iss is not accepted", "iss in other letters"},
    {"{'iss':['https://idp.example']}", &usual, "a claim of the token is malformed", "iss that is an array"},

    {"{'sub':null}", &usual, "token has no sub", "no sub"},
    {"{'sub':''}", &usual, "token has no sub", "an empty sub"},
    {"{'sub':7}", &usual, "a claim of the token is malformed", "sub that is a number"},

    {"{'aud':['us']}", &usual, "", "aud as an array of one"},
    {"{'aud':null}", &usual, "token aud is not accepted", "no aud (OIDC Core 3.1.3.7, 3)"},
    {"{'aud':'x'}", &usual, "token aud is not accepted", "another aud"},
    {"{'aud':['x','y'],'azp':'us'}", &usual, "token aud is not accepted", "several aud without ours"},
    {"{'aud':['us','x']}", &usual, "token azp is not accepted", "several aud without azp (4)"},
    {"{'aud':['us','x'],'azp':'x'}", &usual, "token azp is not accepted", "several aud, azp another"},
    {"{'aud':['us','x'],'azp':'us'}", &usual, "", "several aud with azp ours"},
    {"{'azp':'us'}", &usual, "", "one aud with azp ours"},
    {"{'azp':'x'}", &usual, "token azp is not accepted", "one aud, azp another (5)"},

    {"{'nonce':null}", &usual, "the nonce of the ID token is not the one that was sent", "no nonce (11)"},
    {"{'nonce':'n-0S6_WzA2Mk'}", &usual, "the nonce of the ID token is not the one that was sent", "another nonce"},
    {"{'nonce':'n-0S6_WzA2M'}", &usual, "the nonce of the ID token is not the one that was sent", "the beginning of the nonce"},
    {"{'nonce':''}", &usual, "the nonce of the ID token is not the one that was sent", "an empty nonce"},
    {"{'nonce':['n-0S6_WzA2Mj']}", &usual, "the nonce of the ID token is not the one that was sent", "nonce in an array"},

    {"{'exp':null}", &usual, "token has no exp", "no exp (9)"},
    {"{'exp':1795258741}", &usual, "", "exp 59 s ago: within the clocks' difference"},
    {"{'exp':1795258740}", &usual, "token has expired", "exp 60 s ago"},
    {"{'exp':'1795259100'}", &usual, "a claim of the token is malformed", "exp that is a text"},
    {"{'iat':null}", &usual, "token has no iat", "no iat (10)"},
    {"{'iat':1795258860}", &usual, "", "iat 60 s ahead: within the clocks' difference"},
    {"{'iat':1795258861}", &usual, "token iat is in the future", "iat 61 s ahead"},
    {"{'iat':1795258140}", &usual, "", "iat 660 s ago: kept as long as allowed"},
    {"{'iat':1795258139}", &usual, "token iat is too old", "iat 661 s ago: a kept token"},
    {"{'nbf':1795258861}", &usual, "token nbf is in the future", "nbf ahead"},

    {"{'at_hash':'" AT_HASH_256 "'}", &usual, "", "at_hash of the access token (OIDC Core 3.1.3.8)"},
    {"{'at_hash':'" AT_HASH_384 "'}", &usual, "the at_hash of the ID token does not match the access token", "at_hash by another digest"},
    {"{'at_hash':'AAAAAAAAAAAAAAAAAAAAAA'}", &usual, "the at_hash of the ID token does not match the access token", "at_hash of another access token"},
    {"{'at_hash':7}", &usual, "the at_hash of the ID token does not match the access token", "at_hash that is a number"},
    {"{'at_hash':7}", &anew, "the at_hash of the ID token does not match the access token", "... also where no access token came along"},

    {"{}", &recent, "the ID token has no auth_time although max_age was sent", "max_age without auth_time (OIDC Core 2)"},
    {"{'auth_time':1795258800}", &recent, "", "max_age with auth_time now"},
    {"{'auth_time':1795258680}", &recent, "", "auth_time 60 s older than now less the clocks' difference"},
    {"{'auth_time':1795258679}", &recent, "the auth_time of the ID token is older than max_age", "auth_time one second older"},
    {"{'auth_time':1795258861}", &recent, "the auth_time of the ID token is in the future", "auth_time ahead"},
    {"{'auth_time':'now'}", &usual, "the auth_time of the ID token is malformed", "auth_time that is a text"},
    {"{'auth_time':-1}", &usual, "the auth_time of the ID token is malformed", "auth_time before 1970"},
    {"{'auth_time':1}", &usual, "", "an old auth_time where none was asked for"},
    {"{'auth_time':1795258440}", &anew, "", "prompt=login: auth_time at the request, less the clocks' difference"},
    {"{'auth_time':1795258439}", &anew, "the auth_time of the ID token is older than the request, which asked for a new sign-in", "prompt=login: auth_time before the request"},
    {"{}", &anew, "the ID token has no auth_time although max_age was sent", "prompt=login from a provider that never says auth_time: nothing proves a new sign-in"},
};
/* clang-format on */

static struct jwk *rsa, *other, *ec;

/* Return the good claims with replaced members; null removes one. */
static json_t *
changed(TALLOC_CTX *mem, const char *change)
{
    json_t *claims = env_json(mem, good), *with = env_json(mem, change), *value;
    const char *name;
    json_object_foreach (with, name, value) {
        if (json_is_null(value))
            json_object_del(claims, name);
        else
            json_object_set(claims, name, value);
    }
    return claims;
}

static const char *
sign(TALLOC_CTX *mem, const struct jwk *key, const char *alg, const char *typ, const char *change)
{
    char *text = NULL;
    if (jws_sign_json(mem, key, alg, typ, changed(mem, change), &text) != AZ_OK)
        ok(false, "a token of the test can be signed");
    return text;
}

static const char *
check(TALLOC_CTX *mem, const char *text, const struct upstream_expected *expected, bool *ret_stale)
{
    const struct jwk *keys[] = {rsa, ec};
    struct upstream_claims claims = {.sub = "untouched"};
    const char *why = "";
    enum az_status st = upstream_id_token_check(mem, text, keys_of(mem, keys, 2), expected, &claims,
                                                &why, ret_stale);
    if (st == AZ_OK)
        return strcmp(claims.sub, "ann") == 0 && *why == '\0' ? "" : "another sub";
    return strcmp(claims.sub, "untouched") == 0 ? why : "output touched";
}

static void
test_claims(TALLOC_CTX *mem)
{
    bool stale;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *why =
            check(mem, sign(mem, rsa, "RS256", "JWT", rows[i].change), rows[i].expected, &stale);
        is_str(why, rows[i].why, "ID token: %s", rows[i].name);
        if (stale)
            ok(false, "... and no new keys are asked for when a claim is wrong");
    }
}

static void
test_signature(TALLOC_CTX *mem)
{
    bool stale;
    is_str(check(mem, sign(mem, rsa, "PS256", "JWT", "{}"), &usual, &stale), "", "PS256 is taken");
    is_str(
        check(mem, sign(mem, ec, "ES384", "JWT", "{'at_hash':'" AT_HASH_384 "'}"), &usual, &stale),
        "", "ES384 is taken, and its at_hash is by SHA-384");
    is_str(
        check(mem, sign(mem, ec, "ES384", "JWT", "{'at_hash':'" AT_HASH_256 "'}"), &usual, &stale),
        "the at_hash of the ID token does not match the access token", "... and not by SHA-256");
    is_str(check(mem, sign(mem, rsa, "RS256", NULL, "{}"), &usual, &stale), "",
           "a token without typ is taken");
    static const char *const typs[] = {"at+jwt", "logout+jwt", "JOSE", "secevent+jwt"};
    for (size_t i = 0; i < sizeof(typs) / sizeof(typs[0]); i++)
        is_str(check(mem, sign(mem, rsa, "RS256", typs[i], "{}"), &usual, &stale),
               "token typ is not accepted", "typ %s is refused: the token has another purpose",
               typs[i]);
    char *text = talloc_strdup(mem, sign(mem, rsa, "RS256", "JWT", "{}"));
    char *last = strrchr(text, '.') + 5;
    *last = *last == 'A' ? 'B' : 'A';
    is_str(check(mem, text, &usual, &stale), "token signature is wrong",
           "a changed signature is refused");
    ok(!stale, "... and is no reason to fetch keys anew: the kid is known");
}

/* Make a token with this header, and no signature or any. */
static const char *
forged(TALLOC_CTX *mem, const char *header, const char *signature)
{
    json_t *parts[] = {env_json(mem, header), changed(mem, "{}")};
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; i < 2; i++) {
        const char *json = jsonx_dump(mem, parts[i]);
        text = talloc_asprintf_append(text, "%s%s", i > 0 ? "." : "",
                                      b64url_encode(mem, json, strlen(json)));
    }
    return talloc_asprintf(mem, "%s.%s", text, signature);
}

/* RFC 8725 section 2.1: alg none, and a public key used as the secret of an HMAC. */
static void
test_algorithms(TALLOC_CTX *mem)
{
    bool stale;
    static const char *const none[] = {"none", "None", "NONE"};
    for (size_t i = 0; i < 3; i++) {
        const char *header = talloc_asprintf(mem, "{'alg':'%s'}", none[i]);
        is_str(check(mem, forged(mem, header, ""), &usual, &stale), "token is not a compact JWS",
               "alg %s without a signature is refused", none[i]);
        is_str(check(mem, forged(mem, header, "AAAA"), &usual, &stale), "token alg is not accepted",
               "... and with one");
        ok(!stale, "... and fetches nothing");
    }
    static const char *const hmacs[] = {"HS256", "HS384", "HS512", "RSA1_5", "dir", "ES256K"};
    for (size_t i = 0; i < sizeof(hmacs) / sizeof(hmacs[0]); i++) {
        const char *header = talloc_asprintf(mem, "{'alg':'%s','kid':'%s'}", hmacs[i], rsa->kid);
        is_str(check(mem, forged(mem, header, "AAAA"), &usual, &stale), "token alg is not accepted",
               "alg %s is refused", hmacs[i]);
        ok(!stale, "... and fetches nothing");
    }
    is_str(check(mem, forged(mem, "{'alg':'RS256','crit':['b64'],'b64':false}", "AAAA"), &usual,
                 &stale),
           "token header has crit, b64 or zip", "crit is refused");
    static const char *const texts[] = {"", ".", "..", "a.b", "a.b.c", "a.b.c.d", "not a token"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        ok(*check(mem, texts[i], &usual, &stale) != '\0', "no token at all is refused: '%s'",
           texts[i]);
    char *long_text = talloc_zero_array(mem, char, JWS_OCTETS_MAX + 2);
    memset(long_text, 'a', JWS_OCTETS_MAX + 1);
    is_str(check(mem, long_text, &usual, &stale), "token is too long",
           "a token of one octet too many is refused");
}

static void
test_keys(TALLOC_CTX *mem)
{
    bool stale;
    is_str(check(mem, sign(mem, other, "RS256", "JWT", "{}"), &usual, &stale),
           "no key matches the token", "an unknown kid is refused");
    ok(stale, "... and newer keys may have it");
    struct jwk nameless = *other;
    nameless.kid = NULL;
    is_str(check(mem, sign(mem, &nameless, "RS256", "JWT", "{}"), &usual, &stale),
           "token signature is wrong", "no kid and a signature by another key is refused");
    ok(stale, "... and newer keys may verify it");
    nameless = *rsa;
    nameless.kid = NULL;
    is_str(check(mem, sign(mem, &nameless, "RS256", "JWT", "{}"), &usual, &stale), "",
           "no kid and a signature by a published key is taken");
    struct jwk liar = *other;
    liar.kid = rsa->kid;
    is_str(check(mem, sign(mem, &liar, "RS256", "JWT", "{}"), &usual, &stale),
           "token signature is wrong", "a known kid and a signature by another key is refused");
    ok(!stale, "... and fetches nothing");
}

static void
read_claims(TALLOC_CTX *mem, const char *change, struct upstream_claims *claims)
{
    const struct jwk *keys[] = {rsa};
    const char *why = "";
    bool stale;
    is_int(upstream_id_token_check(mem, sign(mem, rsa, "RS256", "JWT", change),
                                   keys_of(mem, keys, 1), &usual, claims, &why, &stale),
           AZ_OK, "read %s", change);
}

static void
test_beside(TALLOC_CTX *mem)
{
    struct upstream_claims claims;
    read_claims(mem, "{'acr':'gold','amr':['pwd','otp'],'sid':'s1','auth_time':1795258000.9}",
                &claims);
    is_str(claims.acr, "gold", "acr is read");
    ok(claims.amr != NULL && strcmp(claims.amr[0], "pwd") == 0 && strcmp(claims.amr[1], "otp") == 0
           && claims.amr[2] == NULL,
       "amr is read");
    is_str(claims.sid, "s1", "sid is read");
    ok(claims.has_auth_time && claims.auth_time == 1795258000, "auth_time is read, fractions cut");
    read_claims(mem, "{}", &claims);
    ok(claims.acr == NULL && claims.amr == NULL && claims.sid == NULL && !claims.has_auth_time,
       "what is not said is not made up");
    read_claims(mem, "{'acr':7,'amr':[7,{}],'sid':{'a':1}}", &claims);
    ok(claims.acr == NULL && claims.amr == NULL && claims.sid == NULL,
       "acr, amr and sid of other types count as not said");
    read_claims(mem, "{'amr':'pwd'}", &claims);
    ok(claims.amr != NULL && strcmp(claims.amr[0], "pwd") == 0 && claims.amr[1] == NULL,
       "amr as one text is one method");
    char *text = talloc_zero_array(mem, char, UPSTREAM_TEXT_MAX + 2);
    memset(text, 'x', UPSTREAM_TEXT_MAX);
    read_claims(mem, talloc_asprintf(mem, "{'acr':'%s'}", text), &claims);
    is_str(claims.acr, text, "acr of the longest length is read");
    text[UPSTREAM_TEXT_MAX] = 'x';
    read_claims(mem, talloc_asprintf(mem, "{'acr':'%s','sid':'%s'}", text, text), &claims);
    ok(claims.acr == NULL && claims.sid == NULL, "... and one longer is not");
    char *many = talloc_strdup(mem, "{'amr':['a'");
    for (int i = 1; i < UPSTREAM_AMR_MAX; i++)
        many = talloc_asprintf_append(many, ",'a'");
    read_claims(mem, talloc_asprintf(mem, "%s]}", many), &claims);
    ok(claims.amr != NULL && claims.amr[UPSTREAM_AMR_MAX - 1] != NULL, "16 methods are read");
    read_claims(mem, talloc_asprintf(mem, "%s,'a']}", many), &claims);
    ok(claims.amr == NULL, "... and 17 are not");
}

static void
is_kept(TALLOC_CTX *mem, const char *id_token, const char *userinfo, const char *wanted,
        const char *name)
{
    static const char *const lists[] = {"groups", "roles", NULL};
    const struct person_answers answers = {
        .id_token = env_json(mem, id_token),
        .userinfo = userinfo != NULL ? env_json(mem, userinfo) : NULL,
        .lists = lists,
    };
    is_str(jsonx_dump_sorted(mem, person_claims_keep(mem, &answers, NULL)),
           jsonx_dump_sorted(mem, env_json(mem, wanted)), "%s", name);
}

/* An address and its proof come from one answer (world.md U3; OpenID Connect Core 5.1, 5.7). */
static void
test_pairs(TALLOC_CTX *mem)
{
    is_kept(mem, "{'email':'lead@corp'}", "{'email':'ann@other','email_verified':true}",
            "{'email':'ann@other','email_verified':true}",
            "U3: the first answer that has both, not the address of one with the proof of another");
    is_kept(mem, "{'email':'a@x','email_verified':false}", "{'email':'b@x','email_verified':true}",
            "{'email':'a@x','email_verified':false}", "... the ID token before userinfo");
    is_kept(mem, "{'email':'a@x'}", "{'email':'b@x'}", "{'email':'a@x'}",
            "... and without any proof the first address");
    is_kept(mem, "{'email':'a@x'}", "{'email_verified':true}", "{'email':'a@x'}",
            "U3: a proof without its address proves no other");
    is_kept(mem, "{'email_verified':true}", "{'email':'b@x'}", "{'email':'b@x'}",
            "... nor the other way round");
    is_kept(mem, "{'email':'a@x','email_verified':'perhaps'}",
            "{'email':'b@x','email_verified':'TRUE'}", "{'email':'b@x','email_verified':true}",
            "U3, U4: what is no boolean is no proof");
    is_kept(mem, "{'phone_number':'1'}", "{'phone_number':'2','phone_number_verified':true}",
            "{'phone_number':'2','phone_number_verified':true}", "U3: telephone numbers alike");
    is_kept(mem, "{'email':['a@x'],'email_verified':true}", NULL, "{}",
            "an address that is no text is none");
    const struct person_answers differ = {.id_token = env_json(mem, "{'email':'a@x'}"),
                                          .userinfo = env_json(mem, "{'email':'b@x'}")};
    const struct person_answers same = {.id_token = differ.id_token, .userinfo = differ.id_token};
    const char *differing;
    ok(person_claims_keep(mem, &differ, &differing) != NULL && differing != NULL
           && strcmp(differing, "email") == 0,
       "U3: two different addresses are told");
    ok(person_claims_keep(mem, &same, &differing) != NULL && differing == NULL,
       "... and equal ones not");
}

/* Types (world.md U4). */
static void
test_types(TALLOC_CTX *mem)
{
    is_kept(mem,
            "{'email':'a@x','email_verified':'true','x_verified':'False','y_verified':'yes',"
            "'z_verified':1,'verified':'true'}",
            NULL,
            "{'email':'a@x','email_verified':true,'x_verified':false,'y_verified':'yes',"
            "'z_verified':1,'verified':'true'}",
            "U4: the texts true and false of *_verified become booleans, anything else stays");
    is_kept(mem, "{'email':'a@x','email_verified':'yes'}", NULL, "{'email':'a@x'}",
            "... but a proof of an e-mail address is dropped");
    is_kept(mem, "{'phone_number':'1','phone_number_verified':1}", NULL, "{'phone_number':'1'}",
            "... and one of a telephone number");
    is_kept(mem, "{'groups':'c-42','role':'a'}", "{'roles':'b'}",
            "{'groups':['c-42'],'roles':['b'],'role':'a'}",
            "U4: one group as a text is a list of one, where listClaims names the claim");
    is_kept(mem, "{'groups':['a'],'roles':{'b':1}}", NULL, "{'groups':['a'],'roles':{'b':1}}",
            "... and what is no text stays");
    const struct person_answers old = {.id_token = env_json(mem, "{'groups':'c-42'}")};
    is_str(jsonx_dump(mem, person_claims_keep(mem, &old, NULL)), "{\"groups\":\"c-42\"}",
           "U4: without listClaims the text stays (old_row_keeps_text)");
    is_str(jsonx_dump(mem, old.id_token), "{\"groups\":\"c-42\"}",
           "... and the answers of the provider are not changed");
}

static void
test_keep(TALLOC_CTX *mem)
{
    is_kept(mem,
            "{'iss':'i','aud':'a','exp':1,'iat':1,'nbf':1,'nonce':'n','at_hash':'h','c_hash':'c',"
            "'s_hash':'s','azp':'a','sid':'s','jti':'j','auth_time':1,'acr':'x','amr':['y'],"
            "'sub':'ann','name':'Ann','groups':['a'],'x':{'y':1},'null':null}",
            NULL, "{'name':'Ann','groups':['a'],'x':{'y':1}}",
            "claims of the protocol, sub and null are not kept");
    is_kept(mem, "{'name':'Ann'}", "{'name':'Eve','sub':'eve','email':'e@x','acr':'gold'}",
            "{'name':'Ann','email':'e@x'}",
            "userinfo adds what the ID token has not, and never a claim of the protocol");
    /* {"name":"Ann","x":"..."} of exactly the maximum, then one octet more. */
    char *text = talloc_zero_array(mem, char, PERSON_CLAIMS_MAX);
    size_t room = PERSON_CLAIMS_MAX - strlen("{\"name\":\"Ann\"}") - strlen("{\"x\":\"\"}");
    memset(text, 'x', room);
    const char *exact = talloc_asprintf(mem, "{'x':'%s','name':'Ann'}", text);
    is_kept(mem, exact, NULL, exact, "claims of the maximum are kept");
    is_kept(mem, talloc_asprintf(mem, "{'x':'x%s','y':1,'name':'Ann'}", text), NULL,
            "{'name':'Ann','y':1,'urn:svc:claims_incomplete':['x']}",
            "... and of one octet more what does not fit is left out, and named (U5)");
    is_kept(mem, talloc_asprintf(mem, "{'x':'%s'}", text), "{'groups':['a','b']}",
            "{'groups':['a','b'],'urn:svc:claims_incomplete':['x']}",
            "groups are taken before other claims, also from userinfo");
    const struct person_answers many = {
        .id_token = env_json(mem, talloc_asprintf(mem, "{'groups':['%s%s']}", text, text))};
    json_t *huge = person_claims_keep(mem, &many, NULL);
    is_str(jsonx_dump(mem, huge), "{\"urn:svc:claims_incomplete\":[\"groups\"]}",
           "groups that are too many are not cut in the middle, but named as incomplete (U5)");
}

/* Incomplete claims (world.md U5). */
static void
test_incomplete(TALLOC_CTX *mem)
{
    const char *far = "'_claim_names':{'groups':'s','dept':'s'},"
                      "'_claim_sources':{'s':{'endpoint':'https://graph.example/v1',"
                      "'access_token':'t'}}";
    is_kept(
        mem, talloc_asprintf(mem, "{'name':'Ann',%s}", far), NULL,
        "{'name':'Ann','urn:svc:claims_incomplete':['dept','groups']}",
        "U5: claims that are elsewhere are incomplete, and their sources with tokens are not kept");
    is_kept(mem, talloc_asprintf(mem, "{%s}", far), "{'groups':['a']}",
            "{'groups':['a'],'urn:svc:claims_incomplete':['dept']}",
            "... unless the other answer has the claim plainly (overage_met_by_userinfo)");
    is_kept(mem, "{'groups':['a']}", "{'_claim_names':{'groups':'s'}}", "{'groups':['a']}",
            "... in either order");
    is_kept(mem, talloc_asprintf(mem, "{'groups':['a'],%s}", far), NULL,
            "{'groups':['a'],'urn:svc:claims_incomplete':['dept','groups']}",
            "... but not the same answer");
    is_kept(mem, talloc_asprintf(mem, "{%s}", far),
            "{'groups':['a'],'_claim_names':{'groups':'s'}}",
            "{'groups':['a'],'urn:svc:claims_incomplete':['dept','groups']}",
            "... nor one that has it elsewhere too");
    is_kept(mem, "{'hasgroups':true}", NULL,
            "{'hasgroups':true,'urn:svc:claims_incomplete':['groups']}", "U5: hasgroups");
    is_kept(mem, "{'hasgroups':true}", "{'groups':[]}", "{'hasgroups':true,'groups':[]}",
            "... is met by the other answer, by an empty list too");
    is_kept(mem, "{'hasgroups':false}", NULL, "{'hasgroups':false}",
            "... and counts if it is true");
    is_kept(mem, "{'urn:svc:claims_incomplete':['x'],'name':'Ann'}", NULL, "{'name':'Ann'}",
            "no provider writes the mark itself");
    const struct person_answers lost = {.id_token = env_json(mem, "{'name':'Ann'}"), .lost = true};
    is_str(jsonx_dump_sorted(mem, person_claims_keep(mem, &lost, NULL)),
           "{\"name\":\"Ann\",\"urn:svc:claims_incomplete\":[\"*\"]}",
           "U2: userinfo that is lost leaves any claim incomplete");
    char *names = talloc_strdup(mem, "");
    for (int i = 0; i < PERSON_INCOMPLETE_MAX + 1; i++)
        names = talloc_asprintf_append(names, "%s'c%d':'s'", i > 0 ? "," : "", i);
    const struct person_answers many = {
        .id_token = env_json(mem, talloc_asprintf(mem, "{'_claim_names':{%s}}", names))};
    const json_t *list = json_object_get(person_claims_keep(mem, &many, NULL), CLAIMS_INCOMPLETE);
    is_int((long long) json_array_size(list), PERSON_INCOMPLETE_MAX + 1,
           "at most 64 names are listed, and");
    is_str(json_string_value(json_array_get(list, 0)), "*", "... a further one is any claim");
    char *longest = talloc_zero_array(mem, char, PERSON_INCOMPLETE_NAME_MAX + 1);
    memset(longest, 'n', PERSON_INCOMPLETE_NAME_MAX);
    is_kept(mem, talloc_asprintf(mem, "{'_claim_names':{'%s':'s'}}", longest), NULL,
            talloc_asprintf(mem, "{'urn:svc:claims_incomplete':['%s']}", longest),
            "a name of 128 octets is listed");
    is_kept(mem, talloc_asprintf(mem, "{'_claim_names':{'%sn':'s'}}", longest), NULL,
            "{'urn:svc:claims_incomplete':['*']}", "... and one of 129 is any claim");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    if (keypair_generate_rsa(mem, 2048, &rsa) != AZ_OK
        || keypair_generate_rsa(mem, 2048, &other) != AZ_OK
        || keys_generate_ec(mem, "P-384", &ec) != AZ_OK)
        return 2;
    rsa->alg = other->alg = NULL;
    test_claims(mem);
    test_signature(mem);
    test_algorithms(mem);
    test_keys(mem);
    test_beside(mem);
    test_keep(mem);
    test_pairs(mem);
    test_types(mem);
    test_incomplete(mem);
    talloc_free(mem);
    return done();
}
