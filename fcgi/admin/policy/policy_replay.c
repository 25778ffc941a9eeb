#include "config.h"

#include "admin/policy/policy_replay.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"

/* True for the members that ask.c adds to an answer of the engine. */
static bool
is_of_engine(const char *name)
{
    static const char *const names[] = {"revision", "engine", "eval_us", NULL};
    return words_has(names, name);
}

static bool
says_nothing(const json_t *value)
{
    return value == NULL || json_is_null(value) || json_is_false(value)
           || (json_is_array(value) && json_array_size(value) == 0)
           || (json_is_object(value) && json_object_size(value) == 0);
}

/* Add the members of this answer that differ from the other answer. `again`: skip members that both
 * answers have, because the first call added them. */
static bool
add_changes(json_t *changes, const json_t *one, const json_t *other, bool again)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) one, name, value) {
        const json_t *there = json_object_get(other, name);
        bool empty = strcmp(name, "allow") != 0 && says_nothing(value) && says_nothing(there);
        if (is_of_engine(name) || empty || (again && there != NULL) || json_equal(value, there))
            continue;
        if (json_array_append_new(changes, json_string(name)) != 0)
            return false;
    }
    return true;
}

json_t *
policy_replay_changes(TALLOC_CTX *mem, const json_t *before, const json_t *after)
{
    json_t *changes = jsonx_own(mem, json_array());
    if (changes == NULL)
        return NULL;
    if (json_is_object(before) && json_is_object(after))
        return add_changes(changes, after, before, false)
                       && add_changes(changes, before, after, true)
                   ? changes
                   : NULL;
    return json_equal(before, after) || json_array_append_new(changes, json_string("")) == 0
               ? changes
               : NULL;
}
