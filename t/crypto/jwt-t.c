#include "config.h"

#include "crypto/jwt.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "tap.h"

#define NOW 1800000000

/* ISS, AUD and times of good claims; tests put others in their place. */
static const char *const audiences[] = {"https://as.example", "https://as.example/token", NULL};

static const struct jwt_rule strict = {
    .iss = "client",
    .audiences = audiences,
    .need_sub = true,
    .need_jti = true,
    .need_exp = true,
    .need_iat = true,
    .now = NOW,
    .skew_past = 10,
    .skew_future = 60,
    .lifetime_max = 3600,
    .age_max = 600,
};

static const struct jwt_rule lax = {.now = NOW};

static const struct jwt_rule oidc = {.audiences = audiences, .several_aud = true, .now = NOW};

/* Members of good claims under the strict rule, for one to be replaced. */
#define ISS "\"iss\":\"client\""
#define SUB "\"sub\":\"client\""
#define AUD "\"aud\":\"https://as.example\""
#define JTI "\"jti\":\"1\""
#define EXP "\"exp\":1800000060"
#define IAT "\"iat\":1800000000"
#define ALL(iss, sub, aud, jti, exp, iat) "{" iss "," sub "," aud "," jti "," exp "," iat "}"
#define WITH_ISS(iss) ALL(iss, SUB, AUD, JTI, EXP, IAT)
#define WITH_SUB(sub) ALL(ISS, sub, AUD, JTI, EXP, IAT)
#define WITH_AUD(aud) ALL(ISS, SUB, aud, JTI, EXP, IAT)
#define WITH_JTI(jti) ALL(ISS, SUB, AUD, jti, EXP, IAT)
#define WITH_EXP(exp) ALL(ISS, SUB, AUD, JTI, exp, IAT)
#define WITH_IAT(iat) ALL(ISS, SUB, AUD, JTI, EXP, iat)
#define NONE "\"x\":1"

/* clang-format off */
static const struct {
    const char *claims;
    const struct jwt_rule *rule;
    enum jwt_fault fault;
    const char *name;
} rows[] = {
    {ALL(ISS, SUB, AUD, JTI, EXP, IAT), &strict, JWT_FAULT_NONE, "all there"},
    {"{}", &lax, JWT_FAULT_NONE, "nothing where nothing is asked for"},
    {"[]", &lax, JWT_FAULT_JSON, "an array"},
    {"\"x\"", &lax, JWT_FAULT_JSON, "a string"},
    {"", &lax, JWT_FAULT_JSON, "nothing at all"},
    {"{\"iss\":\"a\",\"iss\":\"client\"}", &lax, JWT_FAULT_JSON, "iss twice (RFC 7519 4)"},
    {"{\"sub\":\"a\\u0000b\"}", &lax, JWT_FAULT_JSON, "a NUL in sub"},

    {WITH_ISS(NONE), &strict, JWT_FAULT_ISS, "no iss"},
    {WITH_ISS("\"iss\":\"other\""), &strict, JWT_FAULT_ISS, "another iss"},
    {WITH_ISS("\"iss\":\"client2\""), &strict, JWT_FAULT_ISS, "a longer iss"},
    {WITH_ISS("\"iss\":\"clien\""), &strict, JWT_FAULT_ISS, "a shorter iss"},
    {WITH_ISS("\"iss\":\"Client\""), &strict, JWT_FAULT_ISS, "iss in other letters"},
    {WITH_ISS("\"iss\":[\"client\"]"), &strict, JWT_FAULT_TYPE, "iss that is an array"},
    {WITH_ISS("\"iss\":null"), &strict, JWT_FAULT_TYPE, "iss that is null"},
    {WITH_SUB(NONE), &strict, JWT_FAULT_SUB, "no sub"},
    {WITH_SUB("\"sub\":\"\""), &strict, JWT_FAULT_SUB, "an empty sub"},
    {WITH_SUB("\"sub\":1"), &strict, JWT_FAULT_TYPE, "sub that is a number"},

    {WITH_AUD("\"aud\":\"https://as.example/token\""), &strict, JWT_FAULT_NONE,
     "the second of our names"},
    {WITH_AUD("\"aud\":[\"https://as.example\"]"), &strict, JWT_FAULT_NONE,
     "aud as array of one (RFC 7519 4.1.3)"},
    {WITH_AUD(NONE), &strict, JWT_FAULT_AUD, "no aud"},
    {WITH_AUD("\"aud\":[]"), &strict, JWT_FAULT_AUD, "an empty aud"},
    {WITH_AUD("\"aud\":\"\""), &strict, JWT_FAULT_AUD, "aud that is an empty text"},
    {WITH_AUD("\"aud\":\"https://as.example/\""), &strict, JWT_FAULT_AUD, "aud with a slash more"},
    {WITH_AUD("\"aud\":\"https://other.example\""), &strict, JWT_FAULT_AUD, "another aud"},
    {WITH_AUD("\"aud\":[\"https://as.example\",\"https://other.example\"]"), &strict, JWT_FAULT_AUD,
     "a further aud (RFC 7523 3)"},
    {WITH_AUD("\"aud\":[\"https://as.example\",\"https://as.example/token\"]"), &strict,
     JWT_FAULT_AUD, "two of our names"},
    {WITH_AUD("\"aud\":{\"a\":1}"), &strict, JWT_FAULT_TYPE, "aud that is an object"},
    {WITH_AUD("\"aud\":[1]"), &strict, JWT_FAULT_TYPE, "aud of numbers"},
    {WITH_AUD("\"aud\":[[\"https://as.example\"]]"), &strict, JWT_FAULT_TYPE,
     "aud in an array more"},
    {"{\"aud\":[\"https://as.example\",\"b\"],\"azp\":\"https://as.example\"}", &oidc,
     JWT_FAULT_NONE, "several aud and azp is us (OIDC Core 3.1.3.7)"},
    {"{\"aud\":[\"https://as.example\",\"b\"],\"azp\":\"b\"}", &oidc, JWT_FAULT_AZP,
     "several aud and another azp"},
    {"{\"aud\":[\"https://as.example\",\"b\"]}", &oidc, JWT_FAULT_AZP, "several aud and no azp"},
    {"{\"aud\":[\"a\",\"b\"],\"azp\":\"https://as.example\"}", &oidc, JWT_FAULT_AUD,
     "several aud without us"},

    {WITH_EXP(NONE), &strict, JWT_FAULT_EXP, "no exp"},
    {WITH_EXP("\"exp\":1799999991"), &strict, JWT_FAULT_NONE, "exp passed by 9 s of 10"},
    {WITH_EXP("\"exp\":1799999990"), &strict, JWT_FAULT_EXPIRED,
     "exp passed by 10 s of 10 (RFC 7519 4.1.4)"},
    {WITH_EXP("\"exp\":1799999990.9"), &strict, JWT_FAULT_EXPIRED, "exp with a fraction, cut off"},
    {WITH_EXP("\"exp\":0"), &strict, JWT_FAULT_EXPIRED, "exp 1970"},
    {"{\"exp\":1800000001}", &lax, JWT_FAULT_NONE, "exp ahead by 1 s, no skew"},
    {"{\"exp\":1800000000}", &lax, JWT_FAULT_EXPIRED, "exp now, no skew"},
    {"{\"exp\":253402300799}", &lax, JWT_FAULT_NONE,
     "exp at the end of 9999 where no limit is set"},
    {WITH_EXP("\"exp\":1800003600"), &strict, JWT_FAULT_NONE, "exp an hour ahead"},
    {WITH_EXP("\"exp\":1800003601"), &strict, JWT_FAULT_LIFETIME, "exp an hour and a second ahead"},
    {WITH_EXP("\"exp\":253402300800"), &strict, JWT_FAULT_TYPE, "exp in the year 10000"},
    {WITH_EXP("\"exp\":9223372036854775807"), &strict, JWT_FAULT_TYPE,
     "the largest integer as exp"},
    {WITH_EXP("\"exp\":1e300"), &strict, JWT_FAULT_TYPE, "an exp no integer can hold"},
    {WITH_EXP("\"exp\":-1"), &strict, JWT_FAULT_TYPE, "a negative exp"},
    {WITH_EXP("\"exp\":-0.5"), &strict, JWT_FAULT_TYPE, "an exp just below zero"},
    {WITH_EXP("\"exp\":\"1800000060\""), &strict, JWT_FAULT_TYPE, "exp that is a text"},
    {WITH_EXP("\"exp\":null"), &strict, JWT_FAULT_TYPE, "exp that is null"},
    {WITH_EXP("\"exp\":true"), &strict, JWT_FAULT_TYPE, "exp that is true"},

    {"{\"nbf\":1800000000}", &lax, JWT_FAULT_NONE, "nbf now, no skew"},
    {"{\"nbf\":1800000001}", &lax, JWT_FAULT_NOT_YET, "nbf in a second, no skew (RFC 7519 4.1.5)"},
    {WITH_JTI(JTI ",\"nbf\":1800000060"), &strict, JWT_FAULT_NONE, "nbf in 60 s of 60"},
    {WITH_JTI(JTI ",\"nbf\":1800000061"), &strict, JWT_FAULT_NOT_YET, "nbf in 61 s of 60"},
    {WITH_JTI(JTI ",\"nbf\":\"0\""), &strict, JWT_FAULT_TYPE, "nbf that is a text"},
    {WITH_IAT(NONE), &strict, JWT_FAULT_IAT, "no iat"},
    {WITH_IAT("\"iat\":1800000060"), &strict, JWT_FAULT_NONE, "iat in 60 s of 60"},
    {WITH_IAT("\"iat\":1800000061"), &strict, JWT_FAULT_FUTURE, "iat in 61 s of 60"},
    {WITH_IAT("\"iat\":1799999400"), &strict, JWT_FAULT_NONE, "iat 600 s ago of 600"},
    {WITH_IAT("\"iat\":1799999399"), &strict, JWT_FAULT_OLD, "iat 601 s ago of 600"},
    {"{\"iat\":0}", &lax, JWT_FAULT_NONE, "iat 1970 where no limit is set"},
    {WITH_JTI(NONE), &strict, JWT_FAULT_JTI, "no jti"},
    {WITH_JTI("\"jti\":\"\""), &strict, JWT_FAULT_JTI, "an empty jti"},
    {WITH_JTI("\"jti\":7"), &strict, JWT_FAULT_TYPE, "jti that is a number"},
};
/* clang-format on */

static enum jwt_fault
fault_of(TALLOC_CTX *mem, const char *text, const struct jwt_rule *rule)
{
    struct jws jws = {.payload = (const unsigned char *) text, .payload_len = strlen(text)};
    struct jwt_claims claims;
    enum jwt_fault fault = JWT_FAULT_NONE;

    if (jwt_claims_parse(mem, &jws, &claims, &fault) == AZ_OK)
        jwt_claims_check(&claims, rule, &fault);
    return fault;
}

static void
test_rows(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum jwt_fault fault = fault_of(mem, rows[i].claims, rows[i].rule);
        ok(fault == rows[i].fault, "%s: %s (%s)",
           rows[i].fault == JWT_FAULT_NONE ? "accepts" : "refuses", rows[i].name,
           jwt_fault_text(fault));
    }
}

static char *
with_audiences(TALLOC_CTX *mem, unsigned count)
{
    char *text =
        talloc_strdup(mem, "{\"azp\":\"https://as.example\",\"aud\":[\"https://as.example\"");
    for (unsigned i = 1; i < count; i++)
        text = talloc_strdup_append_buffer(text, ",\"a\"");
    return talloc_strdup_append_buffer(text, "]}");
}

static char *
with_sub(TALLOC_CTX *mem, size_t len)
{
    char *sub = talloc_zero_size(mem, len + 1);
    memset(sub, 's', len);
    return talloc_asprintf(mem, "{\"sub\":\"%s\"}", sub);
}

static void
test_limits(TALLOC_CTX *mem)
{
    is_int(fault_of(mem, with_audiences(mem, JWT_AUDIENCES_MAX), &oidc), JWT_FAULT_NONE,
           "the largest number of audiences");
    is_int(fault_of(mem, with_audiences(mem, JWT_AUDIENCES_MAX + 1), &oidc), JWT_FAULT_TYPE,
           "one audience more");
    is_int(fault_of(mem, with_sub(mem, JWT_NAME_MAX), &lax), JWT_FAULT_NONE, "the longest sub");
    is_int(fault_of(mem, with_sub(mem, JWT_NAME_MAX + 1), &lax), JWT_FAULT_TYPE,
           "a sub of one octet more");
    is_int(fault_of(mem, "{\"a\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}", &lax), JWT_FAULT_NONE,
           "claims nested 16 deep");
    is_int(fault_of(mem, "{\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", &lax), JWT_FAULT_JSON,
           "claims nested 17 deep");
}

static void
test_claims(TALLOC_CTX *mem)
{
    static const char text[] =
        "{\"iss\":\"i\",\"sub\":\"s\",\"azp\":\"z\",\"jti\":\"j\",\"aud\":[\"a\",\"b\"],"
        "\"exp\":3,\"nbf\":1,\"iat\":2.9,\"extra\":true}";
    struct jws jws = {.payload = (const unsigned char *) text, .payload_len = strlen(text)};
    struct jwt_claims claims;

    is_int(jwt_claims_parse(mem, &jws, &claims, NULL), AZ_OK, "claims parse");
    is_str(claims.iss, "i", "iss");
    is_str(claims.sub, "s", "sub");
    is_str(claims.azp, "z", "azp");
    is_str(claims.jti, "j", "jti");
    is_int((int64_t) claims.aud_count, 2, "two aud");
    is_str(claims.aud[1], "b", "the second aud");
    ok(claims.exp.present && claims.exp.seconds == 3, "exp");
    ok(claims.nbf.present && claims.nbf.seconds == 1, "nbf");
    ok(claims.iat.present && claims.iat.seconds == 2, "iat, cut to seconds");
    ok(json_is_true(json_object_get(claims.object, "extra")), "other claims are at hand");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_rows(mem);
    test_limits(mem);
    test_claims(mem);
    talloc_free(mem);
    return done();
}
