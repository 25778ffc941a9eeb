/* The next step after an upstream refused a credential (gateway-admin.md 3.3). */
#include "config.h"

#include "gateway/upstream/refusal.h"
#include "tap.h"

#define AGAIN REFUSAL_AGAIN
#define REPLACE REFUSAL_REPLACE
#define END REFUSAL_END
#define COUNT REFUSAL_END_COUNT
/* Any value of a fact. */
#define ANY 2

/* The first row that fits is the rule. */
/* clang-format off */
static const struct {
    int status; /* 0: any */
    int shown, bound, personal, renewable, renewed, repeatable;
    enum upstream_refusal_step step;
    const char *rule;
} rules[] = {
    {0,   1, 1,   ANY, ANY, 0,   1,   AGAIN,   "a caller's own credential is replaced once, and the request sent again"},
    {0,   1, 1,   ANY, ANY, ANY, ANY, REPLACE, "... else it is replaced for the next call, or the person must link again"},
    {403, ANY, ANY, ANY, ANY, ANY, ANY, END,   "a 403 is about what the caller asked for and does not count"},
    {401, 1, ANY, ANY, 1,   0,   1,   AGAIN,   "a token of the service is renewed once on 401, and the request sent again"},
    {401, 1, ANY, ANY, 1,   0,   0,   REPLACE, "... a body that was streamed cannot be sent again"},
    {401, ANY, 1, ANY, ANY, ANY, ANY, END,     "an account of a caller is never counted"},
    {401, ANY, 0, 1,   ANY, ANY, ANY, END,     "nor is a token of one person"},
    {401, ANY, 0, 0,   ANY, ANY, ANY, COUNT,   "a 401 of the shared credential counts"},
};
/* clang-format on */

static bool
fits(int wanted, bool value)
{
    return wanted == ANY || wanted == (int) value;
}

int
main(void)
{
    int seen[sizeof(rules) / sizeof(rules[0])] = {0};
    plan(0);
    for (unsigned bits = 0; bits < 128; bits++) {
        const struct upstream_refusal refusal = {
            .status = bits & 1 ? 401 : 403,
            .shown = (bits & 2) != 0,
            .bound = (bits & 4) != 0,
            .personal = (bits & 8) != 0,
            .renewable = (bits & 16) != 0,
            .renewed = (bits & 32) != 0,
            .repeatable = (bits & 64) != 0,
        };
        size_t i = 0;
        while ((rules[i].status != 0 && rules[i].status != refusal.status)
               || !fits(rules[i].shown, refusal.shown) || !fits(rules[i].bound, refusal.bound)
               || !fits(rules[i].personal, refusal.personal)
               || !fits(rules[i].renewable, refusal.renewable)
               || !fits(rules[i].renewed, refusal.renewed)
               || !fits(rules[i].repeatable, refusal.repeatable))
            i++;
        seen[i]++;
        is_int(upstream_refusal_next(&refusal), rules[i].step, "%s (%u)", rules[i].rule, bits);
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        ok(seen[i] > 0, "a case of: %s", rules[i].rule);
    return done();
}
