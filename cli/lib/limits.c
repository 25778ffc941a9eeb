#include "config.h"

#include "cli/lib/limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lib/output.h"

const struct limit_row limit_rows[LIMIT_ROWS] = {
    {offsetof(struct cli_choices, max_newly_denied),  "maxNewlyDenied",  "newlyDenied",
     "newly denied"                                                                                 },
    {offsetof(struct cli_choices, max_newly_allowed), "maxNewlyAllowed", "newlyAllowed",
     "newly allowed"                                                                                },
    {offsetof(struct cli_choices, max_narrowed),      "maxNarrowed",     "narrowed",     "narrowed" },
    {offsetof(struct cli_choices, max_widened),       "maxWidened",      "widened",      "widened"  },
    {offsetof(struct cli_choices, max_other),         "maxOther",        "other",        "other"    },
    {offsetof(struct cli_choices, max_failing),       "maxFailing",      "failing",      "failing"  },
    {offsetof(struct cli_choices, max_not_known),     "maxNotKnown",     "notKnown",     "not known"},
};

const char *
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

void
limits_print_refused(const struct cli *cli, const json_t *refused, const char *guard)
{
    size_t index;
    const json_t *item;
    json_array_foreach (refused, index, item) {
        const char *own = json_string_value(json_object_get(item, "guard")),
                   *name = guard != NULL ? guard : own,
                   *limit = json_string_value(json_object_get(item, "limit"));
        char *max = json_dumps(json_object_get(item, "max"), JSON_ENCODE_ANY);
        if (limit != NULL && max != NULL)
            output_error("%s: %s%s: %s %lld of %lld, at most %s: REFUSED", cli->path,
                         name != NULL ? "guard " : "limit", name != NULL ? name : "",
                         limit_words(limit),
                         (long long) json_integer_value(json_object_get(item, "seen")),
                         (long long) json_integer_value(json_object_get(item, "of")), max);
        free(max);
    }
}

void
limits_print_refusal(const struct cli *cli, const json_t *body)
{
    const char *why = json_string_value(json_object_get(body, "error_description"));
    bool overridable = json_is_true(json_object_get(body, "overridable"));
    limits_print_refused(cli, json_object_get(body, "refused"), NULL);
    output_error("%s: " LIMITS_REFUSED ": %s; nothing was changed%s", cli->path,
                 why != NULL ? why : "",
                 overridable ? "; --override REASON passes guards, for those who may" : "");
}
