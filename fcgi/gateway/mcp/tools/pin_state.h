/* The pin of a stored tool: what the upstream said last, what was approved, and what follows. */
#ifndef AZ_GATEWAY_MCP_TOOLS_PIN_STATE_H
#define AZ_GATEWAY_MCP_TOOLS_PIN_STATE_H

#include <jansson.h>

#include "managed/managed.h"

struct pin_state {
    enum managed_pin status;
    const char *seen;     /* hash of what the upstream said last, or NULL */
    const char *approved; /* hash of what was approved, or NULL */
    const char *seen_at;
    const char *approved_at;     /* or NULL: never, or before times were kept */
    const char *approved_by;     /* label of the key or person, or NULL: the first sync did */
    const json_t *approved_text; /* what describes the tool as it was approved, while the upstream
                                    says something else; or NULL */
};

/* Return a text of a tool or of its pin, or NULL. */
const char *pin_text(const json_t *object, const char *member);

/* Return the status of the pin of a stored tool; MANAGED_PIN_NONE without a pin. */
enum managed_pin pin_status(const json_t *tool);

/* Read the pin of a stored tool. Everything lives as long as the tool. */
struct pin_state pin_state_of(const json_t *tool);

/* Return the member `pin` of a tool, a new reference; NULL: no memory. `now` is the time of a pin
 * that says none. */
json_t *pin_state_json(const struct pin_state *pin, const char *now);

/* Return the members that describe a stored tool to agents, on mem, for approved_text; NULL: no
 * memory. */
json_t *pin_description(TALLOC_CTX *mem, const json_t *tool);

#endif
