/*
 * Answers of upstreams that repeat the credential of their request. A caller must never see it: he
 * could use it at the upstream without the gateway. Each octet of it becomes an asterisk, so the
 * length of the body, and JSON, stay what they were. Nothing here knows HTTP.
 *
 * This covers an upstream that repeats what it got, as debugging pages and error messages do. An
 * upstream that wants to give the credential away can encode it in a way that this search does not
 * find.
 */
#ifndef AZ_GATEWAY_UPSTREAM_ECHO_H
#define AZ_GATEWAY_UPSTREAM_ECHO_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "gateway/upstream/call.h"

/* Shortest text that is searched for, in octets. Shorter ones would be found by chance, and
 * changing an answer by chance is worse than showing a password of a few letters. */
#define ECHO_MIN 16
/* Forms of a credential that are searched for: of two texts each itself, five escapes, and base64
 * and base64url at three offsets. */
#define ECHO_TEXTS 24
/* Longest piece that echo_feed() works on at once, in octets; longer ones are cut. */
#define ECHO_PIECE 16384

/* The texts of one credential, and the octets that could be the beginning of one. */
struct echo {
    char *text[ECHO_TEXTS]; /* secrets */
    size_t length[ECHO_TEXTS];
    size_t texts;
    size_t longest;
    char *window; /* held octets, then room for a piece; secret */
    size_t held;
    bool found; /* one was masked */
};

/*
 * Make a search for a credential: the value as it is sent without the scheme before it, and
 * `plain`, if not NULL, of which the value was made (the password of Basic); each also with the
 * escapes of JSON and of addresses, and as base64 makes it within another text. *ret is NULL if no
 * text has ECHO_MIN octets. False: no memory.
 */
bool echo_make(TALLOC_CTX *mem, const char *value, const char *plain, struct echo **ret);

/* Mask what a header field repeats, in place. */
void echo_mask(struct echo *echo, char *text, size_t length);

/* Pass the octets of a body on with the credential masked. At most the beginning of a text is held
 * back, so an event of a stream is never late. Return false if the sink stops the transfer. */
bool echo_feed(struct echo *echo, const struct upstream_sink *sink, const void *octets,
               size_t length);

/* Pass on what was held: the body has ended. ECHO_MIN octets or more of a text are masked too. */
bool echo_end(struct echo *echo, const struct upstream_sink *sink);

#endif
