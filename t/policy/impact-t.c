/* Classes of decisions: what a candidate changes in them (policy.md I8, I9). */
#include "config.h"

#include <string.h>

#include "env.h"
#include "policy/impact/classes.h"
#include "tap.h"

#define INPUT                                                                                      \
    "{'evaluation':'issue','request':{'default_ttl':3600},'scopes':{'requested':['a','b','c'],"    \
    "'default':[]},'resource':{'indicator':'https://r'}}"
#define ALLOW "'allow':true,'resource':'https://r'"

/* clang-format off */
static const struct { const char *base, *candidate, *class; bool mixed; const char *name; } cases[] = {
    {"{" ALLOW ",'scopes':['a','b']}", "{" ALLOW ",'scopes':['b','a']}", "same", false, "the same scopes in another order"},
    {"{" ALLOW ",'scopes':['a','b']}", "{" ALLOW ",'scopes':['a']}", "narrowed", false, "fewer scopes"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a','b']}", "widened", false, "more scopes"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['b']}", "widened", true, "widened_mixed: another scope"},
    {"{" ALLOW ",'scopes':['a']}", "{'allow':false,'deny_reasons':[{'code':'x','category':'policy'}]}", "newlyDenied", false, "a denial"},
    {"{'allow':false}", "{" ALLOW ",'scopes':['a']}", "newlyAllowed", false, "an allow"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':[]}", "newlyDenied", false, "an allow without any requested scope is none"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['d']}", "newlyDenied", false, "answer_wider_than_input: no decision"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'expires_in_override':60}", "other", false, "a shorter lifetime"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'expires_in_override':0}", "newlyDenied", false, "no lifetime"},
    {"{" ALLOW ",'scopes':['a']}", "{" ALLOW ",'scopes':['a'],'refresh':true}", "widened", false, "a refresh token"},
    {"{'allow':false,'deny_reasons':[{'code':'x','category':'policy','message':'m'}]}", "{'allow':false,'deny_reasons':[{'code':'x','category':'policy','message':'n'}]}", "same", false, "another message"},
    {"{'allow':false,'deny_reasons':[{'code':'x','category':'policy'}]}", "{'allow':false,'deny_reasons':[{'code':'y','category':'policy'}]}", "other", false, "another reason"},
};
/* clang-format on */

static struct effect
effect_of(struct op *op, const char *text)
{
    struct effect effect = {.outcome = EFFECT_NONE};
    effect_find(op, env_json(op->mem, INPUT), NULL, env_json(op->mem, text), &effect);
    return effect;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct effect base = effect_of(&op, cases[i].base),
                      candidate = effect_of(&op, cases[i].candidate);
        struct impact_difference difference = impact_compare(&base, &candidate);
        is_str(impact_class_names[difference.class], cases[i].class, "%s", cases[i].name);
        ok(difference.mixed == cases[i].mixed, "... mixed or not");
    }
    talloc_free(mem);
    return done();
}
