#include "config.h"

#include "cedar/value.h"

#include <stdlib.h>
#include <string.h>

int
cedar_text_compare(struct cedar_text a, struct cedar_text b)
{
    size_t shared = a.length < b.length ? a.length : b.length;
    int order = shared > 0 ? memcmp(a.at, b.at, shared) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

bool
cedar_text_is(struct cedar_text a, const char *word)
{
    return a.length == strlen(word) && memcmp(a.at, word, a.length) == 0;
}

bool
cedar_uid_equal(const struct cedar_uid *a, const struct cedar_uid *b)
{
    return cedar_text_compare(a->id, b->id) == 0 && cedar_text_compare(a->type, b->type) == 0;
}

static int
compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int
compare_ip(const struct cedar_ip *a, const struct cedar_ip *b)
{
    if (a->v6 != b->v6)
        return a->v6 ? 1 : -1;
    int order = memcmp(a->octet, b->octet, a->v6 ? 16 : 4);
    return order != 0 ? order : compare_numbers(a->prefix, b->prefix);
}

/* Compare sets by members, records by pairs of name and member, in order. */
static int
compare_all(const struct cedar_value *a, const struct cedar_value *b)
{
    size_t shared = a->all.count < b->all.count ? a->all.count : b->all.count;
    int order = 0;
    for (size_t i = 0; order == 0 && i < shared; i++) {
        if (a->all.name != NULL && b->all.name != NULL)
            order = cedar_text_compare(a->all.name[i], b->all.name[i]);
        if (order == 0)
            order = cedar_compare(&a->all.member[i], &b->all.member[i]);
    }
    return order != 0 ? order : (a->all.count > b->all.count) - (a->all.count < b->all.count);
}

/* Return the only name of the Rego object that stands for an entity or an extension value, or the
 * first name of a record. */
static struct cedar_text
first_name(const struct cedar_value *value)
{
    if (value->type == CEDAR_RECORD)
        return value->all.count > 0 ? value->all.name[0] : CEDAR_TEXT("");
    return value->type == CEDAR_ENTITY ? CEDAR_TEXT("__entity") : CEDAR_TEXT("__extn");
}

static int
compare_types(const struct cedar_value *a, const struct cedar_value *b)
{
    int order = 0;
    if (a->type == CEDAR_RECORD && a->all.count == 0 && b->type >= CEDAR_ENTITY)
        return -1;
    if (b->type == CEDAR_RECORD && b->all.count == 0 && a->type >= CEDAR_ENTITY)
        return 1;
    if (a->type == CEDAR_RECORD || b->type == CEDAR_RECORD)
        if (a->type >= CEDAR_ENTITY && b->type >= CEDAR_ENTITY)
            order = cedar_text_compare(first_name(a), first_name(b));
    return order != 0 ? order : (a->type > b->type) - (a->type < b->type);
}

int
cedar_compare(const struct cedar_value *a, const struct cedar_value *b)
{
    int order;
    if (a->type != b->type)
        return compare_types(a, b);
    switch (a->type) {
    case CEDAR_BOOL:
        return (int) a->truth - (int) b->truth;
    case CEDAR_STRING:
        return cedar_text_compare(a->text, b->text);
    case CEDAR_ENTITY:
        order = cedar_text_compare(a->uid.id, b->uid.id);
        return order != 0 ? order : cedar_text_compare(a->uid.type, b->uid.type);
    case CEDAR_IP:
        return compare_ip(&a->ip, &b->ip);
    case CEDAR_SET:
    case CEDAR_RECORD:
        return compare_all(a, b);
    case CEDAR_LONG:
    case CEDAR_DATETIME:
    case CEDAR_DECIMAL:
    case CEDAR_DURATION:
        break;
    }
    return compare_numbers(a->number, b->number);
}

static int
by_value(const void *a, const void *b)
{
    return cedar_compare(a, b);
}

struct cedar_value
cedar_set(struct cedar_value *member, size_t count)
{
    size_t kept = 0;
    if (count > 1)
        qsort(member, count, sizeof(*member), by_value);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || cedar_compare(&member[kept - 1], &member[i]) != 0)
            member[kept++] = member[i];
    return (struct cedar_value){
        .type = CEDAR_SET, .all = {member, NULL, kept}
    };
}

/* Move an entry down to its place in a heap: heapsort has no worst case that an attacker could use.
 */
static void
sift(struct cedar_text *name, struct cedar_value *member, size_t at, size_t count)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && cedar_text_compare(name[child], name[child + 1]) < 0)
            child++;
        if (cedar_text_compare(name[at], name[child]) >= 0)
            return;
        struct cedar_text name_at = name[at];
        struct cedar_value member_at = member[at];
        name[at] = name[child], member[at] = member[child];
        name[child] = name_at, member[child] = member_at;
    }
}

bool
cedar_record(struct cedar_text *name, struct cedar_value *member, size_t count,
             struct cedar_value *ret)
{
    for (size_t i = count / 2; i-- > 0;)
        sift(name, member, i, count);
    for (size_t left = count; left-- > 1;) {
        struct cedar_text name_at = name[0];
        struct cedar_value member_at = member[0];
        name[0] = name[left], member[0] = member[left];
        name[left] = name_at, member[left] = member_at;
        sift(name, member, 0, left);
    }
    for (size_t i = 1; i < count; i++)
        if (cedar_text_compare(name[i - 1], name[i]) == 0)
            return false;
    *ret = (struct cedar_value){
        .type = CEDAR_RECORD, .all = {member, name, count}
    };
    return true;
}

bool
cedar_set_has(const struct cedar_value *set, const struct cedar_value *value)
{
    return set->all.count > 0
           && bsearch(value, set->all.member, set->all.count, sizeof(*value), by_value) != NULL;
}

const struct cedar_value *
cedar_record_get(const struct cedar_value *record, struct cedar_text name)
{
    size_t low = 0, high = record->all.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = cedar_text_compare(name, record->all.name[middle]);
        if (order == 0)
            return &record->all.member[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}
