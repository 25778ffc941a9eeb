#include "config.h"

#include "policy/decide/decision.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "store/db/db.h"
#include "tap.h"

/* The bounds of a question, written as one JSON object; absent members are NULL. */
static struct decision_bounds
make_bounds(TALLOC_CTX *mem, const char *text)
{
    json_t *json = env_json(mem, text);
    return (struct decision_bounds){
        .scopes = json_object_get(json, "scopes"),
        .ceiling = json_object_get(json, "ceiling"),
        .resource = json_string_value(json_object_get(json, "resource")),
        .resource_types = json_object_get(json, "types"),
        .details = json_object_get(json, "details"),
        .types_by_resource = json_is_true(json_object_get(json, "by_resource")),
    };
}

/* Return what the operator is told about a refused answer, without the words that begin every
 * refusal; NULL if it was accepted. */
static const char *
read_answer(TALLOC_CTX *mem, const char *bounds_text, const char *answer, struct decision *ret)
{
    static const char head[] = "policy answer refused: ";
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    struct decision_bounds bounds = make_bounds(mem, bounds_text);
    json_t *result = answer != NULL ? env_json(mem, answer) : NULL;
    struct decision decision = {.revision = "r1"};
    az->db = db_new(az, "host=/nonexistent");
    enum az_status st = decision_read(&op, result, &bounds, &decision);
    if (st == AZ_OK) {
        if (ret != NULL)
            *ret = decision;
        return NULL;
    }
    if (st != AZ_UNAVAILABLE || decision.output != NULL || decision.allow)
        return "another status, or an answer beside the refusal";
    const char *detail = talloc_strdup(mem, op.fault.detail);
    return strncmp(detail, head, strlen(head)) == 0 ? detail + strlen(head) : detail;
}

#define ASKED                                                                                      \
    "{'scopes':['a','b'],'resource':'https://r.example','types':['urn:t:1','urn:t:2'],"            \
    "'details':[{'type':'pay','amount':50,'actions':['read','write']},{'type':'log'}]}"
#define JWT_OF                                                                                     \
    "{'resource':'https://r.example'}", "{'allow':true,'resource':'https://r.example','jwt':{"
#define JWT_NOT "jwt is not the form of a token"
#define FULL "'resource':'https://r.example','resource_types':['urn:t:1']"

/* clang-format off */
static const struct { const char *bounds, *answer, *refused, *name; } answers[] = {
    /* what an answer must look like */
    {"{}", NULL, "result is undefined", "an undefined result (policy.md 6.2)"},
    {"{}", "[]", "result is not an object", "an array"},
    {"{}", "true", "result is not an object", "a boolean: only `allow` inside counts"},
    {"{}", "'allow'", "result is not an object", "a text"},
    {"{}", "null", "result is not an object", "null"},
    {"{}", "{}", "allow is not a boolean", "no `allow`"},
    {"{}", "{'allow':null}", "allow is not a boolean", "`allow` null"},
    {"{}", "{'allow':1}", "allow is not a boolean", "`allow` 1"},
    {"{}", "{'allow':'true'}", "allow is not a boolean", "`allow` as text"},
    {"{}", "{'allow':[true]}", "allow is not a boolean", "`allow` in an array"},
    {"{}", "{'Allow':true}", "allow is not a boolean", "`Allow` is another name"},
    {"{}", "{'allow':true}", NULL, "`allow` alone"},
    {"{}", "{'allow':false}", NULL, "a deny"},
    {"{}", "{'allow':true,'unknown':{'x':1}}", NULL, "unknown members are ignored"},
    {"{}", "{'allow':true,'scopes':null,'resource':null,'resource_types':null,'authorization_details':null,"
           "'expires_in_override':null,'jit_single_use':null,'obligations':null,'deny_reasons':null,"
           "'matched_segments':null,'extensions':null,'claims':null}", NULL, "null is absent"},

    /* types: a wrong one is no answer, in a deny as in an allow */
    {"{}", "{'allow':false,'scopes':'a'}", "scopes has a wrong type", "scopes as text"},
    {"{}", "{'allow':false,'scopes':{}}", "scopes has a wrong type", "scopes as object"},
    {"{}", "{'allow':true,'scopes':[1]}", "scopes has a wrong type", "a scope that is a number"},
    {"{'scopes':['a']}", "{'allow':true,'scopes':['a',null]}", "scopes has a wrong type", "a scope that is null"},
    {"{}", "{'allow':true,'resource':1}", "resource is not a string", "resource as number"},
    {"{}", "{'allow':true,'resource':['https://r.example']}", "resource is not a string", "resource as array"},
    {"{}", "{'allow':true,'resource_types':'urn:t:1'}", "resource_types has a wrong type", "resource_types as text"},
    {"{}", "{'allow':true,'resource_types':[{}]}", "resource_types has a wrong type", "a resource type that is an object"},
    {"{}", "{'allow':true,'authorization_details':{}}", "authorization_details has a wrong type", "details as object"},
    {"{}", "{'allow':true,'expires_in_override':'60'}", "expires_in_override is not an integer", "a lifetime as text"},
    {"{}", "{'allow':true,'expires_in_override':60.0}", "expires_in_override is not an integer", "a lifetime with a fraction"},
    {"{}", "{'allow':true,'expires_in_override':true}", "expires_in_override is not an integer", "a lifetime that is true"},
    {"{}", "{'allow':true,'jit_single_use':1}", "jit_single_use is not a boolean", "single use as number"},
    {"{}", "{'allow':true,'jit_single_use':'false'}", "jit_single_use is not a boolean", "single use as text"},
    {"{}", "{'allow':true,'refresh':'true'}", "refresh is not a boolean", "a refresh token as text"},
    {"{}", "{'allow':true,'refresh':1}", "refresh is not a boolean", "a refresh token as number"},
    {"{}", "{'allow':true,'refresh':null}", NULL, "a refresh token that is null"},
    {"{}", "{'allow':true,'obligations':[]}", "obligations has a wrong type", "obligations as array"},
    {"{}", "{'allow':true,'extensions':'x'}", "extensions has a wrong type", "extensions as text"},
    {"{}", "{'allow':true,'opaque':'x'}", "opaque has a wrong type", "why a token is opaque as text"},
    {"{}", "{'allow':true,'opaque':[1]}", "opaque has a wrong type", "... as a list of numbers"},
    {JWT_OF "'alg':'ES256','ttl':10,'claims':['acr']}}", NULL, "a JWT of 10 s, the shortest (world.md T1)"},
    {JWT_OF "'alg':'RS256','ttl':600,'claims':[]}}", NULL, "a JWT of 600 s, the longest"},
    {JWT_OF "'alg':'ES256','ttl':9,'claims':[]}}", JWT_NOT, "a JWT of 9 s"},
    {JWT_OF "'alg':'ES256','ttl':601,'claims':[]}}", JWT_NOT, "ttl_601: a JWT of 601 s"},
    {JWT_OF "'alg':'ES256','ttl':'60','claims':[]}}", JWT_NOT, "a JWT whose life is a text"},
    {JWT_OF "'alg':'none','ttl':60,'claims':[]}}", JWT_NOT, "a JWT by alg none"},
    {JWT_OF "'alg':'HS256','ttl':60,'claims':[]}}", JWT_NOT, "a JWT by another algorithm"},
    {JWT_OF "'ttl':60,'claims':[]}}", JWT_NOT, "a JWT without an algorithm"},
    {JWT_OF "'alg':'ES256','ttl':60}}", JWT_NOT, "a JWT without the list of claims"},
    {"{}", "{'allow':true,'jwt':{'alg':'ES256','ttl':60,'claims':[]}}", JWT_NOT, "a JWT for no resource"},
    {"{}", "{'allow':true,'jwt':true}", JWT_NOT, "a JWT that is no object"},
    {"{}", "{'allow':true,'matched_segments':{}}", "matched_segments has a wrong type", "segments as object"},
    {"{}", "{'allow':true,'matched_segments':[1]}", "matched_segments has a wrong type", "a segment that is a number"},
    {"{}", "{'allow':true,'claims':[]}", "claims is not an object", "claims as array"},
    {"{}", "{'allow':false,'claims':'x'}", "claims is not an object", "... in a deny too"},
    {"{}", "{'allow':false,'deny_reasons':{}}", "deny_reasons has a wrong type", "reasons as object"},
    {"{}", "{'allow':false,'deny_reasons':['no']}", "deny_reasons contains an entry without code", "a reason as text"},
    {"{}", "{'allow':false,'deny_reasons':[null]}", "deny_reasons contains an entry without code", "a reason that is null"},
    {"{}", "{'allow':false,'deny_reasons':[{'category':'scope'}]}", "deny_reasons contains an entry without code", "a reason without code"},
    {"{}", "{'allow':false,'deny_reasons':[{'code':'x'},{'code':7}]}", "deny_reasons contains an entry without code", "a code that is a number"},

    /* scopes: within the request and within the ceiling */
    {"{'scopes':['a','b']}", "{'allow':true,'scopes':['a','b']}", NULL, "all requested scopes"},
    {"{'scopes':['a','b']}", "{'allow':true,'scopes':['b']}", NULL, "fewer scopes"},
    {"{'scopes':['a','b']}", "{'allow':true,'scopes':['b','a','b','b']}", NULL, "a scope several times"},
    {"{'scopes':['a','b']}", "{'allow':true,'scopes':[]}", NULL, "no scope"},
    {"{'scopes':['a','b']}", "{'allow':true}", NULL, "scopes left out are none"},
    {"{'scopes':['a','b']}", "{'allow':true,'scopes':['a','c']}", "scopes widens the request", "one scope more"},
    {"{'scopes':['a']}", "{'allow':true,'scopes':['A']}", "scopes widens the request", "scopes differ in case"},
    {"{'scopes':['a']}", "{'allow':true,'scopes':['a b']}", "scopes widens the request", "two scopes in one word"},
    {"{'scopes':['a']}", "{'allow':true,'scopes':['']}", "scopes widens the request", "an empty scope"},
    {"{'scopes':[]}", "{'allow':true,'scopes':['a']}", "scopes widens the request", "a scope where none was requested"},
    {"{}", "{'allow':true,'scopes':['a']}", "scopes widens the request", "no bound at all holds nothing"},
    {"{'scopes':['a','b'],'ceiling':['a']}", "{'allow':true,'scopes':['a']}", NULL, "a scope within request and ceiling"},
    {"{'scopes':['a','b'],'ceiling':['a']}", "{'allow':true,'scopes':['a','b']}", "scopes widens the ceiling", "a requested scope above the ceiling"},
    {"{'scopes':['a'],'ceiling':['a','b']}", "{'allow':true,'scopes':['b']}", "scopes widens the request", "a scope of the ceiling that was not requested"},
    {"{'scopes':['a'],'ceiling':[]}", "{'allow':true,'scopes':['a']}", "scopes widens the ceiling", "an empty ceiling holds nothing"},
    {"{'scopes':[]}", "{'allow':false,'scopes':['a']}", NULL, "a deny grants nothing, whatever it lists"},

    /* the resource: exactly the one, never none instead of one */
    {ASKED, "{'allow':true," FULL "}", NULL, "the requested resource"},
    {ASKED, "{'allow':true,'resource_types':['urn:t:1']}", "resource is missing, which would give a token for every resource", "the resource left out"},
    {ASKED, "{'allow':true,'resource':null,'resource_types':['urn:t:1']}", "resource is missing, which would give a token for every resource", "... or null"},
    {ASKED, "{'allow':true,'resource':'https://s.example','resource_types':['urn:t:1']}", "resource is not the requested one", "another resource"},
    {ASKED, "{'allow':true,'resource':'https://r.example/','resource_types':['urn:t:1']}", "resource is not the requested one", "the resource with one slash more"},
    {ASKED, "{'allow':true,'resource':'','resource_types':['urn:t:1']}", "resource is not the requested one", "an empty resource"},
    {"{}", "{'allow':true,'resource':'https://r.example'}", "resource is not the requested one", "a resource where none was requested"},

    /* types: the named ones; those the registry ties to the resource only where that is allowed */
    {ASKED, "{'allow':true,'resource':'https://r.example','resource_types':['urn:t:2','urn:t:1']}", NULL, "all named types"},
    {ASKED, "{'allow':true,'resource':'https://r.example','resource_types':['urn:t:3']}", "resource_types widens the request", "a type that was not named"},
    {ASKED, "{'allow':true,'resource':'https://r.example'}", "resource_types is missing, which would give a token for every type", "the types left out"},
    {ASKED, "{'allow':true,'resource':'https://r.example','resource_types':[]}", "resource_types is missing, which would give a token for every type", "... or empty"},
    {"{}", "{'allow':true,'resource_types':['urn:t:1']}", "resource_types widens the request", "a type where none was named"},
    {"{'by_resource':true}", "{'allow':true,'resource_types':['urn:t:1']}", "resource_types widens the request", "... nor a resource that could tie it"},
    {"{'resource':'https://r.example','types':[]}", "{'allow':true,'resource':'https://r.example','resource_types':['urn:t:1']}", "resource_types widens the request", "a type of the resource, at introspection: the baseline holds all there are"},

    /* RFC 9396 6.2: details */
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':['read','write']},{'type':'log'}]}", NULL, "all requested entries"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'log'}]}", NULL, "fewer entries"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':['write']}]}", NULL, "fewer items of a list in an entry"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':[]}]}", "authorization_details widens the request", "an emptied list: it may mean all"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50}]}", "authorization_details widens the request", "a restriction left out"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':51,'actions':['read']}]}", "authorization_details widens the request", "another amount"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':'50','actions':['read']}]}", "authorization_details widens the request", "the amount as text"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':[50],'actions':['read']}]}", "authorization_details widens the request", "a list in place of a value"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':'read'}]}", "authorization_details widens the request", "a value in place of a list"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':['read','delete']}]}", "authorization_details widens the request", "one more action"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'pay','amount':50,'actions':['read'],'more':1}]}", "authorization_details widens the request", "one more member"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'log','amount':50}]}", "authorization_details widens the request", "a member of another entry"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'other'}]}", "authorization_details widens the request", "another type"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':['pay']}", "authorization_details widens the request", "an entry that is no object"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{}]}", "authorization_details widens the request", "an empty entry"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'log'},{'type':'log'},{'type':'log'}]}", "authorization_details widens the request", "more entries than were asked"},
    {ASKED, "{'allow':true," FULL ",'authorization_details':[{'type':'log'},{'type':'log'}]}", "authorization_details widens the request", "one asked entry answered twice"},
    {"{'details':[{'type':'a','actions':['x','y']},{'type':'a','actions':['x']}]}", "{'allow':true,'authorization_details':[{'type':'a','actions':['x']},{'type':'a','actions':['y']}]}", NULL, "entries that must change places to be covered"},
    {"{'details':[{'type':'a','actions':['x','y']},{'type':'a','actions':['x']}]}", "{'allow':true,'authorization_details':[{'type':'a','actions':['y']},{'type':'a','actions':['y']}]}", "authorization_details widens the request", "... and cannot both be"},
    {"{}", "{'allow':true,'authorization_details':[{'type':'log'}]}", "authorization_details widens the request", "an entry where none was asked"},
    {"{'details':[{'type':'a','list':[]}]}", "{'allow':true,'authorization_details':[{'type':'a','list':[]}]}", NULL, "an empty list stays empty"},
    {"{'details':[{'type':'a','list':[]}]}", "{'allow':true,'authorization_details':[{'type':'a','list':['x']}]}", "authorization_details widens the request", "... and is not filled"},
};
/* clang-format on */

static void
test_answers(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
        is_str(read_answer(mem, answers[i].bounds, answers[i].answer, NULL), answers[i].refused,
               "%s: %s", answers[i].refused != NULL ? "refused" : "accepted", answers[i].name);
    const char *why =
        read_answer(mem, "{'resource':'https://r.example','by_resource':true}",
                    "{'allow':true,'resource':'https://r.example','resource_types':['x']}", NULL);
    ok(why != NULL && strncmp(why, "database", 8) == 0,
       "a type that only the registry could tie is refused while the registry cannot be read");
    why = read_answer(mem, "{'resource':'https://r.example','types':['x'],'by_resource':true}",
                      "{'allow':true,'resource':'https://r.example','resource_types':['x']}", NULL);
    is_str(why, NULL, "... a named one needs no registry");
}

static void
test_values(TALLOC_CTX *mem)
{
    struct decision read = {.allow = false};
    const char *answer =
        "{'allow':true," FULL ",'scopes':['a'],'authorization_details':[{'type':'log'}],"
        "'jit_single_use':true,'refresh':true,'expires_in_override':60,'obligations':{'o':[]},"
        "'matched_segments':['binding:clients/x'],'extensions':{'risk':'low'}}";
    is_str(read_answer(mem, ASKED, answer, &read), NULL, "an answer with everything");
    ok(read.allow && read.jit && read.refresh && read.has_ttl, "... its switches are read");
    is_int(read.ttl, 60, "... its lifetime");
    is_str(read.resource, "https://r.example", "... its resource");
    is_str(jsonx_dump(mem, read.scopes), "[\"a\"]", "... its scopes");
    is_str(jsonx_dump(mem, read.resource_types), "[\"urn:t:1\"]", "... its types");
    is_str(jsonx_dump(mem, read.details), "[{\"type\":\"log\"}]", "... its details");
    is_str(jsonx_dump(mem, read.segments), "[\"binding:clients/x\"]", "... its segments");
    is_str(jsonx_dump(mem, read.obligations), "{\"o\":[]}", "... its obligations");
    is_str(jsonx_dump(mem, read.extensions), "{\"risk\":\"low\"}", "... its extensions");
    is_str(read.revision, "r1", "... and the revision that decided stays");
    read_answer(mem, "{'scopes':['a','b']}", "{'allow':true,'scopes':['b','a','b','b']}", &read);
    is_str(jsonx_dump(mem, read.scopes), "[\"b\",\"a\"]", "a scope named twice is granted once");
    is_str(jsonx_dump(mem, json_object_get(read.output, "scopes")), "[\"b\",\"a\"]",
           "... and stored once");
    is_str(read_answer(mem, "{}", "{'allow':false}", &read), NULL, "a bare deny");
    ok(!read.allow && !read.jit && !read.refresh && !read.has_ttl && read.resource == NULL,
       "... holds no other member");
    ok(json_is_array(read.scopes) && json_array_size(read.scopes) == 0, "... no scopes, not NULL");
    ok(json_is_array(read.reasons) && json_array_size(read.reasons) == 0, "... nor reasons");
}

/* clang-format off */
static const struct { const char *text; int64_t wanted; const char *name; } lifetimes[] = {
    {"1", 1, "the least that is a lifetime"},
    {"0", 0, "0 is handed on: it is a deny (decisions.md \"Lifetimes\")"},
    {"-1", -1, "... and so is a negative one"},
    {"-9223372036854775808", INT64_MIN, "the most negative"},
    {"86400", DECISION_TTL_MAX, "the longest (decisions.md \"Lifetimes\")"},
    {"86401", DECISION_TTL_MAX, "one more is cut"},
    {"9223372036854775807", DECISION_TTL_MAX, "the largest integer is cut"},
};
/* clang-format on */

static void
test_lifetimes(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(lifetimes) / sizeof(lifetimes[0]); i++) {
        struct decision read = {.ttl = 77};
        const char *answer =
            talloc_asprintf(mem, "{'allow':true,'expires_in_override':%s}", lifetimes[i].text);
        is_str(read_answer(mem, "{}", answer, &read), NULL, "lifetime %s: %s", lifetimes[i].text,
               lifetimes[i].name);
        ok(read.has_ttl && read.ttl == lifetimes[i].wanted, "... is %lld",
           (long long) lifetimes[i].wanted);
    }
}

/* Claims that a policy may not set: the server sets them, and resource servers trust them. */
static void
test_claims(TALLOC_CTX *mem)
{
    static const char *const reserved[] = {
        "iss",   "iat",       "jti", "sub", "aud",     "exp",    "nbf",
        "scope", "client_id", "cnf", "act", "may_act", "active", "authorization_details"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        struct decision read = {.output = NULL};
        const char *answer =
            talloc_asprintf(mem, "{'allow':true,'claims':{'%s':'x','mine':1}}", reserved[i]);
        read_answer(mem, "{}", answer, &read);
        is_str(jsonx_dump(mem, json_object_get(read.output, "claims")), "{\"mine\":1}",
               "the claim %s is dropped before the answer is stored (policy.md 6.2)", reserved[i]);
    }
    struct decision read = {.output = NULL};
    read_answer(mem, "{}", "{'allow':true,'claims':{'Sub':'x'}}", &read);
    is_str(jsonx_dump(mem, json_object_get(read.output, "claims")), "{\"Sub\":\"x\"}",
           "claims are told apart by case (RFC 7519 4)");
}

/* DECISION_SCOPE_SHOWN octets. */
#define A64 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* clang-format off */
static const struct { const char *reasons; enum az_status status; const char *text, *name; } denies[] = {
    {"[]", AZ_ACCESS_DENIED, NULL, "no reason"},
    {"[{'code':'c','category':'client','message':'m'}]", AZ_UNAUTHORIZED_CLIENT, "m", "client"},
    {"[{'code':'c','category':'registration'}]", AZ_ACCESS_DENIED, NULL, "registration"},
    {"[{'code':'c','category':'trust'}]", AZ_INVALID_GRANT, NULL, "trust"},
    {"[{'code':'c','category':'grant'}]", AZ_UNAUTHORIZED_CLIENT, NULL, "grant"},
    {"[{'code':'c','category':'token'}]", AZ_INVALID_GRANT, NULL, "token"},
    {"[{'code':'c','category':'subject'}]", AZ_INVALID_GRANT, NULL, "subject"},
    {"[{'code':'c','category':'resource'}]", AZ_INVALID_TARGET, NULL, "resource"},
    {"[{'code':'c','category':'details'}]", AZ_INVALID_AUTHORIZATION_DETAILS, NULL, "details"},
    {"[{'code':'c','category':'scope'}]", AZ_INVALID_SCOPE, NULL, "scope"},
    {"[{'code':'c','category':'delegation'}]", AZ_ACCESS_DENIED, NULL, "delegation"},
    {"[{'code':'c','category':'environment'}]", AZ_ACCESS_DENIED, NULL, "environment"},
    {"[{'code':'c','category':'policy'}]", AZ_ACCESS_DENIED, NULL, "policy"},
    {"[{'code':'c','category':'system'}]", AZ_ACCESS_DENIED, NULL, "system"},
    {"[{'code':'c','category':'nothing known'}]", AZ_ACCESS_DENIED, NULL, "an unknown category"},
    {"[{'code':'c','category':7}]", AZ_ACCESS_DENIED, NULL, "a category that is no text"},
    {"[{'code':'c'}]", AZ_ACCESS_DENIED, NULL, "no category"},
    {"[{'code':'c','category':'scope','message':7}]", AZ_INVALID_SCOPE, NULL, "a message that is no text is none"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':'a'}}]", AZ_INVALID_SCOPE, "m: 'a'", "a scope that was asked for is named"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':'" A64 "'}}]", AZ_INVALID_SCOPE, "m: '" A64 "'", "... with 64 octets"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':'" A64 "b'}}]", AZ_INVALID_SCOPE, "m: '" A64 "'", "... and cut after them"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':'z'}}]", AZ_INVALID_SCOPE, "m", "a scope that was not asked for is not named"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':['a']}}]", AZ_INVALID_SCOPE, "m", "... nor one that is no text"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':0}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m: authorization_details[0] of type 'pay'", "an entry of the details is named"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':0,'type':'z','member':'actions','value':'x'}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m: authorization_details[0] of type 'pay', actions 'x'", "... and its value, the type as sent"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':1}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m: authorization_details[1] of type '" A64 "'", "... a long type is cut"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':0,'member':'actions','value':'y'}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m: authorization_details[0] of type 'pay'", "a value that was not sent is not named"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':0,'member':'type','value':'pay'}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m: authorization_details[0] of type 'pay'", "... nor one of a member that is no list"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':2}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m", "an entry that was not sent is not named"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':-1}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m", "... nor one below the first"},
    {"[{'code':'c','category':'details','message':'m','detail':{'entry':'0'}}]", AZ_INVALID_AUTHORIZATION_DETAILS, "m", "... nor one whose number is a text"},
    {"[{'code':'c','category':'details','detail':{'entry':0}}]", AZ_INVALID_AUTHORIZATION_DETAILS, NULL, "... nor one without a message"},
    {"[{'code':'c','category':'scope','detail':{'scope':'a'}}]", AZ_INVALID_SCOPE, NULL, "... nor without a message"},
    {"[{'code':'c','category':'scope','message':'m','detail':{'scope':'a'}},{'code':'d','category':'scope','message':'n','detail':{'scope':'b'}}]", AZ_INVALID_SCOPE, "m: 'a'", "of two the first one is named"},
    {"[{'code':'c','category':'scope','message':'s'},{'code':'c','category':'client','message':'c'}]", AZ_UNAUTHORIZED_CLIENT, "c", "client speaks before scope"},
    {"[{'code':'c','category':'policy','message':'p'},{'code':'c','category':'resource','message':'r'},{'code':'c','category':'scope','message':'s'}]", AZ_INVALID_TARGET, "r", "resource speaks before scope and policy"},
    {"[{'code':'c','category':'unknown','message':'u'},{'code':'c','category':'system','message':'s'}]", AZ_ACCESS_DENIED, "s", "an unknown category speaks last"},
    {"[{'code':'c','category':'scope','control':'z','message':'z'},{'code':'d','category':'scope','control':'y','message':'y'}]", AZ_INVALID_SCOPE, "y", "within a category by control"},
    {"[{'code':'d','category':'scope','control':'y','message':'d'},{'code':'c','category':'scope','control':'y','message':'c'}]", AZ_INVALID_SCOPE, "c", "... then by code"},
};
/* clang-format on */

static void
test_denies(TALLOC_CTX *mem)
{
    const json_t *asked = env_json(mem, "['a','b','" A64 "','" A64 "b']");
    const json_t *details = env_json(mem, "[{'type':'pay','actions':['x']},{'type':'" A64 "b'}]");
    for (size_t i = 0; i < sizeof(denies) / sizeof(denies[0]); i++) {
        struct decision read = {.allow = true};
        const char *text = "untouched";
        read_answer(mem, "{}",
                    talloc_asprintf(mem, "{'allow':false,'deny_reasons':%s}", denies[i].reasons),
                    &read);
        is_int(decision_deny_status(mem, &read, asked, details, &text), denies[i].status,
               "deny at /token (decisions.md \"Policy deny at /token\"): %s", denies[i].name);
        is_str(text, denies[i].text, "... with the first reason's message");
    }
}

/* The same facts in any order give one stored answer. */
static void
test_order(TALLOC_CTX *mem)
{
    static const char *const parts[] = {"{'code':'a','category':'client'}",
                                        "{'code':'b','category':'scope','control':'c1'}",
                                        "{'code':'a','category':'scope','control':'c2'}"};
    const char *first = NULL;
    for (unsigned order = 0; order < 6; order++) {
        struct decision read = {.allow = true};
        unsigned a = order % 3, b = (a + 1 + order / 3) % 3, c = 3 - a - b;
        read_answer(mem, "{}",
                    talloc_asprintf(mem, "{'allow':false,'deny_reasons':[%s,%s,%s]}", parts[a],
                                    parts[b], parts[c]),
                    &read);
        const char *text = jsonx_dump(mem, json_object_get(read.output, "deny_reasons"));
        if (first == NULL)
            first = text;
        else
            is_str(text, first,
                   "reasons in order %u are stored alike (decisions.md \"Order of reasons\")",
                   order);
        ok(decision_has_code(&read, "a") && decision_has_code(&read, "b"), "... each is found");
        ok(!decision_has_code(&read, "c") && !decision_has_code(&read, "")
               && !decision_has_code(&read, "A"),
           "... and no other code");
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_answers(mem);
    test_values(mem);
    test_lifetimes(mem);
    test_claims(mem);
    test_denies(mem);
    test_order(mem);
    talloc_free(mem);
    return done();
}
