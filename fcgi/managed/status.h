/* The status machine of a managed resource (gateway-admin.md 3.4). */
#ifndef AZ_MANAGED_STATUS_H
#define AZ_MANAGED_STATUS_H

#include "managed/managed.h"

/* Failures within this time make a resource degraded. */
#define MANAGED_FAILURES 3
#define MANAGED_FAILURES_SECONDS 60

/* The beginning of the statusReason of a resource whose upstream redirects; attention is kept by
 * it. */
#define MANAGED_REDIRECTS "The upstream redirects to "

enum managed_event {
    MANAGED_SAVED,        /* created or replaced; complete as the resource says */
    MANAGED_PROBE_OK,     /* the upstream answered a probe */
    MANAGED_PROBE_FAILED, /* it did not */
    MANAGED_CALL_OK,      /* it answered a call */
    MANAGED_CALL_FAILED,  /* it did not, or its answer was a failure */
    MANAGED_CALL_REFUSED, /* a caller's request with the shared credential was refused with 401 */
    MANAGED_AUTH_REFUSED, /* the first sync was refused with 401, the token endpoint refused this
                             service, or there is no credential */
    MANAGED_SYNC_OK,      /* its tools were read, and none waits for approval */
    MANAGED_SYNC_CHANGED, /* its tools were read, and some wait for approval */
    MANAGED_SYNC_FAILED,  /* its tools could not be read */
    MANAGED_REDIRECTED,   /* an MCP server redirects: upstreamUrl is not its address */
    MANAGED_BROKEN,       /* the stored document is not valid any more, or discovery is broken */
    MANAGED_EVENTS
};

/* The facts that decide the next status. */
struct managed_state {
    enum managed_status status;
    enum managed_upstream upstream;
    bool enabled;
    bool complete; /* nothing is missing */
    bool waiting;  /* tools of its upstream wait for approval */
    bool many;     /* with this event there were MANAGED_FAILURES within their time */
};

/* Return the status after an event. */
enum managed_status managed_next_status(const struct managed_state *state,
                                        enum managed_event event);

/* True if the event has to be written: it may change the status, or counts as a failure that may.
 * Most calls change nothing. */
bool managed_event_is_news(const struct managed_state *state, enum managed_event event);

/* True if the event counts among the MANAGED_FAILURES. */
bool managed_event_is_failure(enum managed_event event);

/* True if the reason of the event replaces that of the same status, unless the status is
 * MANAGED_ERROR: it says what to change. */
bool managed_event_tells(enum managed_event event);

/* Return the statusReason of an event, or NULL if it needs no reason. */
const char *managed_event_reason(enum managed_event event);

/* Return the statusReason of a pending resource that lacks nothing. */
const char *managed_pending_reason(enum managed_upstream upstream);

#endif
