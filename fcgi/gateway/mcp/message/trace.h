/* The trace context of a caller (W3C Trace Context, MCP 2026-07-28, "Trace context"), which is
 * passed on to upstreams. Baggage is not: it may hold anything. */
#ifndef AZ_GATEWAY_MCP_MESSAGE_TRACE_H
#define AZ_GATEWAY_MCP_MESSAGE_TRACE_H

struct mcp_exchange;

struct mcp_trace {
    const char *parent; /* traceparent, well-formed, or NULL without a context */
    const char *state;  /* tracestate, or NULL */
};

/* Return the trace context of a request, from `_meta`, else from the header fields. A context whose
 * traceparent is malformed is ignored. */
struct mcp_trace mcp_trace_of(const struct mcp_exchange *it);

#endif
