/* Entities and requests from JSON, in the format of Cedar's own tools. */
#ifndef AZ_CEDAR_READ_H
#define AZ_CEDAR_READ_H

#include "cedar/entities.h"
#include "cedar/json.h"

/* Size of the reason of a refusal, in octets. */
#define CEDAR_WHY_MAX 256

/* The state of one reading. Set mem, and `typed` for values that come with a schema. */
struct cedar_reader {
    TALLOC_CTX *mem;
    /* A record with exactly the members type and id, both strings, is an entity, as it is with a
     * schema that says so. Schemas are not read. */
    bool typed;
    char why[CEDAR_WHY_MAX]; /* reason of a refusal */
};

/*
 * Read a list of entities: {"uid": {"type", "id"}, "attrs": {...}, "parents": [...], "tags":
 * {...}}. A value is JSON, or {"__entity": {"type", "id"}}, or {"__extn": {"fn", "arg"}}. False:
 * `why` says what is wrong: null and numbers that are no Long have no value in Cedar.
 */
bool cedar_read_entities(struct cedar_reader *reader, const struct cedar_json *json,
                         struct cedar_entities *ret);

/* Read one entity, whose ancestors are then its parents. */
bool cedar_read_entity(struct cedar_reader *reader, const struct cedar_json *json,
                       struct cedar_entity *ret);

/* Read {"principal", "action", "resource": {"type", "id"} or User::"alice", "context": {...}}. */
bool cedar_read_request(struct cedar_reader *reader, const struct cedar_json *json,
                        struct cedar_request *ret);

#endif
