#include "config.h"

#include "gateway/mcp/message/nulls.h"

#include <string.h>

#include "base/words.h"

/* Answers of a person: their reader refuses null, so that none is taken for a new call. */
#define ANSWERS "inputResponses"

/* Members whose values are data, in which null is a value. */
static const char *const data_members[] = {
    "structuredContent", "arguments", "_meta", "inputSchema", "outputSchema", "data", "input",
    "metadata",          NULL};

/* Remove the null members below a value, which is nested at most JSON_RPC_DEPTH_MAX levels deep. */
static void
drop_below(json_t *value)
{
    const char *name;
    size_t index;
    json_t *member;
    void *next;
    json_array_foreach (value, index, member)
        drop_below(member);
    json_object_foreach_safe (value, next, name, member) {
        if (strcmp(name, ANSWERS) == 0)
            continue;
        if (json_is_null(member))
            json_object_del(value, name);
        else if (!words_has(data_members, name))
            drop_below(member);
    }
}

void
nulls_drop(json_t *message)
{
    static const char *const parts[] = {"params", "result", "error"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        json_t *part = json_object_get(message, parts[i]);
        if (json_is_null(part))
            json_object_del(message, parts[i]);
        else
            drop_below(part);
    }
}
