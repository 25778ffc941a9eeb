/*
 * Reading the head of an upstream's answer: what may be passed on to the caller. A hostile upstream
 * must not be able to set cookies, give commands to our web server, or split our answer in two
 * (gateway-admin.md 3.2).
 */
#ifndef AZ_GATEWAY_UPSTREAM_HEAD_H
#define AZ_GATEWAY_UPSTREAM_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "gateway/upstream/upstream_call.h"

/* Longest head of one exchange, in octets, with interim answers and trailers. Usual ones are under
 * 8 kB; without a limit an upstream could send header lines forever. */
#define UPSTREAM_HEAD_MAX 32768

/* A head while it is read. Start with all zero but mem. */
struct upstream_head {
    TALLOC_CTX *mem;                /* owns the texts of the answer */
    struct upstream_answer *answer; /* status, fields, content type, announced */
    const char *fault;              /* why it is refused, or NULL */
    size_t octets;                  /* read so far */
    bool open;                      /* a status line was read and no empty line since */
    bool interim;                   /* the open answer is a 1xx */
    bool complete; /* the head of the final answer is complete; lines after it are a trailer and are
                      ignored */
    bool http10;   /* the answer is of HTTP/1.0 */
    bool coded;    /* it has a Transfer-Encoding */
    char *hops;    /* names in Connection, ",name,name,", in lower case */
};

/* Take one line with its line end. False: the head is refused, head->fault says why: longer than
 * UPSTREAM_HEAD_MAX, more than UPSTREAM_FIELDS_MAX fields, not the grammar of RFC 9112, a control
 * character, a folded line, or a length of the body that two readers could understand differently
 * (RFC 9112 6.3). */
bool upstream_head_line(struct upstream_head *head, const char *line, size_t length);

#endif
