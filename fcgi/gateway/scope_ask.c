#include "config.h"

#include "gateway/scope_ask.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "oauth/parameters/audience.h"

static void
append_scopes(struct jsonx_build *scopes, const json_t *more)
{
    size_t index;
    json_t *scope;
    json_array_foreach (more, index, scope)
        jsonx_append(scopes, json_incref(scope));
}

/* Append the scopes of the tools, or of the routes of the proxy, that are served. */
static void
append_served(struct jsonx_build *scopes, const struct managed_resource *resource,
              enum gateway_place place)
{
    for (size_t i = 0; place == GATEWAY_MCP && i < resource->tools; i++)
        if (resource->tool[i].served)
            append_scopes(scopes, resource->tool[i].scopes);
    for (size_t i = 0; place != GATEWAY_MCP && i < resource->routes; i++)
        if (resource->route[i].enabled)
            append_scopes(scopes, resource->route[i].scopes);
}

static json_t *
once(TALLOC_CTX *mem, const struct jsonx_build *scopes)
{
    return jsonx_built(scopes) != NULL ? words_array_once(mem, scopes->value) : NULL;
}

json_t *
scope_ask_resource(TALLOC_CTX *mem, const struct managed_resource *resource,
                   enum gateway_place place, bool all)
{
    struct jsonx_build scopes = {jsonx_own(mem, json_array()), false};
    jsonx_append(&scopes, json_string(resource->default_scope != NULL ? resource->default_scope
                                                                      : GATEWAY_BASE_SCOPE));
    if (all)
        append_served(&scopes, resource, place);
    return once(mem, &scopes);
}

json_t *
scope_ask_resources(TALLOC_CTX *mem, const struct managed_resource *const *resource, size_t count,
                    bool all)
{
    struct jsonx_build scopes = {jsonx_own(mem, json_array()), false};
    jsonx_append(&scopes, json_string(GATEWAY_BASE_SCOPE));
    for (size_t i = 0; i < count; i++) {
        if (resource[i]->tools > 0 && resource[i]->default_scope != NULL)
            jsonx_append(&scopes, json_string(resource[i]->default_scope));
        if (all)
            append_served(&scopes, resource[i], GATEWAY_MCP);
    }
    return once(mem, &scopes);
}

char *
scope_ask_text(TALLOC_CTX *mem, const json_t *scopes)
{
    BUF_AUTO text;
    size_t index;
    const json_t *scope;
    buf_init(&text, mem, SCOPE_ASK_MAX);
    buf_append_text(&text, "");
    json_array_foreach (scopes, index, scope) {
        const char *word = json_string_value(scope);
        if (text.len + strlen(word) + 1 > SCOPE_ASK_MAX)
            break;
        buf_append_format(&text, "%s%s", index > 0 ? " " : "", word);
    }
    return buf_take(&text, NULL);
}
