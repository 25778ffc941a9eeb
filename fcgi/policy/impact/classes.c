#include "config.h"

#include "policy/impact/classes.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/decide/details.h"

const char *const impact_class_names[IMPACT_CLASSES] = {
    [IMPACT_SAME] = "same",
    [IMPACT_NEWLY_DENIED] = "newlyDenied",
    [IMPACT_NEWLY_ALLOWED] = "newlyAllowed",
    [IMPACT_NARROWED] = "narrowed",
    [IMPACT_WIDENED] = "widened",
    [IMPACT_OTHER] = "other",
};

const char *const impact_other_names[IMPACT_OTHERS] = {
    [IMPACT_LIFETIME_LONGER] = "lifetimeLonger",
    [IMPACT_LIFETIME_SHORTER] = "lifetimeShorter",
    [IMPACT_SINGLE_USE] = "singleUse",
    [IMPACT_OBLIGATIONS] = "obligations",
    [IMPACT_CLAIMS] = "claims",
    [IMPACT_EXTENSIONS] = "extensions",
    [IMPACT_CONTEXT] = "context",
    [IMPACT_STEP_UP] = "stepUp",
    [IMPACT_REASONS] = "reasons",
};

/* ---- rights */

/* True if one verdict per tool is nowhere above the other's. */
static bool
verdicts_within(const json_t *one, const json_t *other)
{
    size_t index;
    json_t *verdict;
    json_array_foreach ((json_t *) (uintptr_t) one, index, verdict)
        if (json_integer_value(verdict) > json_integer_value(json_array_get(other, index)))
            return false;
    return true;
}

/* True if `one` gives no right that `other` does not. A token that names no resource, or no type,
 * is one for every resource or type. */
static bool
rights_within(const json_t *one, const json_t *other)
{
    const json_t *resource = json_object_get(other, "resource"),
                 *types = json_object_get(one, "resource_types"),
                 *wide = json_object_get(other, "resource_types");
    return jsonx_array_within(json_object_get(one, "scopes"), json_object_get(other, "scopes"))
           && jsonx_array_within(json_object_get(one, "grant_types"),
                                 json_object_get(other, "grant_types"))
           && (wide == NULL || (types != NULL && jsonx_array_within(types, wide)))
           && (resource == NULL || json_equal(json_object_get(one, "resource"), resource))
           && details_within(json_object_get(one, "details"), json_object_get(other, "details"),
                             NULL)
           && (json_object_get(one, "refresh") == NULL || json_object_get(other, "refresh") != NULL)
           && verdicts_within(json_object_get(one, "verdicts"), json_object_get(other, "verdicts"));
}

/* ---- reasons */

static bool
same_text(const json_t *one, const json_t *other, const char *name)
{
    const json_t *a = json_object_get(one, name), *b = json_object_get(other, name);
    return a == NULL || b == NULL ? a == b : json_equal(a, b);
}

bool
impact_has_reason(const json_t *reasons, const json_t *reason)
{
    size_t index;
    const json_t *at;
    json_array_foreach (reasons, index, at)
        if (same_text(at, reason, "code") && same_text(at, reason, "control")
            && same_text(at, reason, "category"))
            return true;
    return false;
}

static bool
reasons_within(const json_t *one, const json_t *other)
{
    size_t index;
    const json_t *reason;
    json_array_foreach (one, index, reason)
        if (!impact_has_reason(other, reason))
            return false;
    return true;
}

/* ---- the rest */

static unsigned
compare_lifetime(const json_t *base, const json_t *candidate)
{
    json_int_t before = json_integer_value(json_object_get(base, "lifetime")),
               after = json_integer_value(json_object_get(candidate, "lifetime"));
    return after > before   ? 1U << IMPACT_LIFETIME_LONGER
           : after < before ? 1U << IMPACT_LIFETIME_SHORTER
                            : 0;
}

static unsigned
compare_rest(const struct effect *base, const struct effect *candidate)
{
    unsigned bits = compare_lifetime(base->rest, candidate->rest);
    for (int i = IMPACT_SINGLE_USE; i < IMPACT_REASONS; i++) {
        const json_t *before = json_object_get(base->rest, impact_other_names[i]),
                     *after = json_object_get(candidate->rest, impact_other_names[i]);
        if (before == NULL || after == NULL ? before != after : !json_equal(before, after))
            bits |= 1U << i;
    }
    if (!reasons_within(base->reasons, candidate->reasons)
        || !reasons_within(candidate->reasons, base->reasons))
        bits |= 1U << IMPACT_REASONS;
    return bits;
}

struct impact_difference
impact_compare(const struct effect *base, const struct effect *candidate)
{
    struct impact_difference ret = {.class = IMPACT_SAME};
    bool before = base->outcome == EFFECT_ALLOW, after = candidate->outcome == EFFECT_ALLOW;
    bool within = rights_within(candidate->rights, base->rights),
         without = rights_within(base->rights, candidate->rights);
    ret.failing = candidate->outcome == EFFECT_NONE && base->outcome != EFFECT_NONE;
    ret.other = compare_rest(base, candidate);
    if (before != after)
        ret.class = after ? IMPACT_NEWLY_ALLOWED : IMPACT_NEWLY_DENIED;
    else if (!within)
        ret.class = IMPACT_WIDENED;
    else if (!without)
        ret.class = IMPACT_NARROWED;
    else if (ret.other != 0 || base->outcome != candidate->outcome)
        ret.class = IMPACT_OTHER;
    ret.mixed = ret.class == IMPACT_WIDENED && !without;
    ret.words = ret.class == IMPACT_SAME && !json_equal(base->reasons, candidate->reasons);
    return ret;
}
