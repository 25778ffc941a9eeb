#include "config.h"

#include "policy/rows/cedar_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_failures.h"
#include "base/utf8.h"
#include "cedar/read.h"
#include "cedar/rego.h"
#include "policy/rows/data_key.h"

#define CEDAR_DATA_ROOT "svc.cedar_data"

/* Entities of a cycle that its message names; more are left out. */
#define CYCLE_SHOWN 10

/* Octets of a type or an id that a message shows. */
#define SHOWN_MAX 100

bool
cedar_data_holds_entities(const char *data_key)
{
    size_t root = strlen(CEDAR_DATA_ROOT);
    return policy_name_lies_in(data_key, CEDAR_DATA_ROOT) && data_key[root] == '.'
           && strchr(data_key + root + 1, '.') == NULL && strcmp(data_key + root + 1, "types") != 0;
}

/* States of the search for cycles. */
enum visit {
    NOT_VISITED,
    ON_THE_WAY, /* an entity of the path from the start to where the search is */
    VISITED,    /* its ancestors have no cycle */
};

/* An entity and its place in the rows. */
struct placed {
    struct cedar_entity entity; /* its ancestors are its parents */
    size_t row, index;
    enum visit visit;
    size_t next; /* parent that the search takes next */
    size_t from; /* previous entity of the search */
};

/* A union that is being made. */
struct cedar_union {
    TALLOC_CTX *mem;
    const struct cedar_data_row *row;
    size_t rows;
    const char *data_key;  /* row whose failures are listed, or NULL */
    struct placed *placed; /* the entities that could be read */
    size_t count;
    struct schema_failures failures;
    bool unfit; /* there is a failure, listed or not */
};

/* Record a failure of a member of an entity, of the whole entity or (place NULL) of the row. */
static void
fail_at(struct cedar_union *all, size_t row, const size_t *place, const char *member,
        const char *message)
{
    const struct schema_place item = {.index = place != NULL ? *place : 0},
                              part = {.up = &item, .name = member};
    all->unfit = true;
    if (all->data_key != NULL && strcmp(all->row[row].data_key, all->data_key) == 0)
        schema_fail(&all->failures, place == NULL ? NULL : member != NULL ? &part : &item, message);
}

/* Return the octets of a text that a message shows. */
static int
shown_length(const struct cedar_text *text)
{
    return (int) utf8_start(text->at, text->length < SHOWN_MAX ? text->length : SHOWN_MAX);
}

/* Return an entity as a policy writes it. */
static const char *
shown_uid(TALLOC_CTX *mem, const struct cedar_uid *uid)
{
    return talloc_asprintf(mem, "%.*s::\"%.*s\"", shown_length(&uid->type), uid->type.at,
                           shown_length(&uid->id), uid->id.at);
}

/* True for a name of Cedar: A::B. */
static bool
is_type_name(const struct cedar_text *type)
{
    static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
    size_t i = 0, start = 0;
    for (;;) {
        while (i < type->length
               && (memchr(first, type->at[i], sizeof(first) - 1) != NULL
                   || (i > start && type->at[i] >= '0' && type->at[i] <= '9')))
            i++;
        if (i == start || i == type->length)
            return i > start;
        if (type->length - i < 2 || type->at[i] != ':' || type->at[i + 1] != ':')
            return false;
        start = i += 2;
    }
}

/* ---- reading ---- */

static void
read_placed(struct cedar_union *all, size_t row, size_t index, const struct cedar_json *json)
{
    struct cedar_reader reader = {.mem = all->mem};
    struct placed *placed = &all->placed[all->count];
    struct cedar_entity *entity = &placed->entity;
    *placed = (struct placed){.row = row, .index = index};
    bool fine = json->kind == CEDAR_JSON_OBJECT && cedar_read_entity(&reader, json, entity);
    if (!fine) {
        fail_at(all, row, &index, NULL,
                *reader.why != '\0' ? talloc_strdup(all->mem, reader.why) : "is not an object");
        return;
    }
    for (size_t i = 0; i < json->count; i++)
        if (!cedar_text_is(json->name[i], "uid") && !cedar_text_is(json->name[i], "attrs")
            && !cedar_text_is(json->name[i], "parents") && !cedar_text_is(json->name[i], "tags"))
            fail_at(all, row, &index, NULL, "has a member other than uid, attrs, parents and tags");
    if (!is_type_name(&entity->uid.type))
        fail_at(all, row, &index, "uid", "the type of an entity is a name as A::B");
    for (size_t i = 0; i < entity->ancestors; i++)
        if (!is_type_name(&entity->ancestor[i].type))
            fail_at(all, row, &index, "parents", "the type of an entity is a name as A::B");
    all->count++;
}

/* Read the entities of a row. False: no memory. */
static bool
read_placed_row(struct cedar_union *all, size_t row)
{
    const char *text = all->row[row].payload;
    struct cedar_json list;
    struct cedar_fault fault;
    if (!cedar_json_parse(all->mem, text, strlen(text), &list, &fault)
        || list.kind != CEDAR_JSON_ARRAY) {
        fail_at(all, row, NULL, NULL, "must be a list of entities");
        return true;
    }
    all->placed = talloc_realloc(all->mem, all->placed, struct placed, all->count + list.count + 1);
    for (size_t i = 0; all->placed != NULL && i < list.count; i++)
        read_placed(all, row, i, &list.child[i]);
    return all->placed != NULL;
}

/* ---- entities that are there twice ---- */

static int
compare_placed(const struct placed *one, const struct placed *other)
{
    int order = cedar_text_compare(one->entity.uid.type, other->entity.uid.type);
    return order != 0 ? order : cedar_text_compare(one->entity.uid.id, other->entity.uid.id);
}

static int
placed_by_uid(const void *a, const void *b)
{
    return compare_placed(a, b);
}

static void
fail_twice(struct cedar_union *all, const struct placed *one, const struct placed *other)
{
    fail_at(all, one->row, &one->index, "uid",
            talloc_asprintf(all->mem, "%s is also in %s/%zu", shown_uid(all->mem, &one->entity.uid),
                            all->row[other->row].data_key, other->index));
}

static void
find_twice(struct cedar_union *all)
{
    if (all->count > 1)
        qsort(all->placed, all->count, sizeof(*all->placed), placed_by_uid);
    for (size_t i = 1; i < all->count; i++) {
        if (compare_placed(&all->placed[i - 1], &all->placed[i]) != 0)
            continue;
        fail_twice(all, &all->placed[i - 1], &all->placed[i]);
        fail_twice(all, &all->placed[i], &all->placed[i - 1]);
    }
}

/* ---- entities that are their own ancestors ---- */

/* Return the place of an entity of the rows, or the number of them. */
static size_t
find_placed(const struct cedar_union *all, const struct cedar_uid *uid)
{
    const struct placed wanted = {.entity = {.uid = *uid}},
                        *found = bsearch(&wanted, all->placed, all->count, sizeof(wanted),
                                         placed_by_uid);
    return found != NULL ? (size_t) (found - all->placed) : all->count;
}

/* Record the cycle that ends with a step from `last` to `first`, at each of its entities. */
static void
fail_cycle(struct cedar_union *all, size_t first, size_t last)
{
    const char *text = shown_uid(all->mem, &all->placed[first].entity.uid);
    size_t shown = 0;
    for (size_t i = last;; i = all->placed[i].from) {
        if (shown++ < CYCLE_SHOWN)
            text = talloc_asprintf(all->mem, "%s in %s",
                                   shown_uid(all->mem, &all->placed[i].entity.uid), text);
        if (i == first)
            break;
    }
    if (shown > CYCLE_SHOWN)
        text = talloc_asprintf(all->mem, "... in %s", text);
    for (size_t i = last;; i = all->placed[i].from) {
        fail_at(all, all->placed[i].row, &all->placed[i].index, "parents",
                talloc_asprintf(all->mem, "is a cycle: %s", text));
        if (i == first)
            break;
    }
}

/* Follow the parents of an entity until there are none left to visit. A chain may be as long as the
 * rows, so this is no recursion. */
static void
find_cycles_from(struct cedar_union *all, size_t start)
{
    size_t at = start;
    all->placed[start].visit = ON_THE_WAY;
    all->placed[start].from = all->count;
    while (at != all->count) {
        struct placed *here = &all->placed[at];
        if (here->next == here->entity.ancestors) {
            here->visit = VISITED;
            at = here->from;
            continue;
        }
        size_t parent = find_placed(all, &here->entity.ancestor[here->next++]);
        if (parent == all->count)
            continue;
        if (all->placed[parent].visit == ON_THE_WAY)
            fail_cycle(all, parent, at);
        if (all->placed[parent].visit != NOT_VISITED)
            continue;
        all->placed[parent].visit = ON_THE_WAY;
        all->placed[parent].from = at;
        at = parent;
    }
}

/* ---- the union ---- */

/* Return the entities as the bundle has them. NULL: there is a failure, or no memory. */
static char *
write_united(struct cedar_union *all)
{
    struct cedar_entities entities = {.count = all->count};
    entities.entity = talloc_array(all->mem, struct cedar_entity, all->count + 1);
    if (entities.entity == NULL)
        return NULL;
    for (size_t i = 0; i < all->count; i++)
        entities.entity[i] = all->placed[i].entity;
    const char *why = cedar_entities_close(all->mem, &entities);
    if (why == NULL)
        return cedar_rego_entities(all->mem, &entities);
    for (size_t i = 0; i < all->rows; i++)
        fail_at(all, i, NULL, NULL, why);
    return NULL;
}

enum az_status
cedar_data_unite(TALLOC_CTX *mem, const struct cedar_data_row *row, size_t rows,
                 const char *data_key, char **ret_text, json_t **ret_failures)
{
    struct cedar_union all = {
        .mem = talloc_new(mem), .row = row, .rows = rows, .data_key = data_key};
    all.failures = (struct schema_failures){.mem = all.mem, .list = jsonx_own(mem, json_array())};
    bool fine = all.mem != NULL && all.failures.list != NULL;
    for (size_t i = 0; fine && i < rows; i++)
        fine = read_placed_row(&all, i);
    if (fine && !all.unfit)
        find_twice(&all);
    for (size_t i = 0; fine && !all.unfit && i < all.count; i++)
        if (all.placed[i].visit == NOT_VISITED)
            find_cycles_from(&all, i);
    char *text = fine && !all.unfit ? write_united(&all) : NULL;
    bool lost = !fine || all.failures.out_of_memory || (text == NULL && !all.unfit);
    if (text != NULL)
        *ret_text = talloc_steal(mem, text);
    else if (!lost)
        *ret_failures = all.failures.list;
    talloc_free(all.mem);
    return lost ? AZ_SERVER_ERROR : text != NULL ? AZ_OK : AZ_INVALID;
}
