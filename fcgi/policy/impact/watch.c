#include "config.h"

#include "policy/impact/watch.h"

#include <stdlib.h>
#include <string.h>

/* The counts that can be limited, in their order. */
enum watched { WATCH_FAILING = IMPACT_CLASSES, WATCH_NOT_KNOWN, WATCHED };
const char *const watch_limit_names[] = {"newlyDenied", "newlyAllowed", "narrowed", "widened",
                                         "other",       "failing",      "notKnown", NULL};

/* The counts of one watch. IMPACT_SAME is not counted. */
struct watch {
    const json_t *about;
    int64_t count[WATCHED];
    int64_t of; /* decisions that match */
};

struct watches {
    struct watch *watch;
    size_t count;
};

struct watches *
watches_new(TALLOC_CTX *mem, const json_t *list)
{
    struct watches *watches = talloc_zero(mem, struct watches);
    size_t count = json_array_size(list);
    if (watches == NULL
        || (watches->watch = talloc_zero_array(watches, struct watch, (unsigned) count + 1))
               == NULL) {
        talloc_free(watches);
        return NULL;
    }
    watches->count = count;
    for (size_t i = 0; i < count; i++)
        watches->watch[i].about = json_array_get(list, i);
    return watches;
}

/* ---- which decisions */

/* True if a text matches a pattern: whole, or to a last *. */
static bool
pattern_matches(const char *pattern, const char *text)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, text, length - 1) == 0;
    return strcmp(pattern, text) == 0;
}

/* True if the list is absent, or one of its patterns matches the text. */
static bool
list_matches(const json_t *list, const char *text)
{
    size_t index;
    const json_t *pattern;
    if (list == NULL)
        return true;
    json_array_foreach (list, index, pattern)
        if (text != NULL && json_is_string(pattern)
            && pattern_matches(json_string_value(pattern), text))
            return true;
    return false;
}

static bool
any_matches(const json_t *patterns, const json_t *texts)
{
    size_t index;
    const json_t *text;
    json_array_foreach (texts, index, text)
        if (json_is_string(text) && list_matches(patterns, json_string_value(text)))
            return true;
    return false;
}

/* Return the resource that a question names. */
static const char *
resource_of(const json_t *input)
{
    const json_t *resource = json_object_get(input, "resource");
    const char *name = json_string_value(json_object_get(resource, "indicator"));
    if (name == NULL)
        name = json_string_value(json_object_get(resource, "name"));
    return name != NULL
               ? name
               : json_string_value(json_object_get(json_object_get(input, "baseline"), "resource"));
}

/* True if the decision is one that the watch is about, apart from scopes. */
static bool
is_about(const struct watch *watch, const struct impact_decision *decision, int64_t at_ms)
{
    const json_t *when = json_object_get(watch->about, "when");
    return json_object_get(watch->about, "why") == NULL
           && at_ms >= json_integer_value(json_object_get(watch->about, "fromMs"))
           && list_matches(json_object_get(when, "evaluations"),
                           json_string_value(json_object_get(decision->input, "evaluation")))
           && list_matches(json_object_get(when, "endpoints"), decision->endpoint)
           && list_matches(json_object_get(when, "clients"), decision->client)
           && list_matches(json_object_get(when, "resources"), resource_of(decision->input));
}

/* True if the question asks for a scope that matches. */
static bool
asks_for(const json_t *patterns, const json_t *input)
{
    static const char *const places[][2] = {
        {"scopes", "requested"     },
        {"scopes", "default"       },
        {"token",  "scopes"        },
        {"action", "requiredScopes"}
    };
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (any_matches(patterns,
                        json_object_get(json_object_get(input, places[i][0]), places[i][1])))
            return true;
    return false;
}

/* True if `one` gives a scope that matches and that `other` does not give. */
static bool
gives_more(const json_t *patterns, const struct impact_decision *decision, const struct effect *one,
           const struct effect *other)
{
    const json_t *has = impact_scopes(decision, one), *lacks = impact_scopes(decision, other);
    size_t index;
    const json_t *scope;
    json_array_foreach (has, index, scope)
        if (json_is_string(scope) && list_matches(patterns, json_string_value(scope))
            && !jsonx_array_has(lacks, scope))
            return true;
    return false;
}

/* True if a difference of this class is about scopes of the watch: newlyAllowed and widened count
 * what gains one, newlyDenied and narrowed what loses one, the rest what asks for one. */
static bool
is_about_scopes(const struct watch *watch, const struct impact_decision *decision,
                enum impact_class class)
{
    const json_t *patterns = json_object_get(json_object_get(watch->about, "when"), "scopes");
    if (patterns == NULL)
        return true;
    if (class == IMPACT_NEWLY_ALLOWED || class == IMPACT_WIDENED)
        return gives_more(patterns, decision, decision->candidate, decision->base);
    if (class == IMPACT_NEWLY_DENIED || class == IMPACT_NARROWED)
        return gives_more(patterns, decision, decision->base, decision->candidate);
    return asks_for(patterns, decision->input);
}

/* ---- counting */

void
watches_add(struct watches *watches, const struct impact_decision *decision, int64_t at_ms,
            const struct impact_difference *difference)
{
    for (size_t i = 0; i < watches->count; i++) {
        struct watch *watch = &watches->watch[i];
        if (!is_about(watch, decision, at_ms)
            || !is_about_scopes(watch, decision, difference->class))
            continue;
        watch->of++;
        watch->count[difference->class]++;
        watch->count[WATCH_FAILING] += difference->failing;
    }
}

void
watches_unknown(struct watches *watches, const struct impact_decision *decision, int64_t at_ms,
                size_t count)
{
    for (size_t i = 0; i < watches->count; i++) {
        struct watch *watch = &watches->watch[i];
        /* A question that cannot be read may be about anything. */
        if ((decision->input != NULL && !is_about(watch, decision, at_ms))
            || json_object_get(watch->about, "why") != NULL)
            continue;
        watch->of += (int64_t) count;
        watch->count[WATCH_NOT_KNOWN] += (int64_t) count;
    }
}

/* ---- judging */

/* Read "5%" or "0.5%". */
static bool
read_percent(const char *text, double *ret)
{
    char *end = NULL;
    size_t length = strlen(text);
    if (length < 2 || length > 8 || text[length - 1] != '%'
        || strspn(text, "0123456789.") != length - 1 || text[0] == '.')
        return false;
    *ret = strtod(text, &end);
    return end == text + length - 1 && *ret <= 100;
}

const char *
watch_limit_fault(const json_t *limit)
{
    double percent;
    if (json_is_integer(limit))
        return json_integer_value(limit) >= 0 ? NULL : "must not be negative";
    if (json_is_string(limit))
        return read_percent(json_string_value(limit), &percent)
                   ? NULL
                   : "must be a number, or a percentage of at most 100 like 5%";
    return "must be a number, or a percentage like 5%";
}

/* A count that is compared with a limit. */
struct held {
    const struct impact_sample *sample; /* NULL: all decisions were looked at */
    int64_t seen, of;
    int64_t least; /* decisions below which a percentage does not hold */
};

/* True if a percentage is passed: by what was seen, or in a sample by the bound. */
static bool
is_share_passed(const struct held *held, double percent)
{
    if (held->sample == NULL)
        return held->of >= held->least && (double) held->seen * 100 > percent * (double) held->of;
    return bound_estimate(held->sample, held->of) >= held->least
           && bound_sample_share(held->sample, held->seen, held->of) * 100 > percent;
}

/* True if a limit is passed. */
static bool
is_passed(const struct held *held, const json_t *limit)
{
    double percent = 0;
    if (json_is_integer(limit))
        return (held->sample != NULL ? bound_estimate(held->sample, held->seen) : held->seen)
               > json_integer_value(limit);
    /* A limit that cannot be read holds nothing. */
    return !json_is_string(limit) || !read_percent(json_string_value(limit), &percent)
           || is_share_passed(held, percent);
}

/* Return a limit that is passed, a new reference. */
static json_t *
passed_json(const struct held *held, const char *name, json_t *limit)
{
    struct jsonx_build item = {json_pack("{s:s,s:O,s:I,s:I}", "limit", name, "max", limit, "seen",
                                         (json_int_t) held->seen, "of", (json_int_t) held->of),
                               false};
    json_t *bounds = held->sample != NULL ? bound_json(held->sample, held->seen) : NULL;
    if (held->sample != NULL && json_object_update(item.value, bounds) != 0)
        item.lost = true;
    json_decref(bounds);
    if (item.lost)
        json_decref(item.value);
    return jsonx_built(&item);
}

json_t *
watch_refused(const json_t *watch, const json_t *counts, const struct impact_sample *sample)
{
    const json_t *limits = json_object_get(watch, "limits");
    json_int_t unknown = json_is_false(json_object_get(watch, "count"))
                             ? 0
                             : json_integer_value(json_object_get(counts, "notKnown"));
    struct jsonx_build list = {json_array(), false};
    for (int i = 0; watch_limit_names[i] != NULL; i++) {
        const char *name = watch_limit_names[i];
        json_t *limit = json_object_get(limits, name);
        bool own = i == WATCH_NOT_KNOWN - IMPACT_NEWLY_DENIED;
        const struct held held = {.sample = sample,
                                  .seen = json_integer_value(json_object_get(counts, name))
                                          + (own ? 0 : unknown),
                                  .of = json_integer_value(json_object_get(counts, "of")),
                                  .least = json_integer_value(json_object_get(watch, "least"))};
        if (limit != NULL && !json_is_null(limit) && is_passed(&held, limit))
            jsonx_append(&list, passed_json(&held, name, limit));
    }
    if (list.lost)
        json_decref(list.value);
    return jsonx_built(&list);
}

/* Return the counts of a watch and the limits that are passed, a new reference. */
static json_t *
watch_json(const struct watch *watch, const struct impact_sample *sample)
{
    json_t *why = json_object_get(watch->about, "why");
    if (why != NULL)
        return json_pack("{s:O,s:b,s:O}", "name", json_object_get(watch->about, "name"),
                         "notMeasured", 1, "why", why);
    struct jsonx_build item = {json_pack("{s:O,s:I}", "name", json_object_get(watch->about, "name"),
                                         "of", (json_int_t) watch->of),
                               false};
    for (int i = IMPACT_NEWLY_DENIED; i < WATCHED; i++)
        jsonx_set(&item, watch_limit_names[i - IMPACT_NEWLY_DENIED], json_integer(watch->count[i]));
    if (sample != NULL && json_is_true(json_object_get(watch->about, "whole")))
        jsonx_set(&item, "notMeasured", json_true());
    jsonx_set(&item, "refused", watch_refused(watch->about, item.value, sample));
    if (item.lost)
        json_decref(item.value);
    return jsonx_built(&item);
}

void
watches_write(const struct watches *watches, const struct impact_sample *sample,
              struct jsonx_build *ret)
{
    struct jsonx_build list = {json_array(), false};
    for (size_t i = 0; i < watches->count; i++) {
        json_t *item = watch_json(&watches->watch[i], sample);
        if (json_is_string(json_object_get(watches->watch[i].about, "name"))) {
            jsonx_append(&list, item);
        } else {
            json_object_del(item, "name");
            jsonx_set(ret, "limits", item);
        }
    }
    ret->lost = ret->lost || list.lost;
    jsonx_set(ret, "guards", list.value);
}

/* Return the sum of what is not known, which a result lists by its reason. */
static json_int_t
sum_of(const json_t *list)
{
    size_t index;
    const json_t *item;
    json_int_t sum = 0;
    json_array_foreach (list, index, item)
        sum += json_integer_value(json_object_get(item, "count"));
    return sum;
}

void
watch_counts_add(const json_t *result, struct jsonx_build *ret)
{
    jsonx_set(ret, "looked", json_integer(json_integer_value(json_object_get(result, "looked"))));
    for (size_t i = 0; watch_limit_names[i] != NULL; i++) {
        const json_t *count = json_object_get(result, watch_limit_names[i]);
        jsonx_set(ret, watch_limit_names[i],
                  json_integer(json_is_array(count) ? sum_of(count) : json_integer_value(count)));
    }
}
