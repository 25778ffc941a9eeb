/* Entities, and the question that is asked about them. */
#ifndef AZ_CEDAR_ENTITIES_H
#define AZ_CEDAR_ENTITIES_H

#include "cedar/value.h"

/* Most ancestors of all entities together. The ancestors of a long chain or a wide lattice of
 * parents grow with the square of its length. A million are about 60 MB of the bundle. */
#define CEDAR_ANCESTORS_MAX 1000000

struct cedar_entity {
    struct cedar_uid uid;
    struct cedar_value attributes; /* record */
    struct cedar_value tags;       /* record */
    struct cedar_uid *ancestor;    /* of the file the parents; after cedar_entities_close() all */
    size_t ancestors;
};

struct cedar_entities {
    struct cedar_entity *entity; /* sorted by uid */
    size_t count;
};

struct cedar_request {
    struct cedar_value variable[4]; /* by enum cedar_variable; the last one is a record */
};

/* Sort the entities, and make the parents of parents ancestors. Return NULL, or the reason of a
 * refusal: an entity occurs twice, there are more than CEDAR_ANCESTORS_MAX ancestors, or no memory.
 */
const char *cedar_entities_close(TALLOC_CTX *mem, struct cedar_entities *entities);

/* Return an entity, or NULL. */
const struct cedar_entity *cedar_entity_find(const struct cedar_entities *entities,
                                             const struct cedar_uid *uid);

/* True if one is the other or below it. */
bool cedar_entity_in(const struct cedar_entities *entities, const struct cedar_uid *uid,
                     const struct cedar_uid *above);

#endif
