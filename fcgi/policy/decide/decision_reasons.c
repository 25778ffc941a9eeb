#include "config.h"

#include "policy/decide/decision.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "policy/decide/details.h"

/* Reason categories with their status at /token. The first category in this order that has a reason
 * decides the status of a deny. */
/* clang-format off */
static const struct category { const char *name; enum az_status status; } categories[] = {
    {"client",       AZ_UNAUTHORIZED_CLIENT},
    {"registration", AZ_ACCESS_DENIED},
    {"trust",        AZ_INVALID_GRANT},
    {"grant",        AZ_UNAUTHORIZED_CLIENT},
    {"token",        AZ_INVALID_GRANT},
    {"subject",      AZ_INVALID_GRANT},
    {"resource",     AZ_INVALID_TARGET},
    {"details",      AZ_INVALID_AUTHORIZATION_DETAILS},
    {"scope",        AZ_INVALID_SCOPE},
    {"delegation",   AZ_ACCESS_DENIED},
    {"environment",  AZ_ACCESS_DENIED},
    {"policy",       AZ_ACCESS_DENIED},
    {"system",       AZ_ACCESS_DENIED},
};
/* clang-format on */
#define CATEGORIES (sizeof(categories) / sizeof(categories[0]))

static size_t
category_rank(const json_t *reason)
{
    const char *name = json_string_value(json_object_get(reason, "category"));
    for (size_t i = 0; name != NULL && i < CATEGORIES; i++)
        if (strcmp(categories[i].name, name) == 0)
            return i;
    return CATEGORIES;
}

static int
compare_member(const json_t *a, const json_t *b, const char *name)
{
    const char *left = json_string_value(json_object_get(a, name)),
               *right = json_string_value(json_object_get(b, name));
    return strcmp(left != NULL ? left : "", right != NULL ? right : "");
}

/* True for a reason of a denial that denies nothing by itself (svc.lib.answer); it comes after
 * those that do. */
static bool
denies_nothing(const json_t *reason)
{
    return json_is_false(json_object_get(reason, "denies"));
}

static int
compare_reasons(const void *left, const void *right)
{
    const json_t *a = *(json_t *const *) left, *b = *(json_t *const *) right;
    bool listed_a = denies_nothing(a), listed_b = denies_nothing(b);
    if (listed_a != listed_b)
        return listed_a ? 1 : -1;
    size_t rank_a = category_rank(a), rank_b = category_rank(b);
    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    int order = compare_member(a, b, "control");
    return order != 0 ? order : compare_member(a, b, "code");
}

enum az_status
decision_sort_reasons(struct op *op, struct decision *decision)
{
    size_t count = json_array_size(decision->reasons);
    json_t **list = talloc_array(op->mem, json_t *, (unsigned) count + 1);
    struct jsonx_build sorted = {jsonx_own(op->mem, json_array()), false};
    if (list == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < count; i++) {
        list[i] = json_array_get(decision->reasons, i);
        if (!json_is_string(json_object_get(list[i], "code")))
            return op_fail(op, AZ_UNAVAILABLE, NULL,
                           "policy answer refused: deny_reasons contains an entry without code");
    }
    qsort(list, count, sizeof(list[0]), compare_reasons);
    for (size_t i = 0; i < count; i++)
        jsonx_append(&sorted, json_incref(list[i]));
    decision->reasons = jsonx_built(&sorted);
    if (decision->reasons == NULL
        || (count > 0 && json_object_set(decision->output, "deny_reasons", decision->reasons) != 0))
        return op_no_memory(op);
    return AZ_OK;
}

/* Return the place in the request's details that a reason is about, or NULL. A value that the entry
 * does not have is not named. */
static const char *
details_place(TALLOC_CTX *mem, const json_t *detail, const json_t *details)
{
    const json_t *number = json_object_get(detail, "entry");
    json_int_t entry = json_integer_value(number);
    if (!json_is_integer(number) || entry < 0 || entry >= (json_int_t) json_array_size(details))
        return NULL;
    const char *name = details_name(mem, details, (size_t) entry),
               *member = json_string_value(json_object_get(detail, "member")),
               *value = json_string_value(json_object_get(detail, "value"));
    const json_t *list =
        member != NULL ? json_object_get(json_array_get(details, (size_t) entry), member) : NULL;
    if (name == NULL || !words_array_has(list, value))
        return name;
    return talloc_asprintf(mem, "%s, %s '%.*s'", name, member, UTF8_SHOWN(value, DETAILS_SHOWN));
}

/* Return the message of a reason, with the scope or the entry of the details that it is about. What
 * the caller did not ask for is not named: a rule of the operator may put any text there. */
static const char *
reason_text(TALLOC_CTX *mem, const json_t *reason, const json_t *asked, const json_t *details)
{
    const char *message = json_string_value(json_object_get(reason, "message"));
    const json_t *detail = json_object_get(reason, "detail");
    const char *scope = json_string_value(json_object_get(detail, "scope")),
               *place = details_place(mem, detail, details);
    if (message != NULL && words_array_has(asked, scope))
        return talloc_asprintf(mem, "%s: '%.*s'", message, UTF8_SHOWN(scope, DECISION_SCOPE_SHOWN));
    return message != NULL && place != NULL ? talloc_asprintf(mem, "%s: %s", message, place)
                                            : message;
}

enum az_status
decision_deny_status(TALLOC_CTX *mem, const struct decision *decision, const json_t *asked,
                     const json_t *details, const char **ret_text)
{
    const json_t *first = json_array_get(decision->reasons, 0);
    size_t rank = first != NULL ? category_rank(first) : CATEGORIES;
    *ret_text = reason_text(mem, first, asked, details);
    return rank < CATEGORIES ? categories[rank].status : AZ_ACCESS_DENIED;
}

const char *
decision_category(const struct decision *decision)
{
    const json_t *first = json_array_get(decision->reasons, 0);
    const char *category = json_string_value(json_object_get(first, "category"));
    return first == NULL ? "none" : category != NULL ? category : "other";
}

const char *
decision_codes(TALLOC_CTX *mem, const struct decision *decision)
{
    size_t index;
    json_t *reason, *code;
    struct jsonx_build codes = {jsonx_own(mem, json_array()), false};
    json_array_foreach (decision->reasons, index, reason)
        if (json_is_string(code = json_object_get(reason, "code")))
            jsonx_append(&codes, json_incref(code));
    bool some = jsonx_built(&codes) != NULL && json_array_size(codes.value) > 0;
    return some ? words_join_texts(mem, codes.value) : NULL;
}

bool
decision_has_code(const struct decision *decision, const char *code)
{
    size_t index;
    json_t *reason;
    json_array_foreach (decision->reasons, index, reason) {
        const char *its = json_string_value(json_object_get(reason, "code"));
        if (its != NULL && strcmp(its, code) == 0)
            return true;
    }
    return false;
}
