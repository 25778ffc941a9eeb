#include "config.h"

#include "managed/managed.h"

#include <string.h>

#include "managed/names.h"

static const char *const upstreams[MANAGED_UPSTREAMS] = {
    [MANAGED_REST] = "REST",
    [MANAGED_MCP] = "MCP",
    [MANAGED_STATIC] = "STATIC",
};
static const char *const statuses[MANAGED_STATUSES] = {
    [MANAGED_PENDING] = "pending", [MANAGED_ACTIVE] = "active",     [MANAGED_DEGRADED] = "degraded",
    [MANAGED_ERROR] = "error",     [MANAGED_DISABLED] = "disabled",
};
static const char *const pins[MANAGED_PINS] = {
    [MANAGED_PIN_NONE] = "none",       [MANAGED_PIN_APPROVED] = "approved",
    [MANAGED_PIN_NEW] = "new",         [MANAGED_PIN_CHANGED] = "changed",
    [MANAGED_PIN_MISSING] = "missing",
};

static const char *const tool_lists[MANAGED_LISTS] = {
    [MANAGED_LIST_AUTO] = "auto",
    [MANAGED_LIST_ALL] = "all",
    [MANAGED_LIST_SEARCH] = "search",
};

/* Return the place of a word in a list; 0 if it is not there. */
static unsigned
place_of_word(const char *const *words, unsigned count, const char *word)
{
    for (unsigned i = 0; word != NULL && i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return 0;
}

const char *
managed_upstream_word(enum managed_upstream upstream)
{
    return upstreams[upstream];
}

const char *
managed_status_word(enum managed_status status)
{
    return statuses[status];
}

const char *
managed_pin_word(enum managed_pin pin)
{
    return pins[pin];
}

enum managed_upstream
managed_upstream_of(const char *word)
{
    return place_of_word(upstreams, MANAGED_UPSTREAMS, word);
}

enum managed_status
managed_status_of(const char *word)
{
    return place_of_word(statuses, MANAGED_STATUSES, word);
}

enum managed_pin
managed_pin_of(const char *word)
{
    return place_of_word(pins, MANAGED_PINS, word);
}

enum managed_tool_list
managed_tool_list_of(const char *word)
{
    return place_of_word(tool_lists, MANAGED_LISTS, word);
}

/* True if the pin lets a tool of an MCP upstream be served. */
static bool
pin_lets_pass(const struct managed_resource *resource, enum managed_pin pin)
{
    if (resource->upstream != MANAGED_MCP || pin == MANAGED_PIN_APPROVED)
        return true;
    return resource->pinning == MANAGED_PINNING_WARN
           && (pin == MANAGED_PIN_NEW || pin == MANAGED_PIN_CHANGED);
}

bool
managed_tool_is_served(const struct managed_resource *resource, const struct managed_tool *tool)
{
    return tool->enabled && (tool->route == NULL || tool->route->enabled)
           && pin_lets_pass(resource, tool->pin)
           && managed_filter(resource->tool_include, resource->tool_exclude, tool->name);
}

bool
managed_tools_wait(const struct managed_resource *resource)
{
    for (size_t i = 0; i < resource->tools; i++)
        if (resource->tool[i].pin == MANAGED_PIN_NEW
            || resource->tool[i].pin == MANAGED_PIN_CHANGED)
            return true;
    return false;
}
