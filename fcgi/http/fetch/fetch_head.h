/* What is read of the head of a foreign server's answer. */
#ifndef AZ_HTTP_FETCH_FETCH_HEAD_H
#define AZ_HTTP_FETCH_FETCH_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Octets of all header lines of one exchange: interim answers and trailers too. Those of real ones
 * are under 8 kB; without a limit a server could send them for ever. */
#define FETCH_HEAD_MAX 16384
/* Octets of a media type (RFC 6838 4.2: two names of 127 at most) and the NUL. */
#define FETCH_TYPE_SIZE 256

struct fetch_head {
    size_t octets;                      /* so far */
    bool open;                          /* the lines belong to the answer: not to a trailer */
    bool typed;                         /* there was a Content-Type */
    char content_type[FETCH_TYPE_SIZE]; /* without parameters, in lower case; "" if none, or several
                                         */
    int64_t max_age;                    /* as fetch_answer's; start with -1 through a status line */
};

/* Takes one line, its end included. False: there are more octets than FETCH_HEAD_MAX. */
bool fetch_head_line(struct fetch_head *head, const char *line, size_t length);

/* application/json and application/ANYTHING+json (RFC 6839 3.1), in lower case. */
bool fetch_type_is_json(const char *type);

#endif
