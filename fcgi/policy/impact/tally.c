#include "config.h"

#include "policy/impact/tally.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/impact/bound.h"
#include "policy/impact/examples.h"
#include "policy/impact/groups.h"
#include "policy/impact/watch.h"

static const char *const unknown_names[IMPACT_UNKNOWNS] = {
    [IMPACT_GIVES_UP] = "gives_up",
    [IMPACT_DAMAGED] = "damaged",
    [IMPACT_NO_ENTRYPOINT] = "no_entrypoint",
    [IMPACT_HIDDEN] = "hidden",
};

struct tally {
    int64_t class[IMPACT_CLASSES];
    int64_t other[IMPACT_OTHERS];
    int64_t unknown[IMPACT_UNKNOWNS];
    int64_t mixed, failing, words, drifted;
    struct impact_sample sample; /* rows 0: all decisions were looked at */
    int64_t unreached;           /* of those that are the same */
    json_t *builtins;            /* object: that the machine lacks, with counts */
    struct impact_groups *groups;
    struct impact_examples *examples;
    struct watches *watches;
    bool lost; /* no memory for a count */
};

struct tally *
tally_new(TALLOC_CTX *mem, int64_t examples, const json_t *watches)
{
    struct tally *tally = talloc_zero(mem, struct tally);
    if (tally == NULL)
        return NULL;
    tally->sample.widest = 1;
    tally->builtins = jsonx_own(tally, json_object());
    tally->groups = groups_new(tally);
    tally->examples = examples_new(tally, (size_t) examples);
    tally->watches = watches_new(tally, watches);
    if (tally->builtins == NULL || tally->watches == NULL || tally->groups == NULL
        || tally->examples == NULL)
        TALLOC_FREE(tally);
    return tally;
}

/* Note how many decisions one row has. */
static void
note_width(struct tally *tally, size_t count)
{
    if ((int64_t) count > tally->sample.widest)
        tally->sample.widest = (int64_t) count;
}

void
tally_add(struct tally *tally, const struct impact_decision *decision)
{
    struct impact_difference difference = impact_compare(decision->base, decision->candidate);
    note_width(tally, decision->index + 1);
    watches_add(tally->watches, decision, decision->at_ms, &difference);
    tally->class[difference.class]++;
    tally->mixed += difference.mixed;
    tally->failing += difference.failing;
    tally->words += difference.words;
    if (difference.class == IMPACT_SAME)
        return;
    for (int i = 0; difference.class == IMPACT_OTHER && i < IMPACT_OTHERS; i++)
        tally->other[i] += difference.other >> i & 1;
    tally->lost = !groups_add(tally->groups, decision, difference.class)
                  || !examples_add(tally->examples, decision, difference.class) || tally->lost;
}

void
tally_unreached(struct tally *tally, const struct impact_decision *decision, size_t count)
{
    static const struct impact_difference same = {.class = IMPACT_SAME};
    note_width(tally, count);
    for (size_t i = 0; i < count; i++)
        watches_add(tally->watches, decision, decision->at_ms, &same);
    tally->class[IMPACT_SAME] += (int64_t) count;
    tally->unreached += (int64_t) count;
}

void
tally_drift(struct tally *tally)
{
    tally->drifted++;
}

void
tally_unknown(struct tally *tally, const struct impact_decision *decision, enum impact_unknown why,
              const char *builtin, size_t count)
{
    note_width(tally, count);
    watches_unknown(tally->watches, decision, decision->at_ms, count);
    tally->unknown[why] += (int64_t) count;
    if (builtin == NULL)
        return;
    json_int_t before = json_integer_value(json_object_get(tally->builtins, builtin));
    if (json_object_set_new(tally->builtins, builtin, json_integer(before + (json_int_t) count))
        != 0)
        tally->lost = true;
}

static int64_t
unknown_count(const struct tally *tally)
{
    int64_t sum = 0;
    for (int i = 0; i < IMPACT_UNKNOWNS; i++)
        sum += tally->unknown[i];
    return sum;
}

int64_t
tally_looked(const struct tally *tally)
{
    int64_t sum = unknown_count(tally);
    for (int i = 0; i < IMPACT_CLASSES; i++)
        sum += tally->class[i];
    return sum;
}

void
tally_sampled(struct tally *tally, int64_t rows, int64_t taken)
{
    tally->sample.rows = rows;
    tally->sample.taken = taken;
}

int64_t
tally_widest(const struct tally *tally)
{
    return tally->sample.widest;
}

/* Return {class: {estimate, upper}}: a new reference. */
static json_t *
estimates_json(const struct tally *tally)
{
    struct jsonx_build by = {json_object(), false};
    for (int i = 0; i < IMPACT_CLASSES; i++)
        jsonx_set(&by, impact_class_names[i], bound_json(&tally->sample, tally->class[i]));
    jsonx_set(&by, "failing", bound_json(&tally->sample, tally->failing));
    jsonx_set(&by, "notKnown", bound_json(&tally->sample, unknown_count(tally)));
    if (by.lost)
        json_decref(by.value);
    return jsonx_built(&by);
}

/* Return [{why, count, builtin?}]: a new reference. */
static json_t *
unknown_json(const struct tally *tally)
{
    struct jsonx_build list = {json_array(), false};
    const char *builtin;
    json_t *count;
    json_object_foreach (tally->builtins, builtin, count)
        jsonx_append(&list, json_pack("{s:s,s:s,s:O}", "why", unknown_names[IMPACT_GIVES_UP],
                                      "builtin", builtin, "count", count));
    for (int i = IMPACT_DAMAGED; i < IMPACT_UNKNOWNS; i++)
        if (tally->unknown[i] > 0)
            jsonx_append(&list, json_pack("{s:s,s:I}", "why", unknown_names[i], "count",
                                          (json_int_t) tally->unknown[i]));
    if (list.lost)
        json_decref(list.value);
    return jsonx_built(&list);
}

static json_t *
other_json(const struct tally *tally)
{
    struct jsonx_build by = {json_object(), false};
    for (int i = 0; i < IMPACT_OTHERS; i++)
        if (tally->other[i] > 0)
            jsonx_set(&by, impact_other_names[i], json_integer(tally->other[i]));
    if (by.lost)
        json_decref(by.value);
    return jsonx_built(&by);
}

json_t *
tally_json(TALLOC_CTX *mem, const struct tally *tally, size_t keys)
{
    struct jsonx_build out = {jsonx_own(mem, json_object()), tally->lost};
    int64_t unknown = unknown_count(tally), looked = tally_looked(tally);
    jsonx_set(&out, "looked", json_integer(looked));
    jsonx_set(&out, "asked", json_integer(looked - unknown - tally->unreached));
    jsonx_set(&out, "unreached", json_integer(tally->unreached));
    for (int i = 0; i < IMPACT_CLASSES; i++)
        jsonx_set(&out, impact_class_names[i], json_integer(tally->class[i]));
    jsonx_set(&out, "mixed", json_integer(tally->mixed));
    jsonx_set(&out, "otherBy", other_json(tally));
    jsonx_set(&out, "failing", json_integer(tally->failing));
    jsonx_set(&out, "words", json_integer(tally->words));
    jsonx_set(&out, "drifted", json_integer(tally->drifted));
    jsonx_set(&out, "notKnown", unknown_json(tally));
    groups_write(tally->groups, keys, &out);
    jsonx_set(&out, "examples", examples_json(tally->examples));
    bool sampled = tally->sample.rows > 0;
    if (sampled)
        jsonx_set(&out, "estimates", estimates_json(tally));
    watches_write(tally->watches, sampled ? &tally->sample : NULL, &out);
    return jsonx_built(&out);
}
