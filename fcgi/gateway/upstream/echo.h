/*
 * Answers of upstreams that repeat the credential of their request. A caller must never see it: he
 * could use it at the upstream without the gateway. Each octet of it becomes an asterisk, so the
 * length of the body, and JSON, stay what they were. Nothing here knows HTTP.
 *
 * This covers an upstream that repeats what it got, as debugging pages and error messages do,
 * whichever of its octets the encoder of the answer escapes (escape.h). An upstream that wants to
 * give the credential away can encode it in a way that this search does not find.
 */
#ifndef AZ_GATEWAY_UPSTREAM_ECHO_H
#define AZ_GATEWAY_UPSTREAM_ECHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <talloc.h>

#include "gateway/upstream/upstream_call.h"

/* Shortest text that is searched for, in octets. A shorter one would be found by chance, and
 * changing an answer by chance is worse than showing a password of a few letters. */
#define ECHO_MIN 16
/* Texts that are searched for: two, each itself and as base64 and base64url at three offsets. */
#define ECHO_TEXTS 14
/* Octets that an octet of a text may take on average, with its escapes. What is held back of a
 * stream depends on it; \\u002B, seven, is the longest that encoders write for each octet. */
#define ECHO_STRETCH 12
/* Steps of comparing that each octet of an answer allows, and that may be saved up. Without a
 * limit, an upstream whose token and answer are thousands of times the same letter would keep a
 * worker busy for minutes. Where no steps are left, all is masked that may be a text. */
#define ECHO_STEPS 2
#define ECHO_STEPS_MAX (1 << 20)
/* The first octets of a comparison, which may agree by chance, cost no steps; an escape costs more
 * than an octet. */
#define ECHO_CHANCE 8
#define ECHO_ESCAPE_STEPS 6
/* Readings of an answer that are followed at once. A text has several if it has octets that begin
 * escapes, such as backslashes, itself. */
#define ECHO_READINGS 16
/* Longest piece that echo_feed() works on at once, in octets; longer pieces are cut. */
#define ECHO_PIECE 16384

/* The texts of one credential, and the octets that could be the beginning of one. */
struct echo {
    char *text[ECHO_TEXTS]; /* secrets */
    size_t length[ECHO_TEXTS];
    size_t texts;
    bool begins[256];          /* octets that a text or an escape begins with */
    unsigned char pairs[8192]; /* bits: pairs of octets that a text may begin with */
    size_t room;               /* octets that may be held */
    char *window;              /* held octets, then room for a piece; secret */
    size_t held;
    size_t masked; /* of the held octets, those that belong to a text */
    int64_t steps; /* that may be taken */
    bool found;    /* a text was masked */
};

/*
 * Make a search for a credential: the value as it is sent without the scheme before it, and
 * `plain`, if not NULL, of which the value was made (the password of Basic); each also as base64
 * makes it within another text. *ret is NULL if no text has ECHO_MIN octets. False: no memory.
 */
bool echo_make(TALLOC_CTX *mem, const char *value, const char *plain, struct echo **ret);

/* Mask what a header field repeats, in place; at its end ECHO_MIN octets or more of a text too. */
void echo_mask(struct echo *echo, char *text, size_t length);

/* Pass the octets of a body on with the credential masked. At most the beginning of a text is held
 * back, so an event of a stream is never late. Return false if the sink stops the transfer. */
bool echo_feed(struct echo *echo, const struct upstream_sink *sink, const void *octets,
               size_t length);

/* Pass on what was held: the body has ended. ECHO_MIN octets or more of a text are masked too. */
bool echo_end(struct echo *echo, const struct upstream_sink *sink);

#endif
