#include "config.h"

#include "gateway/mcp/tools/tool_pins.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/tools/described_tool.h"
#include "gateway/mcp/tools/pin_state.h"
#include "managed/canonical.h"
#include "managed/document.h"
#include "managed/merge.h"
#include "managed/names.h"

/* Octets of a pin in a document, and of the syntax around a tool. */
#define PIN_OCTETS 300

/* The state of one merge. */
struct merge {
    TALLOC_CTX *mem;
    const char *now;
    bool first; /* no sync was stored before */
    const char *resource;
    size_t name_max; /* SVC_GATEWAY_TOOL_NAME_MAX */
    json_t *taken;   /* object: exposed names, alone and with the resource */
    size_t octets;   /* of the tools that are kept, those that are still to be merged included */
    struct jsonx_build tools, added, changed, removed;
    struct tool_merge *ret;
};

static json_t *
find_named(const json_t *tools, const char *name)
{
    size_t index;
    json_t *tool;
    json_array_foreach (tools, index, tool)
        if (pin_text(tool, "name") != NULL && strcmp(pin_text(tool, "name"), name) == 0)
            return tool;
    return NULL;
}

static bool
waits(enum managed_pin pin)
{
    return pin == MANAGED_PIN_NEW || pin == MANAGED_PIN_CHANGED;
}

static size_t
octets_of(TALLOC_CTX *mem, const json_t *tool)
{
    const char *text = jsonx_dump(mem, tool);
    return text != NULL ? strlen(text) + PIN_OCTETS : TOOL_PINS_OCTETS_MAX;
}

/* True if a tool fits into a stored document. A tool that does not would make the whole document
 * unreadable. `freed`: octets of the tool that it replaces. */
static bool
is_storable(struct merge *m, json_t *tool, size_t freed)
{
    TALLOC_CTX *scratch = talloc_new(m->mem);
    json_t *document = jsonx_own(
        scratch, json_pack("{s:s,s:s,s:s,s:[O]}", "name", "x", "displayName", "x", "upstreamType",
                           managed_upstream_word(MANAGED_MCP), "tools", tool));
    struct managed_resource resource;
    const struct managed_reading reading = {.mem = scratch, .document = document};
    size_t octets = m->octets - freed + octets_of(scratch, tool);
    bool good = document != NULL && octets < TOOL_PINS_OCTETS_MAX
                && managed_read(&reading, &resource) == AZ_OK;
    talloc_free(scratch);
    if (good)
        m->octets = octets;
    return good;
}

/* Reserve the exposed names of a tool, which are cut apart. False: another tool has one of them. */
static bool
take_name(struct merge *m, const json_t *tool)
{
    struct managed_names alone, whole;
    const char *name = pin_text(tool, "name");
    managed_names_make(m->mem, m->name_max, NULL, name, &alone);
    managed_names_make(m->mem, m->name_max, m->resource, name, &whole);
    const char *const names[] = {alone.shown, alone.also, whole.shown, whole.also};
    m->tools.lost |= alone.shown == NULL || whole.shown == NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (m->tools.lost || (names[i] != NULL && json_object_get(m->taken, names[i]) != NULL))
            return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        m->tools.lost |=
            names[i] != NULL && json_object_set_new(m->taken, names[i], json_true()) != 0;
    return true;
}

/* Add a tool with its pin to the result. Takes the reference. */
static void
keep_tool(struct merge *m, json_t *tool, const struct pin_state *pin)
{
    struct jsonx_build kept = {tool, tool == NULL};
    if (tool != NULL)
        jsonx_set(&kept, "pin", pin_state_json(pin, m->now));
    m->tools.lost |= kept.lost;
    if (tool != NULL)
        jsonx_append(&m->tools, tool);
    m->ret->waiting += waits(pin->status);
}

static void
append_name(struct jsonx_build *names, const json_t *tool)
{
    jsonx_append(names, json_string(pin_text(tool, "name")));
}

/* Return the status of a tool that the upstream has. */
static enum managed_pin
status_of(const struct merge *m, const struct pin_state *pin)
{
    if (m->first || (pin->approved != NULL && strcmp(pin->approved, pin->seen) == 0))
        return MANAGED_PIN_APPROVED;
    return pin->approved == NULL && pin->status != MANAGED_PIN_CHANGED ? MANAGED_PIN_NEW
                                                                       : MANAGED_PIN_CHANGED;
}

/*
 * True if a pin from before titles were part of it still fits: nothing but its form has changed.
 * Then it gets the new form.
 */
static bool
renew_pin(struct merge *m, const json_t *stored, const json_t *seen, const char *sha256,
          struct pin_state *pin)
{
    char untitled[MANAGED_PIN_SIZE];
    json_t *without = jsonx_own(m->mem, jsonx_copy(seen));
    json_object_del(without, "title");
    if (pin->seen == NULL || !managed_pin_hash(m->mem, without, untitled)
        || strcmp(pin->seen, untitled) != 0
        || !json_equal(json_object_get(stored, "title"), json_object_get(seen, "title")))
        return false;
    if (pin->approved != NULL && strcmp(pin->approved, untitled) == 0)
        pin->approved = sha256;
    return true;
}

/*
 * Keep what the operator said about a tool that the upstream no longer has: it may come back. Only
 * a tool that was never approved and about which the operator said nothing is forgotten; it is new
 * when it comes back.
 */
static void
merge_missing(struct merge *m, json_t *tool, bool operators)
{
    struct pin_state pin = pin_state_of(tool);
    bool known = pin.status != MANAGED_PIN_NONE && pin.seen != NULL;
    if (pin.status != MANAGED_PIN_MISSING && known)
        jsonx_append(&m->removed, json_string(managed_tool_upstream_name(tool)));
    if (known && pin.approved == NULL && pin.status != MANAGED_PIN_CHANGED && !operators)
        m->octets -= octets_of(m->mem, tool);
    else if (!known)
        jsonx_append(&m->tools, json_incref(tool));
    else {
        pin.status = pin.approved != NULL ? MANAGED_PIN_MISSING : pin.status;
        keep_tool(m, jsonx_copy(tool), &pin);
    }
}

/* Keep the approved text while the upstream's text differs, so that people see what changed.
 * Without room for both, the tool is stored alone. */
static void
keep_approved_text(struct merge *m, const json_t *stored, struct pin_state *pin)
{
    struct pin_state was = pin_state_of(stored);
    bool approved = was.seen != NULL && was.approved != NULL && strcmp(was.seen, was.approved) == 0;
    if (pin->status != MANAGED_PIN_CHANGED)
        pin->approved_text = NULL;
    else if (pin->approved_text == NULL && approved)
        pin->approved_text = pin_description(m->mem, stored);
    size_t octets = pin->approved_text != NULL ? octets_of(m->mem, pin->approved_text) : 0;
    if (m->octets + octets >= TOOL_PINS_OCTETS_MAX)
        pin->approved_text = NULL;
    else
        m->octets += octets;
}

/* Merge a stored tool with what the upstream says of it now. If that cannot be stored, the tool
 * stays as it was, and is missing. */
static void
merge_known(struct merge *m, json_t *stored, const json_t *seen)
{
    struct pin_state pin = pin_state_of(stored);
    char sha256[MANAGED_PIN_SIZE];
    if (!managed_pin_hash(m->mem, seen, sha256)) {
        m->tools.lost = true;
        return;
    }
    bool same = (pin.seen != NULL && strcmp(pin.seen, sha256) == 0)
                || renew_pin(m, stored, seen, sha256, &pin);
    bool added = pin.seen == NULL || pin.status == MANAGED_PIN_MISSING;
    json_t *tool = described_tool(stored, seen);
    if (tool != NULL && !is_storable(m, tool, octets_of(m->mem, stored))) {
        json_decref(tool);
        m->ret->left_out++;
        merge_missing(m, stored, true);
        return;
    }
    pin.seen = sha256;
    pin.seen_at = m->now;
    pin.status = status_of(m, &pin);
    pin.approved = pin.status == MANAGED_PIN_APPROVED ? sha256 : pin.approved;
    if (pin.status == MANAGED_PIN_APPROVED && pin.approved_at == NULL)
        pin.approved_at = m->first ? m->now : NULL;
    keep_approved_text(m, stored, &pin);
    if (added)
        append_name(&m->added, seen);
    else if (!same)
        append_name(&m->changed, seen);
    keep_tool(m, tool, &pin);
}

/* Add a tool that was not stored before, if there is room for it. */
static void
merge_new(struct merge *m, const json_t *seen)
{
    char sha256[MANAGED_PIN_SIZE];
    struct pin_state pin = {.seen = sha256, .seen_at = m->now};
    json_t *tool = described_tool(NULL, seen);
    if (tool == NULL || !managed_pin_hash(m->mem, seen, sha256)) {
        json_decref(tool);
        m->tools.lost = true;
        return;
    }
    if (json_array_size(m->tools.value) >= TOOL_PINS_MAX || !is_storable(m, tool, 0)
        || !take_name(m, tool)) {
        m->ret->left_out++;
        json_decref(tool);
        return;
    }
    pin.status = status_of(m, &pin);
    pin.approved = pin.status == MANAGED_PIN_APPROVED ? sha256 : NULL;
    pin.approved_at = pin.status == MANAGED_PIN_APPROVED ? m->now : NULL;
    append_name(&m->added, seen);
    keep_tool(m, tool, &pin);
}

/* True if a stored tool has something that the operator said. */
static bool
is_operators(const json_t *tool)
{
    const char *name = pin_text(tool, "name"), *origin = pin_text(tool, "origin");
    return json_object_get(tool, "scopes") != NULL || json_object_get(tool, "annotations") != NULL
           || json_is_false(json_object_get(tool, "enabled")) || name == NULL
           || strcmp(name, managed_tool_upstream_name(tool)) != 0 || origin == NULL
           || strcmp(origin, "upstream") != 0;
}

/*
 * Merge the stored tools first, so that they keep their names and their room. Of two that have one
 * name today (a save refuses that; the rules were others when they were stored) both stay, and none
 * is served: to drop one would give its name to the other.
 */
static void
merge_all(struct merge *m, const json_t *stored, const json_t *seen)
{
    size_t index;
    json_t *tool;
    json_array_foreach (stored, index, tool)
        m->octets += octets_of(m->mem, tool);
    json_array_foreach (stored, index, tool) {
        const char *name = managed_tool_upstream_name(tool);
        const json_t *now = name != NULL ? find_named(seen, name) : NULL;
        if (now != NULL)
            merge_known(m, tool, now);
        else if (name != NULL)
            merge_missing(m, tool, is_operators(tool));
    }
    json_array_foreach (m->tools.value, index, tool)
        take_name(m, tool);
    json_array_foreach (seen, index, tool)
        if (managed_tool_find(stored, pin_text(tool, "name")) == NULL)
            merge_new(m, tool);
}

enum az_status
tool_pins_merge(TALLOC_CTX *mem, const struct tool_pins *before, const json_t *seen,
                const char *now, struct tool_merge *ret)
{
    struct merge m = {
        .mem = mem,
        .now = now,
        .first = !before->synced,
        .resource = before->resource,
        .name_max = before->name_max,
        .taken = jsonx_own(mem, json_object()),
        .tools = {jsonx_own(mem, json_array()), false},
        .added = {jsonx_own(mem, json_array()), false},
        .changed = {jsonx_own(mem, json_array()), false},
        .removed = {jsonx_own(mem, json_array()), false},
        .ret = ret,
    };
    *ret = (struct tool_merge){.waiting = 0};
    if (m.taken == NULL)
        return AZ_SERVER_ERROR;
    merge_all(&m, before->tools, seen);
    ret->tools = jsonx_built(&m.tools);
    ret->added = jsonx_built(&m.added);
    ret->changed = jsonx_built(&m.changed);
    ret->removed = jsonx_built(&m.removed);
    return ret->tools != NULL && ret->added != NULL && ret->changed != NULL && ret->removed != NULL
               ? AZ_OK
               : AZ_SERVER_ERROR;
}

enum az_status
tool_pins_approve(TALLOC_CTX *mem, const json_t *stored, const struct tool_approving *approving,
                  json_t **ret, size_t *ret_waiting)
{
    json_t *tools = jsonx_own(mem, jsonx_deep_copy(stored));
    json_t *tool;
    size_t index;
    if (stored == NULL || find_named(stored, approving->name) == NULL)
        return AZ_NOT_FOUND;
    if (tools == NULL)
        return AZ_SERVER_ERROR;
    tool = find_named(tools, approving->name);
    struct pin_state pin = pin_state_of(tool);
    if (pin.status == MANAGED_PIN_NONE || pin.status == MANAGED_PIN_MISSING)
        return AZ_CONFLICT;
    if (pin.seen == NULL || (approving->sha256 != NULL && strcmp(pin.seen, approving->sha256) != 0))
        return AZ_CONFLICT;
    pin.status = MANAGED_PIN_APPROVED;
    pin.approved = pin.seen;
    pin.approved_at = approving->now;
    pin.approved_by = approving->by;
    pin.approved_text = NULL;
    json_t *made = pin_state_json(&pin, approving->now);
    if (made == NULL || json_object_set_new(tool, "pin", made) != 0)
        return AZ_SERVER_ERROR;
    *ret = tools;
    *ret_waiting = 0;
    json_array_foreach (tools, index, tool)
        *ret_waiting += waits(pin_status(tool));
    return AZ_OK;
}
