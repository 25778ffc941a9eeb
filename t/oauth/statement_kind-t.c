#include "config.h"

#include "oauth/registration/statement_kind.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/jws.h"
#include "env.h"
#include "tap.h"

#define US "https://as.example"
#define ISS "'iss':'https://pub.example'"
#define SOFT ISS ",'software_id':'crm'"
#define TYPED "software-statement+jwt"
#define HEADER "{\"alg\":\"RS256\"}"
#define LISTED "['us','" US "']"

/* `wanted`: NULL, or a part of the detail for the log. */
/* clang-format off */
static const struct { const char *typ, *claims, *audiences, *wanted, *name; } cases[] = {
    {NULL, SOFT, NULL, NULL, "a software_id, without typ"},
    {"JWT", SOFT, NULL, NULL, "a software_id with typ JWT"},
    {"application/jwt", SOFT, NULL, NULL, "... with application/, in another case (RFC 7515 4.1.9)"},
    {TYPED, ISS, NULL, NULL, "typ software-statement+jwt without software_id"},
    {"Application/Software-Statement+JWT", ISS, NULL, NULL, "... with application/, in another case"},
    {TYPED, SOFT, NULL, NULL, "typ and software_id"},
    {TYPED, ISS ",'software_id':5", NULL, NULL, "a software_id that is a number is a matter of the metadata, if the typ tells"},

    {"JWT", ISS ",'sub':'ann','aud':'app','exp':9,'iat':1", NULL, "neither software_id nor typ", "a minimal ID token"},
    {NULL, ISS ",'sub':'ann','aud':'app','exp':9,'iat':1", NULL, "neither software_id nor typ", "... without typ"},
    {"JWT", ISS ",'sub':'ann','aud':'" US "','exp':9,'iat':1", NULL, "neither software_id nor typ", "... for this service"},
    {"at+jwt", ISS ",'sub':'m2m','aud':'api','client_id':'m2m'", NULL, "typ", "an access token (RFC 9068)"},
    {"at+jwt", SOFT, NULL, "typ", "... that has a software_id"},
    {NULL, ISS ",'sub':'m2m','aud':'api','client_id':'m2m','scope':'a'", NULL, "neither software_id nor typ", "an access token without typ"},
    {NULL, ISS ",'client_id':'m2m','scope':'a'", NULL, "neither software_id nor typ", "... without sub and aud"},
    {NULL, ISS ",'sub':'ann','aud':'app'", LISTED, "neither software_id nor typ", "an ID token where audiences are listed"},
    {NULL, ISS ",'sub':'ann','aud':'us'", LISTED, "neither software_id nor typ", "... with a listed audience"},
    {"", SOFT, NULL, "typ", "an empty typ"},
    {"jw", SOFT, NULL, "typ", "a typ that is shorter than JWT"},
    {"JWTx", SOFT, NULL, "typ", "... or longer"},
    {"logout+jwt", SOFT, NULL, "typ", "a logout token"},
    {NULL, ISS ",'software_id':''", NULL, "neither software_id nor typ", "an empty software_id"},
    {NULL, ISS ",'software_id':5", NULL, "neither software_id nor typ", "a software_id that is no string"},
    {NULL, ISS ",'software_id':null", NULL, "neither software_id nor typ", "... that is null"},
    {NULL, ISS ",'software_id':['crm']", NULL, "neither software_id nor typ", "... that is a list"},
    {TYPED, SOFT ",'nonce':'x'", NULL, "the claim nonce", "nonce, whatever the typ says"},
    {TYPED, SOFT ",'sid':null", NULL, "the claim sid", "sid with any value"},
    {NULL, SOFT ",'aud':'us','cnf':{}", LISTED, "the claim cnf", "cnf, whatever the audiences are"},

    {NULL, SOFT ",'sub':'crm'", NULL, NULL, "sub is the software_id"},
    {NULL, SOFT ",'sub':'CRM'", NULL, "sub is not its software_id", "... in another case"},
    {NULL, SOFT ",'sub':'crm '", NULL, "sub is not its software_id", "... with a blank more"},
    {NULL, SOFT ",'sub':''", NULL, "sub is not its software_id", "an empty sub"},
    {NULL, SOFT ",'sub':'ann'", NULL, "sub is not its software_id", "sub is a user"},
    {NULL, SOFT ",'client_id':'m2m','sub':'m2m'", NULL, "sub is not its software_id", "sub is a client_id: an access token of a service (RFC 9068 2.2)"},
    {NULL, SOFT ",'sub':'https://pub.example'", NULL, "sub is not its software_id", "sub is the issuer"},
    {NULL, SOFT ",'sub':'ann','aud':'" US "'", NULL, "sub is not its software_id", "sub is a user, aud is ours"},
    {TYPED, SOFT ",'sub':'ann'", NULL, "sub is not its software_id", "sub is a user, the typ is right"},
    {TYPED, ISS ",'sub':'crm'", NULL, "sub is not its software_id", "sub without software_id: nothing says that it is the software"},
    {NULL, SOFT ",'sub':'ann','aud':'us'", LISTED, NULL, "sub is free where audiences are listed"},
    {NULL, SOFT ",'sub':'ann'", LISTED, "names none of the audiences", "... but an audience is needed"},

    {NULL, SOFT ",'aud':'" US "'", NULL, NULL, "aud is ours"},
    {NULL, SOFT ",'aud':['x','" US "']", NULL, NULL, "aud is ours and another: a statement for several services"},
    {NULL, SOFT ",'sub':'crm','aud':['" US "']", NULL, NULL, "sub is the software_id, aud is ours"},
    {NULL, SOFT ",'aud':'api'", NULL, "aud does not name this service", "aud is another"},
    {NULL, SOFT ",'aud':['x','y']", NULL, "aud does not name this service", "... two others"},
    {NULL, SOFT ",'aud':[]", NULL, "aud does not name this service", "an empty list names nobody"},
    {NULL, SOFT ",'aud':'" US "/'", NULL, "aud does not name this service", "our issuer with a slash more"},
    {NULL, SOFT ",'sub':'crm','aud':'api'", NULL, "aud does not name this service", "sub is the software_id, aud is another"},
    {TYPED, ISS ",'aud':'api'", NULL, "aud does not name this service", "aud is another, the typ is right"},
    {NULL, SOFT ",'aud':'us'", LISTED, NULL, "aud is listed"},
    {NULL, SOFT ",'aud':['x','us']", LISTED, NULL, "one of several is listed"},
    {TYPED, ISS ",'aud':'us'", LISTED, NULL, "aud is listed, the typ tells"},
    {NULL, SOFT ",'aud':'x'", LISTED, "names none of the audiences", "aud is not listed"},
    {NULL, SOFT, LISTED, "names none of the audiences", "no aud where some are listed"},
    {NULL, SOFT ",'aud':'" US "'", "['us']", "names none of the audiences", "ours counts only if it is listed, where some are"},
    {NULL, SOFT ",'aud':'us'", "[]", "names none of the audiences", "an empty list of audiences allows none"},
    {NULL, SOFT, "[]", "names none of the audiences", "... nor a statement without aud"},
};
/* clang-format on */

/* Read the claims as statement.c does. */
static bool
claims_of(TALLOC_CTX *mem, const char *text, struct jwt_claims *ret)
{
    struct jws *jws;
    const char *payload = jsonx_dump(mem, env_json(mem, text));
    const char *jwt =
        talloc_asprintf(mem, "%s.%s.AAAA", b64url_encode(mem, HEADER, sizeof(HEADER) - 1),
                        b64url_encode(mem, payload, strlen(payload)));
    return jws_parse_unverified(mem, jwt, strlen(jwt), &jws, NULL) == AZ_OK
           && jwt_claims_parse(mem, jws, ret, NULL) == AZ_OK;
}

int
main(void)
{
    plan(0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        struct jwt_claims claims;
        const char *detail = "", *text = "the claims cannot be read";
        const char *list = cases[i].audiences;
        if (claims_of(mem, talloc_asprintf(mem, "{%s}", cases[i].claims), &claims)) {
            const struct statement_kind kind = {cases[i].typ, &claims, US,
                                                list != NULL ? env_json(mem, list) : NULL};
            text = statement_kind_fault(mem, &kind, &detail);
        }
        if (cases[i].wanted == NULL)
            is_str(text, NULL, "a statement: %s", cases[i].name);
        else
            ok(text != NULL && detail != NULL && strstr(detail, cases[i].wanted) != NULL,
               "refused: %s (%s)", cases[i].name, text != NULL ? text : "taken");
        talloc_free(mem);
    }
    return done();
}
