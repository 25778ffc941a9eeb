#include "config.h"

#include "rego/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rego/number.h"

/* Octets of a block of an arena: an ordinary decision takes less than one. */
#define ARENA_BLOCK 65536
/* Alignment of values. */
#define ARENA_ALIGN 8
/* First capacity of a composite that grows, in items. */
#define FIRST_ROOM 4
/* Most members that are sorted by insertion; qsort() calls a function for each comparison. */
#define INSERTION_MAX 32

const struct rego_value rego_null = {.type = REGO_NULL};
const struct rego_value rego_true = {.type = REGO_BOOLEAN, .boolean = true};
const struct rego_value rego_false = {.type = REGO_BOOLEAN, .boolean = false};
const struct rego_value rego_empty_string = {.type = REGO_STRING, .text = ""};
const struct rego_value rego_hidden = {.type = REGO_NULL, .traits = REGO_HIDDEN};

void
rego_arena_init(struct rego_arena *arena, TALLOC_CTX *mem, size_t max)
{
    *arena = (struct rego_arena){.mem = mem, .max = max};
}

void *
rego_take_unset(struct rego_arena *arena, size_t octets)
{
    if (arena->full || octets > arena->max) {
        arena->full = true;
        return NULL;
    }
    octets = (octets + ARENA_ALIGN - 1) & ~(size_t) (ARENA_ALIGN - 1);
    size_t left = (size_t) (arena->end - arena->at);
    if (left < octets && arena->grow != NULL) {
        if (!arena->grow(arena, octets - left)) {
            arena->full = true;
            return NULL;
        }
    } else if (left < octets) {
        size_t size = octets > ARENA_BLOCK / 4 ? octets : ARENA_BLOCK;
        char *block = NULL;
        size = size > arena->max - arena->taken ? arena->max - arena->taken : size;
        if (size >= octets)
            block = talloc_size(arena->mem, size);
        if (block == NULL) {
            arena->full = true;
            return NULL;
        }
        arena->taken += size;
        if (size == octets)
            return block;
        arena->at = block;
        arena->end = block + size;
    }
    void *taken = arena->at;
    arena->at += octets;
    return taken;
}

void *
rego_take(struct rego_arena *arena, size_t octets)
{
    void *taken = rego_take_unset(arena, octets);
    return taken != NULL ? memset(taken, 0, octets) : NULL;
}

static struct rego_value *
new_value(struct rego_arena *arena, enum rego_type type)
{
    struct rego_value *value = rego_take_unset(arena, sizeof(*value));
    if (value != NULL)
        *value = (struct rego_value){.type = (uint8_t) type};
    return value;
}

const struct rego_value *
rego_integer(struct rego_arena *arena, int64_t integer)
{
    struct rego_value *value = new_value(arena, REGO_NUMBER);
    if (value != NULL)
        value->integer = integer;
    return value;
}

const struct rego_value *
rego_number(struct rego_arena *arena, const char *text, size_t length)
{
    int64_t integer;
    if (number_read_integer(text, length, &integer))
        return rego_integer(arena, integer);
    const struct rego_value *copy = rego_string(arena, text, length);
    struct rego_value *value = copy != NULL ? new_value(arena, REGO_NUMBER) : NULL;
    if (value != NULL) {
        value->decimal = true;
        value->count = copy->count;
        value->text = copy->text;
        value->traits = number_is_odd(value) ? REGO_ODD : 0;
    }
    return value;
}

const struct rego_value *
rego_text(struct rego_arena *arena, const char *text, size_t length)
{
    struct rego_value *value = length <= UINT32_MAX ? new_value(arena, REGO_STRING) : NULL;
    if (value != NULL) {
        value->count = (uint32_t) length;
        value->text = text;
    }
    return value;
}

const struct rego_value *
rego_string(struct rego_arena *arena, const char *text, size_t length)
{
    char *copy = rego_take_unset(arena, length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return rego_text(arena, copy, length);
}

static struct rego_value *
new_composite(struct rego_arena *arena, enum rego_type type, size_t room)
{
    struct rego_value *value = new_value(arena, type);
    size_t each = type == REGO_OBJECT ? sizeof(struct rego_member) : sizeof(void *);
    if (value == NULL || room == 0)
        return value;
    if (room > UINT32_MAX || (value->item = rego_take_unset(arena, room * each)) == NULL)
        return NULL;
    value->room = (uint32_t) room;
    return value;
}

struct rego_value *
rego_array(struct rego_arena *arena, size_t room)
{
    return new_composite(arena, REGO_ARRAY, room);
}

struct rego_value *
rego_object(struct rego_arena *arena, size_t room)
{
    return new_composite(arena, REGO_OBJECT, room);
}

struct rego_value *
rego_set(struct rego_arena *arena, size_t room)
{
    return new_composite(arena, REGO_SET, room);
}

/* Make room for one more item or member. */
static bool
grow_composite(struct rego_arena *arena, struct rego_value *value)
{
    if (value->count < value->room)
        return true;
    size_t room = value->room > 0 ? (size_t) value->room * 2 : FIRST_ROOM;
    size_t each = value->type == REGO_OBJECT ? sizeof(struct rego_member) : sizeof(void *);
    void *larger = room <= UINT32_MAX ? rego_take_unset(arena, room * each) : NULL;
    if (larger == NULL) {
        arena->full = true;
        return false;
    }
    if (value->count > 0)
        memcpy(larger, value->item, value->count * each);
    value->item = larger;
    value->room = (uint32_t) room;
    return true;
}

/* Compare two keys as rego_compare() does. Most are texts, and most of those differ in their first
 * octet; an empty text has its NUL there. */
static inline int
compare_keys(const struct rego_value *a, const struct rego_value *b)
{
    if (a->type != REGO_STRING || b->type != REGO_STRING)
        return rego_compare(a, b);
    if (a->text[0] != b->text[0])
        return (unsigned char) a->text[0] < (unsigned char) b->text[0] ? -1 : 1;
    int order = memcmp(a->text, b->text, a->count < b->count ? a->count : b->count);
    return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* Return the place of an item in a set or of a key in an object, or where it would stand. */
static uint32_t
find_place(const struct rego_value *in, const struct rego_value *wanted, bool *ret_there)
{
    uint32_t low = 0, high = in->count;
    *ret_there = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct rego_value *at =
            in->type == REGO_OBJECT ? in->member[middle].key : in->item[middle];
        int order = compare_keys(at, wanted);
        if (order == 0) {
            *ret_there = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Count the values within an item. False: there are too many; arena->full is set. */
static bool
count_nodes(struct rego_arena *arena, struct rego_value *in, const struct rego_value *item)
{
    uint32_t more = 1 + (item->type >= REGO_ARRAY ? item->nodes : 0);
    if (more > REGO_NODES_MAX - in->nodes) {
        arena->full = true;
        return false;
    }
    in->nodes += more;
    in->traits |= item->traits;
    return true;
}

bool
rego_append(struct rego_arena *arena, struct rego_value *array, const struct rego_value *item)
{
    if (item == NULL || !count_nodes(arena, array, item) || !grow_composite(arena, array))
        return false;
    array->item[array->count++] = item;
    return true;
}

bool
rego_add(struct rego_arena *arena, struct rego_value *set, const struct rego_value *item)
{
    bool there;
    if (item == NULL)
        return false;
    uint32_t at = find_place(set, item, &there);
    if (there) {
        arena->twins = arena->twins || rego_is_spelled_otherwise(set->item[at], item);
        return true;
    }
    if (!count_nodes(arena, set, item) || !grow_composite(arena, set))
        return false;
    memmove(&set->item[at + 1], &set->item[at], (set->count - at) * sizeof(set->item[0]));
    set->item[at] = item;
    set->count++;
    return true;
}

bool
rego_insert(struct rego_arena *arena, struct rego_value *object, const struct rego_value *key,
            const struct rego_value *value)
{
    bool there;
    if (key == NULL || value == NULL)
        return false;
    uint32_t at = find_place(object, key, &there);
    /* A value that grows is inserted again after each change. */
    bool same = there && object->member[at].value == value;
    if (same)
        object->traits |= value->traits;
    else if (!count_nodes(arena, object, value))
        return false;
    if (!there) {
        if (!grow_composite(arena, object))
            return false;
        if (!count_nodes(arena, object, key))
            return false;
        memmove(&object->member[at + 1], &object->member[at],
                (object->count - at) * sizeof(object->member[0]));
        object->member[at].key = key;
        object->count++;
    } else if (rego_is_spelled_otherwise(object->member[at].key, key)) {
        arena->twins = true;
    }
    object->member[at].value = value;
    return true;
}

bool
rego_append_member(struct rego_arena *arena, struct rego_value *object,
                   const struct rego_value *key, const struct rego_value *value)
{
    if (key == NULL || value == NULL || !count_nodes(arena, object, key)
        || !count_nodes(arena, object, value) || !grow_composite(arena, object))
        return false;
    object->member[object->count++] = (struct rego_member){key, value};
    return true;
}

static int
value_compare_members(const void *a, const void *b)
{
    return rego_compare(((const struct rego_member *) a)->key,
                        ((const struct rego_member *) b)->key);
}

/* Sort a few members. False: a key is there twice. */
static bool
insert_sorted(struct rego_member *member, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct rego_member moved = member[i];
        uint32_t at = i;
        int order = 1;
        while (at > 0 && (order = compare_keys(moved.key, member[at - 1].key)) < 0) {
            member[at] = member[at - 1];
            at--;
        }
        if (order == 0)
            return false;
        member[at] = moved;
    }
    return true;
}

bool
rego_sort_members(struct rego_value *object)
{
    if (object->count <= INSERTION_MAX)
        return insert_sorted(object->member, object->count);
    qsort(object->member, object->count, sizeof(object->member[0]), value_compare_members);
    for (uint32_t i = 1; i < object->count; i++)
        if (rego_compare(object->member[i - 1].key, object->member[i].key) == 0)
            return false;
    return true;
}

struct rego_value *
rego_copy(struct rego_arena *arena, const struct rego_value *value)
{
    struct rego_value *copy = rego_take_unset(arena, sizeof(*copy));
    if (copy == NULL)
        return NULL;
    *copy = *value;
    copy->open = copy->literal = false;
    if (value->type < REGO_ARRAY)
        return copy;
    size_t each = value->type == REGO_OBJECT ? sizeof(struct rego_member) : sizeof(void *);
    /* Room for one more, which is what a copy is usually for. */
    copy->room = value->count + 1;
    copy->item = rego_take_unset(arena, copy->room * each);
    if (copy->item == NULL)
        return NULL;
    if (value->count > 0)
        memcpy(copy->item, value->item, value->count * each);
    return copy;
}

const struct rego_value *
rego_get(const struct rego_value *value, const struct rego_value *key)
{
    bool there;
    uint32_t at;
    int64_t index;
    switch ((enum rego_type) value->type) {
    case REGO_ARRAY:
        if (key->type != REGO_NUMBER || !rego_is_integer(key, &index) || index < 0
            || index >= value->count)
            return NULL;
        return value->item[index];
    case REGO_OBJECT:
        at = find_place(value, key, &there);
        return there ? value->member[at].value : NULL;
    case REGO_SET:
        at = find_place(value, key, &there);
        return there ? value->item[at] : NULL;
    default:
        return NULL;
    }
}

const struct rego_value *
rego_key(const struct rego_value *object, const struct rego_value *key)
{
    bool there;
    uint32_t at = find_place(object, key, &there);
    return there ? object->member[at].key : NULL;
}

const struct rego_value *
rego_get_text(const struct rego_value *object, const char *key)
{
    const struct rego_value wanted = {
        .type = REGO_STRING, .count = (uint32_t) strlen(key), .text = key};
    return object->type == REGO_OBJECT ? rego_get(object, &wanted) : NULL;
}

bool
rego_has(const struct rego_value *set, const struct rego_value *item)
{
    bool there;
    find_place(set, item, &there);
    return there;
}

const struct rego_value *
rego_merge(struct rego_arena *arena, const struct rego_value *base, const struct rego_value *over)
{
    if (base->type != REGO_OBJECT || over->type != REGO_OBJECT) {
        if (rego_compare(base, over) == 0 && rego_is_spelled_otherwise(base, over))
            arena->twins = true;
        return over;
    }
    struct rego_value *merged = rego_object(arena, (size_t) base->count + over->count);
    for (uint32_t i = 0, k = 0; merged != NULL && (i < base->count || k < over->count);) {
        const struct rego_member *before = &base->member[i], *member = &over->member[k];
        int order = i >= base->count   ? 1
                    : k >= over->count ? -1
                                       : rego_compare(before->key, member->key);
        if (order == 0 && rego_is_spelled_otherwise(before->key, member->key))
            arena->twins = true;
        const struct rego_value *value = order == 0
                                             ? rego_merge(arena, before->value, member->value)
                                         : order < 0 ? before->value
                                                     : member->value;
        if (!rego_append_member(arena, merged, order <= 0 ? before->key : member->key, value))
            return NULL;
        i += order <= 0;
        k += order >= 0;
    }
    return merged;
}

bool
rego_is_integer(const struct rego_value *value, int64_t *ret)
{
    if (value->type != REGO_NUMBER)
        return false;
    if (value->decimal)
        return number_is_integer(value, ret);
    *ret = value->integer;
    return true;
}
