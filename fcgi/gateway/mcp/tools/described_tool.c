#include "config.h"

#include "gateway/mcp/tools/described_tool.h"

#include "base/json/jsonx.h"

/* Return the upstream's annotations that MCP defines: a new reference, or NULL without any. */
static json_t *
claimed_annotations(const json_t *seen, bool *lost)
{
    static const char *const hints[] = {"readOnlyHint", "destructiveHint", "idempotentHint",
                                        "openWorldHint"};
    const json_t *given = json_object_get(seen, "annotations");
    const char *title = json_string_value(json_object_get(given, "title"));
    struct jsonx_build claimed = {json_object(), false};
    if (title != NULL)
        jsonx_set(&claimed, "title", json_string(title));
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
        if (json_is_boolean(json_object_get(given, hints[i])))
            jsonx_set(&claimed, hints[i], json_incref(json_object_get(given, hints[i])));
    *lost = jsonx_built(&claimed) == NULL;
    if (*lost || json_object_size(claimed.value) == 0) {
        json_decref(claimed.value);
        return NULL;
    }
    return claimed.value;
}

json_t *
described_tool(const json_t *stored, const json_t *seen)
{
    static const struct {
        const char *seen, *stored;
    } members[] = {
        {"title",        "title"        },
        {"description",  "description"  },
        {"inputSchema",  "inputSchema"  },
        {"outputSchema", "outputSchema" },
        {"icons",        "upstreamIcons"},
        {"_meta",        "upstreamMeta" },
    };
    json_t *tool = stored != NULL ? jsonx_copy(stored)
                                  : json_pack("{s:s,s:b,s:s}", "name",
                                              json_string_value(json_object_get(seen, "name")),
                                              "enabled", 1, "origin", "upstream");
    struct jsonx_build build = {tool, tool == NULL};
    bool lost = false;
    if (tool == NULL)
        return NULL;
    jsonx_set(&build, "upstreamName",
              json_string(json_string_value(json_object_get(seen, "name"))));
    json_t *claimed = claimed_annotations(seen, &lost);
    json_object_del(tool, "upstreamAnnotations");
    if (claimed != NULL)
        jsonx_set(&build, "upstreamAnnotations", claimed);
    build.lost = build.lost || lost;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(seen, members[i].seen);
        if (value != NULL)
            jsonx_set(&build, members[i].stored, json_incref(value));
        else
            json_object_del(tool, members[i].stored);
    }
    if (build.lost)
        json_decref(tool);
    return build.lost ? NULL : tool;
}
