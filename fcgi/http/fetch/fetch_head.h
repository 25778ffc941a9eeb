/* Reading the head of another server's answer. */
#ifndef AZ_HTTP_FETCH_FETCH_HEAD_H
#define AZ_HTTP_FETCH_FETCH_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longest head of one exchange, in octets, with interim answers and trailers. Real ones are under 8
 * kB; without a limit a server could send header lines forever. */
#define FETCH_HEAD_MAX 16384
/* Room for a media type (RFC 6838 4.2: two names of at most 127 octets) and the NUL. */
#define FETCH_TYPE_SIZE 256

/* Room for a WWW-Authenticate and the NUL; real ones are under 1 kB. */
#define FETCH_CHALLENGE_SIZE 2049

struct fetch_head {
    size_t octets;                      /* so far */
    bool open;                          /* the lines belong to the answer and not to a trailer */
    bool typed;                         /* there was a Content-Type */
    char content_type[FETCH_TYPE_SIZE]; /* lower case, without parameters; "": absent, or several */
    char challenge[FETCH_CHALLENGE_SIZE]; /* the first WWW-Authenticate; "": absent, or longer */
    int64_t retry_after;                  /* seconds of Retry-After; 0: absent, or a date */
    int64_t max_age;                      /* as in fetch_answer; starts with -1 at a status line */
};

/* Take one line with its line end. False: the head is longer than FETCH_HEAD_MAX. */
bool fetch_head_line(struct fetch_head *head, const char *line, size_t length);

/* True for application/json and application/ANYTHING+json (RFC 6839 3.1), in lower case. */
bool fetch_type_is_json(const char *type);

#endif
