/* A gateway for tests: variables and a body in, the answer's octets out. */
#ifndef AZ_T_HTTP_FAKE_IO_H
#define AZ_T_HTTP_FAKE_IO_H

#include "http/route.h"

struct fake {
    struct http_io io;      /* hand this to dispatch() or set it as req->io */
    TALLOC_CTX *mem;        /* owns what follows */
    const char *const *set; /* NAME, VALUE, ..., NULL: the gateway variables */
    const char *body;       /* request body */
    size_t body_length;   /* octets that can be read; less than CONTENT_LENGTH is a broken upload */
    size_t body_read;     /* octets read so far */
    char **given;         /* copies that were handed out, freed by finish as libfcgi does */
    size_t given_count;   /* of them */
    char *answer;         /* what was written, NUL-terminated */
    size_t answer_length; /* octets */
    unsigned finished;    /* calls of finish */
    unsigned cuts;        /* times that the connection was broken off */
};

/* Make a gateway; `set` and `body` must outlive it. */
struct fake *fake_new(TALLOC_CTX *mem, const char *const *set, const char *body);

/* Return the status of the answer's Status header; 0 if there is none. */
int fake_status(const struct fake *fake);

/* Return the value of a header of the answer (NULL: absent), and the number of its lines. */
const char *fake_header(const struct fake *fake, const char *name);
unsigned fake_header_count(const struct fake *fake, const char *name);

/* Return the text after the empty line; NULL if there is no empty line. */
const char *fake_body(const struct fake *fake);

/* Make a request for a parser of parameters: its route accepts these, and nothing was read yet. */
struct request *fake_request(TALLOC_CTX *mem, const struct fake *fake,
                             const struct route_param *params);

#endif
