#include "config.h"

#include "policy/impact/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"

/* The groups; each is an object of keys with objects of counts. */
enum group { BY_CLIENT, BY_ENDPOINT, BY_SUBJECT, BY_SCOPE, BY_REASON, GROUPS };
static const struct group_row {
    const char *member; /* of the answer */
    const char *key;    /* name of the key in an item */
} group_rows[GROUPS] = {
    [BY_CLIENT] = {"byClient",   "clientId" },
      [BY_ENDPOINT] = {"byEndpoint", "endpoint" },
    [BY_SUBJECT] = {"bySubject",  "subjectId"},
      [BY_SCOPE] = {"byScope",    "scope"    },
    [BY_REASON] = {"byReason",   "code"     },
};

struct impact_groups {
    json_t *group[GROUPS];
    json_t *others[GROUPS]; /* counts of keys beyond IMPACT_KEYS_MAX */
    json_t *clients, *people;
    bool lost;
};

struct impact_groups *
groups_new(TALLOC_CTX *mem)
{
    struct impact_groups *groups = talloc_zero(mem, struct impact_groups);
    if (groups == NULL)
        return NULL;
    bool made = (groups->clients = jsonx_own(groups, json_object())) != NULL
                && (groups->people = jsonx_own(groups, json_object())) != NULL;
    for (int i = 0; i < GROUPS; i++) {
        groups->group[i] = jsonx_own(groups, json_object());
        groups->others[i] = jsonx_own(groups, json_object());
        made = made && groups->group[i] != NULL && groups->others[i] != NULL;
    }
    if (!made)
        TALLOC_FREE(groups);
    return groups;
}

/* Count one more decision of class `what` for a key of a group. */
static void
count_key(struct impact_groups *groups, enum group group, const char *key, const char *what)
{
    json_t *keys = groups->group[group], *counts = json_object_get(keys, key);
    if (counts == NULL && json_object_size(keys) >= IMPACT_KEYS_MAX) {
        counts = groups->others[group];
    } else if (counts == NULL) {
        counts = json_object();
        if (json_object_set_new(keys, key, counts) != 0) {
            groups->lost = true;
            return;
        }
    }
    json_int_t before = json_integer_value(json_object_get(counts, what));
    if (json_object_set_new(counts, what, json_integer(before + 1)) != 0)
        groups->lost = true;
}

/* Note one of many names, to count them. */
static void
note_name(struct impact_groups *groups, json_t *names, const char *name)
{
    if (json_object_size(names) < IMPACT_DISTINCT_MAX
        && json_object_set_new(names, name, json_null()) != 0)
        groups->lost = true;
}

const json_t *
impact_scopes(const struct impact_decision *decision, const struct effect *effect)
{
    const json_t *scopes = json_object_get(effect->rights, "scopes");
    if (effect->outcome != EFFECT_ALLOW)
        return NULL;
    return scopes != NULL
               ? scopes
               : json_object_get(json_object_get(decision->input, "action"), "requiredScopes");
}

/* Count the scopes of one side that the other lacks. */
static void
count_scopes(struct impact_groups *groups, const json_t *has, const json_t *lacks, const char *what)
{
    size_t index;
    const json_t *scope;
    json_array_foreach (has, index, scope)
        if (!jsonx_array_has(lacks, scope) && json_is_string(scope))
            count_key(groups, BY_SCOPE, json_string_value(scope), what);
}

/* Count the codes of one side that the other lacks. */
static void
count_reasons(struct impact_groups *groups, const json_t *has, const json_t *lacks,
              const char *what)
{
    size_t index;
    const json_t *reason;
    json_array_foreach (has, index, reason) {
        const char *code = json_string_value(json_object_get(reason, "code"));
        if (code != NULL && !impact_has_reason(lacks, reason))
            count_key(groups, BY_REASON, code, what);
    }
}

bool
groups_add(struct impact_groups *groups, const struct impact_decision *decision,
           enum impact_class class)
{
    const char *what = impact_class_names[class];
    const struct effect *base = decision->base, *candidate = decision->candidate;
    const json_t *before = impact_scopes(decision, base),
                 *after = impact_scopes(decision, candidate);
    if (decision->client != NULL) {
        count_key(groups, BY_CLIENT, decision->client, what);
        note_name(groups, groups->clients, decision->client);
    }
    if (decision->subject != NULL) {
        count_key(groups, BY_SUBJECT, decision->subject, what);
        note_name(groups, groups->people, decision->subject);
    }
    if (decision->endpoint != NULL)
        count_key(groups, BY_ENDPOINT, decision->endpoint, what);
    count_scopes(groups, after, before, "gained");
    count_scopes(groups, before, after, "lost");
    count_reasons(groups, candidate->reasons, base->reasons, "added");
    count_reasons(groups, base->reasons, candidate->reasons, "removed");
    return !groups->lost;
}

/* ---- the answer */

/* A key with the sum of its counts. */
struct counted {
    const char *key;
    json_t *counts;
    json_int_t sum;
};

json_int_t
groups_sum(const json_t *counts)
{
    json_int_t sum = 0;
    const char *name;
    json_t *count;
    json_object_foreach ((json_t *) (uintptr_t) counts, name, count)
        sum += json_integer_value(count);
    return sum;
}

/* Sort by count, the largest first, then by name, so that the same counts give the same answer. */
static int
compare_counted(const void *one, const void *other)
{
    const struct counted *a = one, *b = other;
    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return strcmp(a->key, b->key);
}

static void
add_counts(struct jsonx_build *sum, const json_t *counts)
{
    const char *name;
    json_t *count;
    json_object_foreach ((json_t *) (uintptr_t) counts, name, count)
        jsonx_set(sum, name,
                  json_integer(json_integer_value(json_object_get(sum->value, name))
                               + json_integer_value(count)));
}

/* Set a group: its largest keys, and the sums of the others. */
static void
write_group(const struct impact_groups *groups, enum group group, size_t shown,
            struct jsonx_build *out)
{
    json_t *keys = groups->group[group];
    size_t count = 0, size = json_object_size(keys);
    struct counted *all = talloc_array(groups, struct counted, (unsigned) size + 1);
    struct jsonx_build list = {json_array(), all == NULL}, others = {json_object(), false};
    const char *key;
    json_t *counts;
    json_object_foreach (keys, key, counts)
        if (all != NULL)
            all[count++] = (struct counted){key, counts, groups_sum(counts)};
    if (all != NULL)
        qsort(all, count, sizeof(*all), compare_counted);
    add_counts(&others, groups->others[group]);
    for (size_t i = 0; i < count; i++) {
        struct jsonx_build item = {NULL, false};
        if (i >= shown) {
            add_counts(&others, all[i].counts);
            continue;
        }
        item.value = json_pack("{s:s}", group_rows[group].key, all[i].key);
        add_counts(&item, all[i].counts);
        list.lost = list.lost || item.lost;
        jsonx_append(&list, item.value);
    }
    if (json_object_size(others.value) > 0)
        jsonx_append(&list, json_pack("{s:O}", "others", others.value));
    json_decref(others.value);
    talloc_free(all);
    out->lost = out->lost || list.lost || others.lost;
    jsonx_set(out, group_rows[group].member, list.value);
}

void
groups_write(const struct impact_groups *groups, size_t keys, struct jsonx_build *out)
{
    out->lost = out->lost || groups->lost;
    for (int i = 0; i < GROUPS; i++)
        write_group(groups, (enum group) i, keys, out);
    jsonx_set(out, "clients", json_integer((json_int_t) json_object_size(groups->clients)));
    jsonx_set(out, "people", json_integer((json_int_t) json_object_size(groups->people)));
}
