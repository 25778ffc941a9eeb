/* The status machine of managed resources (gateway-admin.md 3.4). */
#include "config.h"

#include "managed/status.h"
#include "tap.h"

#define P MANAGED_PENDING
#define A MANAGED_ACTIVE
#define D MANAGED_DEGRADED
#define E MANAGED_ERROR
#define X MANAGED_DISABLED

int
main(void)
{
    static const struct {
        enum managed_upstream upstream;
        enum managed_event event;
        bool many;
        enum managed_status next[4]; /* of pending, active, degraded, error */
        const char *rule;
    } rows[] = {
        {MANAGED_REST,
         MANAGED_SAVED,                        false,
         {P, A, D, P},
         "a save lets a resource in error be tried again"                                        },
        {MANAGED_REST,
         MANAGED_PROBE_OK,                     false,
         {A, A, A, P},
         "a good probe makes it active; after an error it has to be tried"                       },
        {MANAGED_REST,
         MANAGED_CALL_OK,                      false,
         {A, A, A, E},
         "the first good answer makes it active"                                                 },
        {MANAGED_REST,   MANAGED_CALL_FAILED,  false, {P, A, D, E}, "one failure changes nothing"},
        {MANAGED_REST,
         MANAGED_CALL_FAILED,                  true,
         {P, D, D, E},
         "three within 60 seconds degrade it"                                                    },
        {MANAGED_REST,   MANAGED_PROBE_FAILED, true,  {P, D, D, E}, "... so do failed probes"    },
        {MANAGED_REST,   MANAGED_CALL_REFUSED, false, {P, A, D, E}, "one 401 changes nothing"    },
        {MANAGED_REST,
         MANAGED_CALL_REFUSED,                 true,
         {P, D, D, E},
         "three degrade it, and other callers are served"                                        },
        {MANAGED_REST,
         MANAGED_AUTH_REFUSED,                 false,
         {E, E, E, E},
         "a token endpoint that refuses this service is an error"                                },
        {MANAGED_REST,
         MANAGED_BROKEN,                       false,
         {E, E, E, E},
         "so is a configuration that does not work any more"                                     },
        {MANAGED_MCP,    MANAGED_SYNC_OK,      false, {A, A, A, A}, "a sync makes it active"     },
        {MANAGED_MCP,
         MANAGED_SYNC_CHANGED,                 false,
         {D, D, D, D},
         "tools that wait for approval degrade it"                                               },
        {MANAGED_MCP,    MANAGED_SYNC_FAILED,  false, {P, D, D, E}, "so does a sync that fails"  },
        {MANAGED_MCP,    MANAGED_REDIRECTED,   false, {P, D, D, E}, "M2: so does a redirect"     },
        {MANAGED_MCP,
         MANAGED_PROBE_OK,                     false,
         {P, A, A, P},
         "without a sync an MCP resource has no tools to serve"                                  },
        {MANAGED_STATIC, MANAGED_SAVED,        false, {A, A, A, A}, "STATIC is active at once"   },
        {MANAGED_STATIC, MANAGED_CALL_FAILED,  true,  {A, A, A, A}, "... and stays so"           },
    };
    static const enum managed_status from[] = {P, A, D, E};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t j = 0; j < 4; j++) {
            struct managed_state state = {.status = from[j],
                                          .upstream = rows[i].upstream,
                                          .enabled = true,
                                          .complete = true,
                                          .many = rows[i].many};
            enum managed_status next = managed_next_status(&state, rows[i].event);
            is_str(managed_status_word(next), managed_status_word(rows[i].next[j]), "%s: from %s",
                   rows[i].rule, managed_status_word(from[j]));
            if (next != from[j])
                ok(managed_event_is_news(&state, rows[i].event), "... and it is news");
            state.complete = false;
            ok(managed_next_status(&state, rows[i].event) == P, "... incomplete, it is pending");
            state.enabled = false;
            ok(managed_next_status(&state, rows[i].event) == X, "... not enabled, it is disabled");
        }

    struct managed_state state = {
        .status = X, .upstream = MANAGED_REST, .enabled = true, .complete = true};
    ok(managed_next_status(&state, MANAGED_SAVED) == P, "enabled again, it is tried again");
    state.status = A;
    ok(!managed_event_is_news(&state, MANAGED_CALL_OK), "a good call of an active one is no news");
    ok(managed_event_is_news(&state, MANAGED_CALL_FAILED), "a failed one counts");
    state.status = D;
    ok(!managed_event_is_news(&state, MANAGED_CALL_FAILED),
       "a failed call of a degraded one costs no write");
    state.waiting = true;
    ok(managed_next_status(&state, MANAGED_CALL_OK) == D,
       "it stays degraded while tools wait for approval");
    ok(!managed_event_is_news(&state, MANAGED_CALL_OK), "... and its calls cost no write");
    for (int i = 0; i < MANAGED_STATUSES; i++)
        ok((int) managed_status_of(managed_status_word(i)) == i, "%s is read back",
           managed_status_word(i));
    ok(managed_status_of("gone") == P, "an unknown word is pending");
    return done();
}
