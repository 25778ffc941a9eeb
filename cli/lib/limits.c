#include "config.h"

#include "cli/lib/limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "cli/lib/output.h"
#include "policy/impact/guards.h"
#include "policy/impact/verdict.h"
#include "policy/impact/watch.h"

/* clang-format off */
const struct limit_row limit_rows[LIMIT_ROWS] = {
    {offsetof(struct cli_choices, max_newly_denied),  "maxNewlyDenied",  "newlyDenied",
     "newly denied",
     "allowed now; the change does not allow it"},
    {offsetof(struct cli_choices, max_newly_allowed), "maxNewlyAllowed", "newlyAllowed",
     "newly allowed",
     "not allowed now; the change allows it"},
    {offsetof(struct cli_choices, max_narrowed),      "maxNarrowed",     "narrowed",     "narrowed",
     "allowed by both; the change gives fewer rights"},
    {offsetof(struct cli_choices, max_widened),       "maxWidened",      "widened",      "widened",
     "allowed by both; the change gives rights that are not given now"},
    {offsetof(struct cli_choices, max_other),         "maxOther",        "other",        "other",
     "the same rights; a lifetime, claim, obligation or reason differs"},
    {offsetof(struct cli_choices, max_failing),       "maxFailing",      "failing",      "failing",
     "the change gives no answer, and the request would fail (503)"},
    {offsetof(struct cli_choices, max_not_known),     "maxNotKnown",     "notKnown",
     "not known",
     "the change reads what is not recorded, or takes too long"},
};
/* clang-format on */

const struct save_limits limits_on_database = {.overrider = GUARDS_OPERATOR};

/* Return a limit that was given, or NULL. */
static const char *
limit_given(const struct cli *cli, const struct limit_row *row)
{
    return *(const char *const *) (const void *) ((const char *) &cli->choice + row->offset);
}

size_t
limits_query(const struct cli *cli, struct query_pair *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < LIMIT_ROWS; i++)
        if (limit_given(cli, &limit_rows[i]) != NULL)
            ret[count++] =
                (struct query_pair){limit_rows[i].parameter, limit_given(cli, &limit_rows[i])};
    if (cli->choice.since != NULL || cli->choice.impact)
        ret[count++] =
            (struct query_pair){"impact", cli->choice.since != NULL ? cli->choice.since : "24h"};
    if (cli->choice.override_reason != NULL)
        ret[count++] = (struct query_pair){"impactOverride", cli->choice.override_reason};
    return count;
}

bool
limits_are_given(const struct cli *cli)
{
    struct query_pair pairs[LIMITS_QUERY_MAX];
    return limits_query(cli, pairs) > 0;
}

/* Return the words of a count, such as newly denied; the name itself if it is none. */
static const char *
limit_words(const char *count)
{
    for (size_t i = 0; i < LIMIT_ROWS; i++)
        if (strcmp(limit_rows[i].count, count) == 0)
            return limit_rows[i].words;
    return count;
}

/* Return what a sample says of all decisions, "" if all were looked at. */
static const char *
sample_words(TALLOC_CTX *mem, const json_t *item)
{
    const json_t *upper = json_object_get(item, "upper");
    const char *words =
        upper == NULL
            ? ""
            : talloc_asprintf(mem, " in a sample, so about %lld and not more than %lld of all",
                              (long long) json_integer_value(json_object_get(item, "estimate")),
                              (long long) json_integer_value(upper));
    return words != NULL ? words : "";
}

/* Print the limits that were passed. */
static void
limits_print_refused(const struct cli *cli, const json_t *refused)
{
    size_t index;
    const json_t *item;
    json_array_foreach (refused, index, item) {
        const char *name = json_string_value(json_object_get(item, "guard")),
                   *limit = json_string_value(json_object_get(item, "limit"));
        const json_t *value = json_object_get(item, "max");
        char *number = json_is_integer(value) ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
        const char *max = number != NULL ? number : json_string_value(value);
        if (limit != NULL && max != NULL)
            output_error("%s: %s%s: %s %lld of %lld%s, at most %s: REFUSED", cli->path,
                         name != NULL ? "guard " : "limit", name != NULL ? name : "",
                         limit_words(limit),
                         (long long) json_integer_value(json_object_get(item, "seen")),
                         (long long) json_integer_value(json_object_get(item, "of")),
                         sample_words(cli->mem, item), max);
        free(number);
    }
}

void
limits_print_refusal(const struct cli *cli, const json_t *body)
{
    const char *why = json_string_value(json_object_get(body, "error_description"));
    bool overridable = json_is_true(json_object_get(body, "overridable"));
    limits_print_refused(cli, json_object_get(body, "refused"));
    output_error("%s: " LIMITS_REFUSED ": %s; nothing was changed%s", cli->path,
                 why != NULL ? why : "",
                 overridable ? "; --override REASON passes guards, for those who may" : "");
}

/* Return a limit that was given, as the API takes it, a new reference: a number, or a text. */
static json_t *
limit_of(const char *limit)
{
    int64_t most;
    return digits_read(limit, INT64_MAX, &most) ? json_integer(most) : output_string(limit);
}

/* Tell of guards that a preview did not measure; a save does. */
static void
print_unmeasured(const struct cli *cli, const json_t *result)
{
    size_t index;
    const json_t *guard;
    json_array_foreach (json_object_get(result, "guards"), index, guard) {
        const char *name = json_string_value(json_object_get(guard, "name")),
                   *why = json_string_value(json_object_get(guard, "why"));
        if (name != NULL && why != NULL)
            output_error("%s: guard %s: not measured: %s", cli->path, name, why);
    }
}

int
limits_judge(const struct cli *cli, const json_t *result)
{
    struct jsonx_build max = {jsonx_own(cli->mem, json_object()), false};
    struct op op = {.mem = cli->mem};
    struct verdict verdict;
    for (size_t i = 0; i < LIMIT_ROWS; i++)
        if (limit_given(cli, &limit_rows[i]) != NULL)
            jsonx_set(&max, limit_rows[i].count, limit_of(limit_given(cli, &limit_rows[i])));
    if (jsonx_built(&max) == NULL || verdict_find(&op, result, max.value, &verdict) != AZ_OK)
        return output_no_memory(cli);
    limits_print_refused(cli, verdict.refused);
    print_unmeasured(cli, result);
    if (verdict.lack != NULL)
        output_error("%s: %s: REFUSED", cli->path, verdict.lack);
    bool unmeasured =
        json_is_true(json_object_get(result, "truncated"))
        && (limits_are_given(cli) || json_array_size(json_object_get(result, "guards")) > 0);
    if (unmeasured)
        output_error("%s: not all decisions that were chosen were looked at, so no limit holds",
                     cli->path);
    return unmeasured || verdict.lack != NULL || json_array_size(verdict.refused) > 0 ? CLI_NOTABLE
                                                                                      : CLI_OK;
}

int
limits_check(const struct cli *cli)
{
    for (size_t i = 0; i < LIMIT_ROWS; i++) {
        const char *limit = limit_given(cli, &limit_rows[i]);
        json_t *value = limit != NULL ? jsonx_own(cli->mem, limit_of(limit)) : NULL;
        if (value == NULL || watch_limit_fault(value) == NULL)
            continue;
        output_error("%s: '%s' must be a number, or a percentage like 5%%", cli->path, limit);
        return CLI_USAGE;
    }
    return CLI_OK;
}
