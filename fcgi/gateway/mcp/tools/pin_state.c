#include "config.h"

#include "gateway/mcp/tools/pin_state.h"

#include "base/json/jsonx.h"

const char *
pin_text(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

enum managed_pin
pin_status(const json_t *tool)
{
    const char *word = pin_text(json_object_get(tool, "pin"), "status");
    return word != NULL ? managed_pin_of(word) : MANAGED_PIN_NONE;
}

/* A pin without the member `approved` belongs to a tool that is unchanged since its approval, or
 * was never approved. */
struct pin_state
pin_state_of(const json_t *tool)
{
    const json_t *pin = json_object_get(tool, "pin");
    struct pin_state ret = {.status = pin_status(tool),
                            .seen = pin_text(pin, "sha256"),
                            .approved = pin_text(pin, "approved"),
                            .seen_at = pin_text(pin, "seenAt"),
                            .approved_at = pin_text(pin, "approvedAt"),
                            .approved_by = pin_text(pin, "approvedBy"),
                            .approved_text = json_object_get(pin, "approvedText")};
    if (ret.approved == NULL
        && (ret.status == MANAGED_PIN_APPROVED || ret.status == MANAGED_PIN_MISSING))
        ret.approved = ret.seen;
    return ret;
}

json_t *
pin_state_json(const struct pin_state *pin, const char *now)
{
    return json_pack("{s:s,s:s*,s:s,s:s,s:s*,s:s*,s:O*}", "sha256", pin->seen, "approved",
                     pin->approved, "status", managed_pin_word(pin->status), "seenAt",
                     pin->seen_at != NULL ? pin->seen_at : now, "approvedAt", pin->approved_at,
                     "approvedBy", pin->approved_by, "approvedText", pin->approved_text);
}

json_t *
pin_description(TALLOC_CTX *mem, const json_t *tool)
{
    static const char *const members[] = {"title", "description", "inputSchema", "outputSchema",
                                          "upstreamAnnotations"};
    struct jsonx_build text = {jsonx_own(mem, json_object()), false};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(tool, members[i]);
        if (value != NULL)
            jsonx_set(&text, members[i], json_incref(value));
    }
    return jsonx_built(&text);
}
