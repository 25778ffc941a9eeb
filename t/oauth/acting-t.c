#include "config.h"

#include "oauth/exchange/acting.h"

#include "base/json/jsonx.h"
#include "crypto/jwt.h"
#include "env.h"
#include "tap.h"

#define ISS "https://idp.example"
#define US "https://authz.example"

/* `issuer`: of the subject token; `wanted`: the claim, or NULL for the fault. */
/* clang-format off */
static const struct { const char *previous, *issuer, *wanted; enum acting_fault fault; const char *name; } cases[] = {
    {NULL, NULL, "{'sub':'gate'}", ACTING_GOOD, "nobody acted before"},
    {"{'sub':'web'}", NULL, "{'act':{'sub':'web'},'sub':'gate'}", ACTING_GOOD, "the previous actor is nested (RFC 8693 4.1)"},
    {"{'sub':'a','act':{'sub':'b'}}", NULL, "{'act':{'act':{'sub':'b'},'sub':'a'},'sub':'gate'}", ACTING_GOOD, "... and the one before it"},
    {"{'sub':'gate'}", NULL, "{'act':{'sub':'gate'},'sub':'gate'}", ACTING_GOOD, "a client that acts twice is there twice"},
    {"{'sub':'web','iss':'x','email':'e','client_id':'c'}", NULL, "{'act':{'iss':'x','sub':'web'},'sub':'gate'}", ACTING_GOOD, "other members of an actor are dropped"},
    {"{'sub':'web'}", ISS, "{'act':{'iss':'" ISS "','sub':'web'},'sub':'gate'}", ACTING_GOOD, "an actor of another issuer is no client of ours"},
    {"{'sub':'web','iss':'x','act':{'sub':'b'}}", ISS, "{'act':{'act':{'iss':'" ISS "','sub':'b'},'iss':'x','sub':'web'},'sub':'gate'}", ACTING_GOOD, "... unless it says whose it is"},
    {"{'sub':'web','iss':'" US "'}", NULL, "{'act':{'iss':'" US "','sub':'web'},'sub':'gate'}", ACTING_GOOD, "our issuer in a token of ours"},
    {"{'sub':'web','iss':'" US "'}", ISS, NULL, ACTING_FORGED, "another issuer may not name an actor of ours (decisions.md \"Token exchange\")"},
    {"{'sub':'b','act':{'sub':'web','iss':'" US "'}}", ISS, NULL, ACTING_FORGED, "... nor further down the chain"},
    {"{}", NULL, NULL, ACTING_MALFORMED, "no sub"},
    {"{'sub':''}", NULL, NULL, ACTING_MALFORMED, "an empty sub"},
    {"{'sub':5}", NULL, NULL, ACTING_MALFORMED, "a sub that is a number"},
    {"{'sub':'a','iss':5}", NULL, NULL, ACTING_MALFORMED, "an iss that is a number"},
    {"{'sub':'a','iss':''}", NULL, NULL, ACTING_MALFORMED, "an empty iss"},
    {"{'sub':'a','act':null}", NULL, NULL, ACTING_MALFORMED, "an act that is null"},
    {"{'sub':'a','act':'b'}", NULL, NULL, ACTING_MALFORMED, "an act that is a text"},
    {"['a']", NULL, NULL, ACTING_MALFORMED, "a list"},
};
/* clang-format on */

static const char *
made(TALLOC_CTX *mem, const json_t *previous, const char *issuer, enum acting_fault *ret_fault)
{
    json_t *act = NULL;
    *ret_fault = acting_make(mem, "gate", previous, issuer, US, &act);
    return act != NULL ? jsonx_dump_sorted(mem, act) : NULL;
}

/* Return a chain of so many actors. */
static json_t *
chain_of(TALLOC_CTX *mem, int actors)
{
    json_t *chain = NULL;
    for (int i = 0; i < actors; i++)
        chain = json_pack("{s:s,s:o*}", "sub", "a", "act", chain);
    return jsonx_own(mem, chain);
}

static json_t *
named(TALLOC_CTX *mem, size_t length)
{
    char *name = talloc_zero_array(mem, char, (unsigned) length + 1);
    for (size_t i = 0; i < length; i++)
        name[i] = 'x';
    return jsonx_own(mem, json_pack("{s:s}", "sub", name));
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    enum acting_fault fault;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *wanted = cases[i].wanted;
        const json_t *previous =
            cases[i].previous != NULL ? env_json(mem, cases[i].previous) : NULL;
        const char *text = made(mem, previous, cases[i].issuer, &fault);
        is_str(text, wanted != NULL ? jsonx_dump_sorted(mem, env_json(mem, wanted)) : NULL, "%s",
               cases[i].name);
        is_int(fault, cases[i].fault, "... %s", wanted != NULL ? "is good" : "is refused");
    }
    ok(made(mem, chain_of(mem, ACTING_DEPTH_MAX - 1), NULL, &fault) != NULL,
       "a chain of eight actors with the new one");
    made(mem, chain_of(mem, ACTING_DEPTH_MAX), NULL, &fault);
    is_int(fault, ACTING_DEEP, "... and no ninth");
    ok(made(mem, named(mem, JWT_NAME_MAX), NULL, &fault) != NULL, "the longest name of an actor");
    made(mem, named(mem, JWT_NAME_MAX + 1), NULL, &fault);
    is_int(fault, ACTING_MALFORMED, "... and one longer");
    talloc_free(mem);
    return done();
}
