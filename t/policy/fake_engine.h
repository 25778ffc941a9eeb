/* A policy engine on a UNIX socket that answers with the octets a test wrote. */
#ifndef AZ_T_POLICY_FAKE_ENGINE_H
#define AZ_T_POLICY_FAKE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <talloc.h>

/* Behaviour of the engine for one request. */
struct reply {
    const char *text; /* octets of the whole HTTP answer */
    size_t length;    /* how many of them are sent */
    size_t piece;     /* octets sent at a time; 0: all at once */
    long pause_ms;    /* before each piece */
    int gate;         /* socket; before each further piece an octet is awaited there, and one is
                         written after it; 0: no socket */
    bool keep;        /* the connection stays open; else it is closed after the last octet */
    bool endless;     /* the text is sent again and again, until the caller goes away */
};

struct fake_engine {
    const char *url;  /* unix:PATH, for engine_new() */
    const char *seen; /* file in which the last request is found, head and body */
    int listener;     /* socket */
    pid_t server;     /* the process that answers, 0 when none runs */
};

/* Return a socket that is bound and listens; no server answers yet. Freed with mem, server
 * included. */
struct fake_engine *fake_engine_new(TALLOC_CTX *mem);

/* Answer the next `count` requests in a new process; end the server before it. */
void fake_engine_serve(struct fake_engine *fake, const struct reply *replies, size_t count);

/* Return the last request as text on mem, "" if there was none. */
const char *fake_engine_seen(TALLOC_CTX *mem, const struct fake_engine *fake);

/* Return a whole answer: status line, Content-Length and body. */
const char *fake_engine_answer(TALLOC_CTX *mem, const char *status, const char *body);

#endif
