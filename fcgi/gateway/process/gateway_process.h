/* State that the gateway keeps in a process beyond a request. */
#ifndef AZ_GATEWAY_PROCESS_GATEWAY_PROCESS_H
#define AZ_GATEWAY_PROCESS_GATEWAY_PROCESS_H

struct relay_line;
struct calls;
struct places;
struct upstreams;
struct peer_memory;
struct verdict_memory;

/* Made with the struct az of a process; its members, when they are first needed. */
struct gateway_process {
    struct relay_line *relay;        /* hands streams over; NULL: this process holds none */
    struct calls *calls;             /* calls that can be cancelled, or NULL */
    struct places *room;             /* for requests to upstreams (upstream/room.h), or NULL */
    struct upstreams *upstreams;     /* connections to upstreams, or NULL */
    struct peer_memory *peers;       /* what is known about upstream MCP servers, or NULL */
    struct verdict_memory *verdicts; /* what lists of tools showed, or NULL */
};

#endif
