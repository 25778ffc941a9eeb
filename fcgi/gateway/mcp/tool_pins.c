#include "config.h"

#include "gateway/mcp/tool_pins.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "managed/canonical.h"
#include "managed/document.h"
#include "managed/names.h"

/* Octets of a pin in a document, and what stands around a tool. */
#define PIN_OCTETS 200

/* The state of one merge. */
struct merge {
    TALLOC_CTX *mem;
    const json_t *stored;
    const char *now;
    bool first;    /* true if this is the first sync */
    bool pinned;   /* a tool that is kept has a pin */
    json_t *taken; /* object: exposed names */
    size_t octets; /* of the tools that are kept */
    struct jsonx_build tools, added, changed, removed;
    struct tool_merge *ret;
};

static const char *
mcp_text_of(const json_t *tool, const char *member)
{
    return json_string_value(json_object_get(tool, member));
}

static enum managed_pin
pin_of(const json_t *tool)
{
    const char *word = mcp_text_of(json_object_get(tool, "pin"), "status");
    return word != NULL ? managed_pin_of(word) : MANAGED_PIN_NONE;
}

/* Return the name that a stored tool has at the upstream. */
static const char *
upstream_name(const json_t *tool)
{
    const char *name = mcp_text_of(tool, "upstreamName");
    return name != NULL ? name : mcp_text_of(tool, "name");
}

static json_t *
find_stored(const json_t *stored, const char *name)
{
    size_t index;
    json_t *tool;
    json_array_foreach (stored, index, tool) {
        const char *stored_name = upstream_name(tool);
        if (stored_name != NULL && strcmp(stored_name, name) == 0)
            return tool;
    }
    return NULL;
}

static bool
waits(enum managed_pin pin)
{
    return pin == MANAGED_PIN_NEW || pin == MANAGED_PIN_CHANGED;
}

/* True if a tool can stand in a stored document. One that cannot would make all of it unreadable.
 */
static bool
is_storable(struct merge *m, json_t *tool)
{
    TALLOC_CTX *scratch = talloc_new(m->mem);
    json_t *document = jsonx_own(
        scratch, json_pack("{s:s,s:s,s:s,s:[O]}", "name", "x", "displayName", "x", "upstreamType",
                           managed_upstream_word(MANAGED_MCP), "tools", tool));
    const char *text = jsonx_dump(scratch, tool);
    struct managed_resource resource;
    const struct managed_reading reading = {.mem = scratch, .document = document};
    size_t length = text != NULL ? strlen(text) + PIN_OCTETS : TOOL_PINS_OCTETS_MAX;
    bool good = document != NULL && m->octets + length < TOOL_PINS_OCTETS_MAX
                && managed_read(&reading, &resource) == AZ_OK;
    talloc_free(scratch);
    m->octets += good ? length : 0;
    return good;
}

/* Reserve the exposed name of a tool. False: another tool has it. */
static bool
take_name(struct merge *m, const json_t *tool)
{
    const char *exposed = managed_exposed_name(m->mem, NULL, mcp_text_of(tool, "name"));
    return exposed != NULL && json_object_get(m->taken, exposed) == NULL
           && json_object_set_new(m->taken, exposed, json_true()) == 0;
}

/* Add a tool with its pin to the result. Takes the reference. */
static void
keep_tool(struct merge *m, json_t *tool, enum managed_pin pin, const char *sha256,
          const char *seen_at)
{
    struct jsonx_build kept = {tool, tool == NULL};
    if (tool != NULL)
        jsonx_set(&kept, "pin",
                  json_pack("{s:s,s:s,s:s}", "sha256", sha256, "status", managed_pin_word(pin),
                            "seenAt", seen_at));
    m->tools.lost |= kept.lost;
    m->pinned = true;
    if (tool != NULL)
        jsonx_append(&m->tools, tool);
    m->ret->waiting += waits(pin);
}

/* Return a stored tool, or a new one, with the description that the upstream gives: a new
 * reference. */
static json_t *
described_tool(const json_t *stored, const json_t *seen)
{
    static const char *const members[] = {"title", "description", "inputSchema", "outputSchema"};
    json_t *tool = stored != NULL ? json_copy((json_t *) (uintptr_t) stored)
                                  : json_pack("{s:s,s:b,s:s}", "name", mcp_text_of(seen, "name"),
                                              "enabled", 1, "origin", "upstream");
    struct jsonx_build build = {tool, tool == NULL};
    if (tool == NULL)
        return NULL;
    jsonx_set(&build, "upstreamName", json_string(mcp_text_of(seen, "name")));
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(seen, members[i]);
        if (value != NULL)
            jsonx_set(&build, members[i], json_incref(value));
        else
            json_object_del(tool, members[i]);
    }
    if (build.lost)
        json_decref(tool);
    return build.lost ? NULL : tool;
}

static void
append_name(struct jsonx_build *names, const json_t *tool)
{
    jsonx_append(names, json_string(mcp_text_of(tool, "name")));
}

/* Merge one tool of the upstream. */
static void
merge_seen(struct merge *m, const json_t *seen)
{
    const json_t *stored = find_stored(m->stored, mcp_text_of(seen, "name"));
    const char *before = mcp_text_of(json_object_get(stored, "pin"), "sha256");
    enum managed_pin pin = pin_of(stored);
    char sha256[MANAGED_PIN_SIZE];
    bool same;
    json_t *tool;
    if (!managed_pin_hash(m->mem, seen, sha256)) {
        m->tools.lost = true;
        return;
    }
    same = before != NULL && strcmp(before, sha256) == 0;
    if (m->first)
        pin = MANAGED_PIN_APPROVED;
    else if (stored == NULL || pin == MANAGED_PIN_NONE)
        pin = MANAGED_PIN_NEW;
    else if (!same && pin != MANAGED_PIN_NEW)
        pin = MANAGED_PIN_CHANGED;
    else if (pin == MANAGED_PIN_MISSING)
        pin = MANAGED_PIN_APPROVED;
    tool = described_tool(stored, seen);
    if (tool != NULL
        && (json_array_size(m->tools.value) == TOOL_PINS_MAX || !is_storable(m, tool)
            || !take_name(m, tool))) {
        m->ret->left_out++;
        json_decref(tool);
        return;
    }
    if (before == NULL || pin_of(stored) == MANAGED_PIN_MISSING)
        append_name(&m->added, seen);
    else if (!same)
        append_name(&m->changed, seen);
    keep_tool(m, tool, pin, sha256, m->now);
}

/*
 * Keep what the operator said about a tool that the upstream no longer has: it may come back. Tools
 * that were waiting, or for which there is no room, are forgotten. The last pin stays: otherwise an
 * upstream that shows no tools for a moment would get those approved that had to wait.
 */
static void
merge_missing(struct merge *m, json_t *tool, const json_t *seen)
{
    const json_t *pin = json_object_get(tool, "pin");
    const char *name = upstream_name(tool), *sha256 = mcp_text_of(pin, "sha256");
    bool known = pin_of(tool) != MANAGED_PIN_NONE && sha256 != NULL;
    bool last = waits(pin_of(tool)) && known && !m->pinned;
    if (name == NULL || find_stored(seen, name) != NULL)
        return;
    if (pin_of(tool) != MANAGED_PIN_MISSING && known && !last)
        jsonx_append(&m->removed, json_string(name));
    if ((waits(pin_of(tool)) && !last) || json_array_size(m->tools.value) == TOOL_PINS_MAX
        || !is_storable(m, tool) || !take_name(m, tool))
        return;
    if (known)
        keep_tool(m, json_copy(tool), last ? pin_of(tool) : MANAGED_PIN_MISSING, sha256,
                  mcp_text_of(pin, "seenAt") != NULL ? mcp_text_of(pin, "seenAt") : m->now);
    else
        jsonx_append(&m->tools, json_incref(tool));
}

static bool
was_never_synced(const json_t *stored)
{
    size_t index;
    const json_t *tool;
    json_array_foreach (stored, index, tool)
        if (pin_of(tool) != MANAGED_PIN_NONE)
            return false;
    return true;
}

enum az_status
tool_pins_merge(TALLOC_CTX *mem, const json_t *stored, const json_t *seen, const char *now,
                struct tool_merge *ret)
{
    struct merge m = {
        .mem = mem,
        .stored = stored,
        .now = now,
        .first = was_never_synced(stored),
        .taken = jsonx_own(mem, json_object()),
        .tools = {jsonx_own(mem, json_array()), false},
        .added = {jsonx_own(mem, json_array()), false},
        .changed = {jsonx_own(mem, json_array()), false},
        .removed = {jsonx_own(mem, json_array()), false},
        .ret = ret,
    };
    size_t index;
    json_t *tool;
    *ret = (struct tool_merge){.waiting = 0};
    if (m.taken == NULL)
        return AZ_SERVER_ERROR;
    json_array_foreach (seen, index, tool)
        merge_seen(&m, tool);
    json_array_foreach (stored, index, tool)
        merge_missing(&m, tool, seen);
    ret->tools = jsonx_built(&m.tools);
    ret->added = jsonx_built(&m.added);
    ret->changed = jsonx_built(&m.changed);
    ret->removed = jsonx_built(&m.removed);
    return ret->tools != NULL && ret->added != NULL && ret->changed != NULL && ret->removed != NULL
               ? AZ_OK
               : AZ_SERVER_ERROR;
}

static json_t *
find_named(const json_t *tools, const char *name)
{
    size_t index;
    json_t *tool;
    json_array_foreach (tools, index, tool)
        if (mcp_text_of(tool, "name") != NULL && strcmp(mcp_text_of(tool, "name"), name) == 0)
            return tool;
    return NULL;
}

enum az_status
tool_pins_approve(TALLOC_CTX *mem, const json_t *stored, const char *name, const char *sha256,
                  json_t **ret, size_t *ret_waiting)
{
    json_t *tools = jsonx_own(mem, json_deep_copy(stored)), *pin;
    const json_t *tool;
    size_t index;
    if (stored == NULL || find_named(stored, name) == NULL)
        return AZ_NOT_FOUND;
    if (tools == NULL)
        return AZ_SERVER_ERROR;
    tool = find_named(tools, name);
    pin = json_object_get(tool, "pin");
    if (pin_of(tool) == MANAGED_PIN_NONE || pin_of(tool) == MANAGED_PIN_MISSING)
        return AZ_CONFLICT;
    if (sha256 != NULL
        && (mcp_text_of(pin, "sha256") == NULL || strcmp(mcp_text_of(pin, "sha256"), sha256) != 0))
        return AZ_CONFLICT;
    if (json_object_set_new(pin, "status", json_string(managed_pin_word(MANAGED_PIN_APPROVED)))
        != 0)
        return AZ_SERVER_ERROR;
    *ret = tools;
    *ret_waiting = 0;
    json_array_foreach (tools, index, tool)
        *ret_waiting += waits(pin_of(tool));
    return AZ_OK;
}
