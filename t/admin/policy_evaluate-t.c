#include "config.h"

#include "admin/policy/policy_evaluate.h"

#include <string.h>

#include "admin/policy/policy_replay.h"
#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *path; bool good; } paths[] = {
    {"svc/decision/issue", true}, {"custom", true}, {"a/b/c", true}, {"A-Z_0-9", true},
    {"", false}, {"/", false}, {"/svc", false}, {"svc/", false}, {"a//b", false}, {".", false}, {"..", false},
    {"../x", false}, {"a/../b", false}, {"a/./b", false}, {"a%2fb", false}, {"%2e%2e/x", false}, {"a?b", false},
    {"a?provenance=false", false}, {"a#b", false}, {"a b", false}, {" a", false}, {"a\t", false}, {"a\r\nX: y", false},
    {"a.b", false}, {"a\\b", false}, {"a:b", false}, {"a;b", false}, {"a&b", false}, {"\xc3\xa4", false}, {"a[0]", false},
};

/* Written with ' for ". changes: names in the order of the newer answer, then what it lacks. */
static const struct { const char *before, *after, *changes, *name; } answers[] = {
    {"{'allow':true,'scopes':['a'],'revision':'r1','engine':'opa/1','eval_us':5}", "{'allow':true,'scopes':['a']}", "[]", "how an answer was got does not count"},
    {"{'allow':true,'scopes':['a'],'revision':'r1'}", "{'allow':true,'scopes':['a'],'revision':'r2'}", "[]", "... nor by which revision"},
    {"{'allow':true}", "{'allow':true,'resource':null,'jit_single_use':false,'obligations':{},'deny_reasons':[]}", "[]", "null, false and empty are absent"},
    {"{'allow':true,'resource':null,'jit_single_use':false}", "{'allow':true}", "[]", "... on the other side too"},
    {"{'allow':true}", "{'allow':false}", "['allow']", "allow to deny"},
    {"{'allow':false}", "{'allow':true}", "['allow']", "deny to allow"},
    {"{'error':'policy engine: away'}", "{'allow':false}", "['allow','error']", "no decision is no deny"},
    {"{'allow':true,'scopes':['a','b']}", "{'allow':true,'scopes':['a']}", "['scopes']", "a scope less"},
    {"{'allow':true,'scopes':['a']}", "{'allow':true,'scopes':['a','b'],'deny_reasons':[{'code':'x'}]}", "['scopes','deny_reasons']", "more members than one"},
    {"{'allow':true,'resource':'r','resource_types':['t'],'authorization_details':[{'type':'p'}]}", "{'allow':true,'resource':'q','resource_types':['u'],'authorization_details':[]}", "['resource','resource_types','authorization_details']", "resource, types, details"},
    {"{'allow':true}", "{'allow':true,'expires_in_override':0}", "['expires_in_override']", "a lifetime of 0 is not none"},
    {"{'allow':true,'expires_in_override':300}", "{'allow':true}", "['expires_in_override']", "a lifetime that is gone"},
    {"{'allow':true}", "{'allow':true,'jit_single_use':true}", "['jit_single_use']", "single use"},
    {"{'allow':true}", "{'allow':true,'obligations':{'step-up':[]},'extensions':{'risk':'low'},'claims':{'x':1}}", "['obligations','extensions','claims']", "obligations, extensions, claims"},
    {"{'allow':true,'matched_segments':['binding:clients/a']}", "{'allow':true,'matched_segments':['binding:clients/b']}", "['matched_segments']", "what matched, which resource servers see"},
    {"{'allow':true}", "{'allow':true,'of_tomorrow':1}", "['of_tomorrow']", "an unknown member"},
    {"{'a':1}", "{'a':{}}", "['a']", "another type"},
    {"{'allow':true}", "null", "['']", "undefined now"},
    {"null", "{'allow':true}", "['']", "undefined then"},
    {"null", "null", "[]", "undefined both times"},
    {"5", "6", "['']", "values of a rule"},
    {"[1]", "[1]", "[]", "... that are the same"},
};
/* clang-format on */

static void
test_paths(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        ok((policy_evaluate_path_fault(paths[i].path) == NULL) == paths[i].good,
           "%s: the path [%s] goes into the engine's URL (gateway-admin.md 3.6)",
           paths[i].good ? "taken" : "refused", paths[i].path);
    char *path = talloc_zero_size(mem, POLICY_EVALUATE_PATH_MAX + 2);
    memset(path, 'a', POLICY_EVALUATE_PATH_MAX);
    ok(policy_evaluate_path_fault(path) == NULL, "limit: a path of 512 octets");
    path[POLICY_EVALUATE_PATH_MAX] = 'a';
    is_str(policy_evaluate_path_fault(path), "is too long", "limit: one of 513 is refused");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_paths(mem);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        const json_t *changes = policy_replay_changes(mem, env_json(mem, answers[i].before),
                                                      env_json(mem, answers[i].after));
        is_str(jsonx_dump(mem, changes), jsonx_dump(mem, env_json(mem, answers[i].changes)),
               "changes: %s", answers[i].name);
    }
    talloc_free(mem);
    return done();
}
