#include "config.h"

#include "managed/status.h"

/* An event that leaves the status as it is. */
#define STAYS MANAGED_STATUSES

#define PENDING MANAGED_PENDING
#define ACTIVE MANAGED_ACTIVE
#define DEGRADED MANAGED_DEGRADED
#define ERROR MANAGED_ERROR

/*
 * The next status of an enabled, complete resource by event and status. A failure only counts until
 * there are many of them (the last column); DISABLED is left by a save alone. A probe carries no
 * credential, so after an error it proves only that the resource can be tried again. A caller
 * chooses the request, so a 401 of a caller's request only counts as a failure: other calls go on,
 * and the next good one makes the resource active again.
 */
/* clang-format off */
static const struct {
    enum managed_status pending, active, degraded, error;
    bool failure;       /* counts as a failure; the row applies when there are many */
    const char *reason; /* statusReason, or NULL */
} rows[MANAGED_EVENTS] = {
    /*                        pending   active    degraded  error            */
    [MANAGED_SAVED]        = {STAYS,    STAYS,    STAYS,    PENDING, false, NULL},
    [MANAGED_PROBE_OK]     = {ACTIVE,   STAYS,    ACTIVE,   PENDING, false, NULL},
    [MANAGED_PROBE_FAILED] = {STAYS,    DEGRADED, STAYS,    STAYS,   true,
                              "the upstream does not answer"},
    [MANAGED_CALL_OK]      = {ACTIVE,   STAYS,    ACTIVE,   STAYS,   false, NULL},
    [MANAGED_CALL_FAILED]  = {STAYS,    DEGRADED, STAYS,    STAYS,   true,
                              "calls to the upstream fail"},
    [MANAGED_CALL_REFUSED] = {STAYS,    DEGRADED, STAYS,    STAYS,   true,
                              "the upstream refuses the shared credential"},
    [MANAGED_AUTH_REFUSED] = {ERROR,    ERROR,    ERROR,    STAYS,   false,
                              "the shared credential is refused, or there is none"},
    [MANAGED_SYNC_OK]      = {ACTIVE,   STAYS,    ACTIVE,   ACTIVE,  false, NULL},
    [MANAGED_SYNC_CHANGED] = {DEGRADED, DEGRADED, STAYS,    DEGRADED, false,
                              "tools wait for approval; the others are served"},
    [MANAGED_SYNC_FAILED]  = {STAYS,    DEGRADED, STAYS,    STAYS,   false,
                              "the tools of the upstream cannot be read"},
    [MANAGED_REDIRECTED]   = {STAYS,    DEGRADED, STAYS,    STAYS,   false, NULL},
    [MANAGED_BROKEN]       = {ERROR,    ERROR,    ERROR,    STAYS,   false,
                              "the configuration does not work any more"},
};
/* clang-format on */

static enum managed_status
row_status(enum managed_event event, enum managed_status status)
{
    const enum managed_status next[] = {
        [MANAGED_PENDING] = rows[event].pending,
        [MANAGED_ACTIVE] = rows[event].active,
        [MANAGED_DEGRADED] = rows[event].degraded,
        [MANAGED_ERROR] = rows[event].error,
        [MANAGED_DISABLED] = STAYS,
    };
    return next[status] != STAYS ? next[status] : status;
}

enum managed_status
managed_next_status(const struct managed_state *state, enum managed_event event)
{
    enum managed_status status = state->status;
    if (!state->enabled)
        return MANAGED_DISABLED;
    if (!state->complete)
        return MANAGED_PENDING;
    if (event == MANAGED_SAVED && status == MANAGED_DISABLED)
        status = MANAGED_PENDING;
    if (state->upstream == MANAGED_STATIC)
        return event == MANAGED_BROKEN ? MANAGED_ERROR : MANAGED_ACTIVE;
    if (rows[event].failure && !state->many)
        return status;
    /* An MCP resource without tools has no use: a sync makes it active. */
    if (state->upstream == MANAGED_MCP && event == MANAGED_PROBE_OK && status == MANAGED_PENDING)
        return status;
    enum managed_status next = row_status(event, status);
    return next == MANAGED_ACTIVE && state->waiting ? MANAGED_DEGRADED : next;
}

bool
managed_event_is_failure(enum managed_event event)
{
    return rows[event].failure;
}

bool
managed_event_is_news(const struct managed_state *state, enum managed_event event)
{
    struct managed_state many = *state;
    many.many = true;
    return managed_next_status(&many, event) != state->status;
}

bool
managed_event_tells(enum managed_event event)
{
    return event == MANAGED_REDIRECTED;
}

const char *
managed_event_reason(enum managed_event event)
{
    return rows[event].reason;
}

const char *
managed_pending_reason(enum managed_upstream upstream)
{
    return upstream == MANAGED_MCP ? "a sync must read its tools"
                                   : "it is served; no call or probe has succeeded yet";
}
