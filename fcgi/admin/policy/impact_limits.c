#include "config.h"

#include "admin/policy/impact_limits.h"

#include <ctype.h>
#include <string.h>

#include "base/digits.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "http/form.h"
#include "policy/impact/period.h"
#include "policy/impact/watch.h"

/* clang-format off */
const struct route_param impact_limit_params[] = {
    IMPACT_LIMIT_PARAMS,
    {.name = NULL}
};
const struct route_param save_params[] = {
    SAVE_PARAMS,
    {.name = NULL}
};
/* clang-format on */

/* Longest period that is read. */
#define PERIOD_MAX 64

/* clang-format off */
static const struct field impact_limits_fields[] = {
    {"since",    FIELD_TEXT,   .max = PERIOD_MAX, FIELD_INTO(struct save_limits, since),
     .help = "Measure the save on the recorded decisions of this period (30m, 24h, 7d) first",
     .example = "\"24h\""},
    {"limits",   FIELD_OBJECT, FIELD_INTO(struct save_limits, max),
     .help = "Most decisions of newlyDenied, newlyAllowed, narrowed, widened, other, failing, "
             "notKnown: numbers, or percentages like 5%", .example = "{\"newlyDenied\": 0}"},
    {"override", FIELD_TEXT,   .max = SAVE_MESSAGE_MAX, FIELD_INTO(struct save_limits, override),
     .help = "Reason to pass the guards, for the history"},
};
/* clang-format on */
const struct field_table impact_limits_table = FIELD_TABLE("ImpactLimits", impact_limits_fields, 0);

/* Longest revision that is read; ours have 32 characters. */
#define REVISION_MAX 64

/* Return the limit of a text: a number, or the text itself; a new reference. */
static json_t *
limit_of(const char *text)
{
    int64_t number;
    return digits_read(text, INT64_MAX, &number) ? json_integer(number) : json_string(text);
}

/* Read the limit of one name. */
static void
read_limit(struct request *req, const char *name, struct jsonx_build *max)
{
    char *parameter =
        talloc_asprintf(req->op.mem, "max%c%s", toupper((unsigned char) name[0]), name + 1);
    const char *text = parameter != NULL ? request_param(req, parameter) : NULL;
    max->lost = max->lost || parameter == NULL;
    if (text == NULL)
        return;
    json_t *limit = jsonx_own(req->op.mem, limit_of(text));
    const char *why = limit != NULL ? watch_limit_fault(limit) : NULL;
    if (why != NULL)
        request_field_error(req, parameter, why);
    else
        jsonx_set(max, name, json_incref(limit));
}

/* Check the texts, which stand in these members. */
static void
check_texts(struct request *req, const struct save_limits *limits, const char *since,
            const char *override)
{
    int64_t ignored;
    const char *why;
    if (limits->since != NULL && !impact_period_read(limits->since, req->op.now_ms, &ignored))
        request_field_error(req, since, "must be a period like 30m, 24h or 7d, or a time");
    if (limits->override != NULL && (why = save_message_fault(limits->override)) != NULL)
        request_field_error(req, override, why);
}

/* Return who may be in the list of those who override: authzctl on the database, the id of a key,
 * or a person, whose name cannot be taken for one of these. NULL: there is no key. */
static const char *
overrider(struct request *req)
{
    if (req->op.az->by_operator != NULL)
        return req->op.az->by_operator->label;
    if (req->admin.subject == NULL)
        return req->admin.id;
    const char *name = talloc_asprintf(req->op.mem, "person:%s", req->admin.subject);
    return name != NULL ? name : "person:";
}

enum az_status
impact_limits_read(struct request *req, struct save_limits *ret)
{
    struct jsonx_build max = {jsonx_own(req->op.mem, json_object()), false};
    *ret = (struct save_limits){.overrider = overrider(req)};
    enum az_status st = req->params == 0 && *req->query != '\0'
                            ? request_parse_form(req, req->query, strlen(req->query))
                            : AZ_OK;
    if (st != AZ_OK)
        return st;
    ret->since = request_param(req, "impact");
    ret->override = request_param(req, "impactOverride");
    check_texts(req, ret, "impact", "impactOverride");
    for (size_t i = 0; watch_limit_names[i] != NULL; i++)
        read_limit(req, watch_limit_names[i], &max);
    if (jsonx_built(&max) == NULL)
        return op_no_memory(&req->op);
    ret->max = json_object_size(max.value) > 0 ? max.value : NULL;
    return req->error_body == NULL ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

void
impact_limits_check(struct request *req, const char *member, const json_t *limits)
{
    const char *name;
    json_t *limit;
    json_object_foreach ((json_t *) (uintptr_t) limits, name, limit) {
        const char *why =
            words_has(watch_limit_names, name)
                ? watch_limit_fault(limit)
                : "is not one of newlyDenied, newlyAllowed, narrowed, widened, other, "
                  "failing, notKnown";
        char *place = why != NULL ? talloc_asprintf(req->op.mem, "%s.%s", member, name) : NULL;
        if (place != NULL)
            request_field_error(req, place, why);
    }
}

static void
impact_limits_fault(void *arg, const char *name, const char *why)
{
    struct request *req = arg;
    char *place = talloc_asprintf(req->op.mem, *name != '\0' ? "impact.%s" : "impact%s", name);
    if (place != NULL)
        request_field_error(req, place, why);
}

enum az_status
impact_limits_read_body(struct request *req, const json_t *impact, struct save_limits *ret)
{
    if (impact == NULL)
        return AZ_OK;
    struct save_limits given = {.overrider = ret->overrider};
    if (ret->since != NULL || ret->max != NULL || ret->override != NULL)
        return request_invalid_field(req, "impact", "cannot be combined with limits in the query");
    fields_read(req->op.mem, &impact_limits_table, impact, impact_limits_fault, req, &given, NULL);
    check_texts(req, &given, "impact.since", "impact.override");
    impact_limits_check(req, "impact.limits", given.max);
    if (json_object_size(given.max) == 0)
        given.max = NULL;
    *ret = given;
    return req->error_body == NULL ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

enum az_status
save_params_read(struct request *req, struct save_limits *ret, const char **ret_message,
                 const char **ret_if_revision)
{
    enum az_status st = impact_limits_read(req, ret);
    const char *message = *ret_message = request_param(req, "message"),
               *revision = *ret_if_revision = request_param(req, "ifRevision");
    const char *why = message != NULL ? save_message_fault(message) : NULL;
    if (st != AZ_OK && st != AZ_INVALID_FIELDS)
        return st;
    if (why != NULL)
        request_field_error(req, "message", why);
    if (revision != NULL && strlen(revision) > REVISION_MAX)
        request_field_error(req, "ifRevision", "is longer than a revision");
    return req->error_body == NULL ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}
