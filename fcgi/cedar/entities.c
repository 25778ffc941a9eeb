#include "config.h"

#include "cedar/entities.h"

#include <stdlib.h>

static int
compare_uid(const struct cedar_uid *a, const struct cedar_uid *b)
{
    int order = cedar_text_compare(a->type, b->type);
    return order != 0 ? order : cedar_text_compare(a->id, b->id);
}

static int
by_uid(const void *a, const void *b)
{
    return compare_uid(a, b);
}

static int
entity_by_uid(const void *a, const void *b)
{
    const struct cedar_entity *one = a, *other = b;
    return compare_uid(&one->uid, &other->uid);
}

static struct cedar_entity *
find(const struct cedar_entities *entities, const struct cedar_uid *uid)
{
    const struct cedar_entity wanted = {.uid = *uid};
    return entities->count > 0
               ? bsearch(&wanted, entities->entity, entities->count, sizeof(wanted), entity_by_uid)
               : NULL;
}

const struct cedar_entity *
cedar_entity_find(const struct cedar_entities *entities, const struct cedar_uid *uid)
{
    return find(entities, uid);
}

_Static_assert(CEDAR_ANCESTORS_MAX == 1000000, "a text below names the limit");

/* Uids that are ancestors, in the order in which they were met. */
struct closure {
    struct cedar_uid *uid;
    size_t count;
};

/* Add the parents of an entity. `seen` has a mark for each entity of the file, so that a cycle
 * ends; parents that are not in the file may be added twice. The mark is a number of this closure
 * alone. */
static bool
add_parents(TALLOC_CTX *mem, const struct cedar_entities *entities, const struct cedar_entity *from,
            const struct closure *parents, size_t *seen, size_t mark, struct closure *ret)
{
    const struct closure *own = &parents[from - entities->entity];
    struct cedar_uid *uid =
        talloc_realloc(mem, ret->uid, struct cedar_uid, ret->count + own->count + 1);
    if (uid == NULL)
        return false;
    ret->uid = uid;
    for (size_t i = 0; i < own->count; i++) {
        const struct cedar_entity *parent = find(entities, &own->uid[i]);
        if (parent != NULL && seen[parent - entities->entity] == mark)
            continue;
        if (parent != NULL)
            seen[parent - entities->entity] = mark;
        uid[ret->count++] = own->uid[i];
    }
    return true;
}

/* Replace the parents of an entity by all its ancestors, sorted. */
static bool
close_entity(TALLOC_CTX *mem, const struct cedar_entities *entities, struct cedar_entity *entity,
             const struct closure *parents, size_t *seen)
{
    struct closure above = {NULL, 0};
    size_t mark = (size_t) (entity - entities->entity) + 1;
    bool fine = add_parents(mem, entities, entity, parents, seen, mark, &above);
    for (size_t i = 0; fine && i < above.count && i < CEDAR_ANCESTORS_MAX; i++) {
        const struct cedar_entity *next = find(entities, &above.uid[i]);
        if (next != NULL)
            fine = add_parents(mem, entities, next, parents, seen, mark, &above);
    }
    if (fine && above.count > 1)
        qsort(above.uid, above.count, sizeof(*above.uid), by_uid);
    entity->ancestor = above.uid;
    entity->ancestors = above.count;
    return fine;
}

const char *
cedar_entities_close(TALLOC_CTX *mem, struct cedar_entities *entities)
{
    struct closure *parents = talloc_array(mem, struct closure, entities->count);
    size_t *seen = talloc_zero_array(mem, size_t, entities->count), ancestors = 0;
    bool fine = parents != NULL && seen != NULL;
    if (entities->count > 1)
        qsort(entities->entity, entities->count, sizeof(*entities->entity), entity_by_uid);
    for (size_t i = 1; i < entities->count; i++)
        if (entity_by_uid(&entities->entity[i - 1], &entities->entity[i]) == 0)
            return "an entity is there twice";
    for (size_t i = 0; fine && i < entities->count; i++)
        parents[i] = (struct closure){entities->entity[i].ancestor, entities->entity[i].ancestors};
    for (size_t i = 0; fine && i < entities->count && ancestors <= CEDAR_ANCESTORS_MAX; i++) {
        fine = close_entity(mem, entities, &entities->entity[i], parents, seen);
        ancestors += entities->entity[i].ancestors;
    }
    if (ancestors > CEDAR_ANCESTORS_MAX)
        return "the entities together have more than 1000000 ancestors";
    return fine ? NULL : "out of memory";
}

bool
cedar_entity_in(const struct cedar_entities *entities, const struct cedar_uid *uid,
                const struct cedar_uid *above)
{
    if (cedar_uid_equal(uid, above))
        return true;
    const struct cedar_entity *entity = cedar_entity_find(entities, uid);
    return entity != NULL && entity->ancestors > 0
           && bsearch(above, entity->ancestor, entity->ancestors, sizeof(*above), by_uid) != NULL;
}
