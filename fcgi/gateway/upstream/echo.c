#include "config.h"

#include "gateway/upstream/echo.h"

#include <ctype.h>
#include <string.h>

#include "base/b64url.h"
#include "crypto/secret.h"
#include "gateway/upstream/escape.h"

/* ---- what is searched for */

/* Note that a text may begin with two octets. */
static void
add_pair(struct echo *echo, char first, char second)
{
    unsigned pair = (unsigned) (unsigned char) first << 8 | (unsigned char) second;
    echo->pairs[pair / 8] |= (unsigned char) (1U << pair % 8);
}

/* True if a text may begin with two octets. */
static bool
has_pair(const struct echo *echo, const char *at)
{
    unsigned pair = (unsigned) (unsigned char) at[0] << 8 | (unsigned char) at[1];
    return echo->pairs[pair / 8] >> pair % 8 & 1;
}

/* Note the pairs that a text begins with. Most octets of an answer are in none of all pairs, and
 * cost no more than a look at the table. */
static void
add_text_pairs(struct echo *echo, const char *text)
{
    echo->begins[(unsigned char) *text] = true;
    add_pair(echo, text[0], text[1]);
    for (const char *c = ESCAPE_BEGINS; *c != '\0'; c++)
        add_pair(echo, *text, *c);
    if (!isalnum((unsigned char) *text))
        add_pair(echo, '\\', *text);
}

/* Note the pairs that other escapes begin with. */
static void
add_escape_pairs(struct echo *echo)
{
    for (const char *c = ESCAPE_BEGINS; *c != '\0'; c++) {
        echo->begins[(unsigned char) *c] = true;
        for (const char *second = escape_seconds(*c); *second != '\0'; second++)
            add_pair(echo, *c, *second);
        for (const char *second = ESCAPE_BEGINS; *second != '\0'; second++)
            add_pair(echo, *c, *second);
    }
}

/* Add a text; a short one is left out. */
static bool
add_text(TALLOC_CTX *mem, struct echo *echo, const char *text, size_t length)
{
    if (length < ECHO_MIN)
        return true;
    char *copy = secret_copy(mem, text, length);
    size_t room = (ECHO_STRETCH * length) + (3 * ESCAPE_MAX);
    if (copy == NULL)
        return false;
    echo->text[echo->texts] = copy;
    echo->length[echo->texts++] = length;
    add_text_pairs(echo, copy);
    echo->room = room > echo->room ? room : echo->room;
    return true;
}

/*
 * Add the base64 of the text within a longer text, where the number of preceding octets is known
 * modulo 3: the characters that depend on the text alone (RFC 4648 section 4), and their base64url
 * (section 5) if it differs.
 */
static bool
add_base64(TALLOC_CTX *mem, struct echo *echo, const char *text, size_t behind)
{
    size_t length = strlen(text), skip = (behind * 8 + 5) / 6, all = (behind + length) * 8 / 6;
    char *octets = secret_alloc(mem, behind + length + 1), *encoded = NULL;
    bool good = octets != NULL;
    if (good) {
        memset(octets, 0, behind);
        memcpy(octets + behind, text, length);
        encoded = b64_encode(mem, octets, behind + length);
        good = encoded != NULL && add_text(mem, echo, encoded + skip, all - skip);
    }
    bool differs = good && strpbrk(encoded, "+/") != NULL;
    for (char *c = encoded; differs && *c != '\0'; c++)
        *c = (char) (*c == '+' ? '-' : *c == '/' ? '_' : *c);
    if (differs)
        good = add_text(mem, echo, encoded + skip, all - skip);
    if (encoded != NULL)
        explicit_bzero(encoded, strlen(encoded));
    talloc_free(encoded);
    talloc_free(octets);
    return good;
}

/* Add a text, and its forms in base64. */
static bool
add_forms(TALLOC_CTX *mem, struct echo *echo, const char *text)
{
    size_t length = strlen(text);
    bool good = add_text(mem, echo, text, length);
    for (size_t behind = 0; length >= ECHO_MIN && behind < 3; behind++)
        good = good && add_base64(mem, echo, text, behind);
    return good;
}

bool
echo_make(TALLOC_CTX *mem, const char *value, const char *plain, struct echo **ret)
{
    const char *space = strchr(value, ' ');
    struct echo *echo = talloc_zero(mem, struct echo);
    *ret = NULL;
    if (echo == NULL || !add_forms(echo, echo, space != NULL ? space + 1 : value)
        || (plain != NULL && !add_forms(echo, echo, plain)))
        return false;
    if (echo->texts > 0 && (echo->window = secret_alloc(echo, echo->room + ECHO_PIECE)) == NULL)
        return false;
    add_escape_pairs(echo);
    echo->steps = ECHO_STEPS_MAX;
    if (echo->texts > 0)
        *ret = echo;
    else
        talloc_free(echo);
    return true;
}

/* ---- the search */

/* The result of a look at one place of the answer. */
struct found {
    size_t length; /* octets of the answer that match the text; 0: no match */
    bool begun;    /* what was read of the answer so far ends within the text */
    size_t known;  /* octets of the text that are there then */
    int64_t steps; /* what that took */
};

/* A way to read an answer from a place on: octets of a text, and of the answer. */
struct reading {
    size_t done, used;
};

/* The readings of which it is not known yet if they end in the text. */
struct readings {
    struct reading open[ECHO_READINGS];
    size_t count;
};

/* Add a reading. Where there are too many, the octets that were read are taken for the text. */
static void
add_reading(struct readings *readings, size_t done, size_t used, struct found *found)
{
    for (size_t i = 0; i < readings->count; i++)
        if (readings->open[i].done == done && readings->open[i].used == used)
            return;
    if (readings->count < ECHO_READINGS)
        readings->open[readings->count++] = (struct reading){done, used};
    else if (used > found->length)
        found->length = used;
}

/* Take the reading with the fewest octets of the text. */
static struct reading
take_reading(struct readings *readings)
{
    size_t least = 0;
    for (size_t i = 1; i < readings->count; i++)
        if (readings->open[i].done < readings->open[least].done)
            least = i;
    struct reading reading = readings->open[least];
    readings->open[least] = readings->open[--readings->count];
    return reading;
}

/* Compare a text with the octets at a position: each octet of the text matches itself or one of its
 * escapes. An octet that begins an escape can be read in several ways. */
static struct found
compare(const char *wanted, size_t length, const char *at, size_t left)
{
    struct found found = {.length = 0};
    struct readings readings = {.count = 0};
    add_reading(&readings, 0, 0, &found);
    while (readings.count > 0) {
        struct reading one = take_reading(&readings);
        if (one.done == length && one.used > found.length)
            found.length = one.used;
        if (one.done == length || one.used > ECHO_STRETCH * length + ESCAPE_MAX)
            continue;
        bool escape = one.used < left && escape_begins(at[one.used]);
        if (one.done >= ECHO_CHANCE)
            found.steps += escape ? ECHO_ESCAPE_STEPS : 1;
        for (int layers = 0; layers <= (escape ? ESCAPE_LAYERS : 0); layers++) {
            struct escape_unit unit = escape_read(at + one.used, left - one.used, layers);
            size_t count = escape_stands_for(&unit, wanted + one.done, length - one.done);
            found.begun = found.begun || unit.length == 0;
            if (unit.length == 0)
                found.known = one.done;
            else if (count > 0)
                add_reading(&readings, one.done + count, one.used + unit.length, &found);
        }
    }
    return found;
}

/* True if the first octet of a text may be at this position. */
static bool
may_begin(const struct echo *echo, const char *at, size_t left)
{
    bool begins = !escape_begins(*at);
    for (int layers = 0; !begins && layers <= ESCAPE_LAYERS; layers++) {
        struct escape_unit unit = escape_read(at, left, layers);
        begins = unit.length == 0;
        for (size_t i = 0; !begins && i < echo->texts; i++)
            begins = escape_stands_for(&unit, echo->text[i], echo->length[i]) > 0;
    }
    return begins;
}

/* Look for all texts at a place. Return the longest that is there, or that one may be. `last`:
 * nothing comes behind the answer. ECHO_MIN octets of a text at its end are one then. */
static struct found
find(const struct echo *echo, const char *at, size_t left, bool last)
{
    struct found all = {.length = 0};
    if (!may_begin(echo, at, left))
        return all;
    for (size_t i = 0; i < echo->texts; i++) {
        if (*at != *echo->text[i] && !escape_begins(*at))
            continue;
        struct found found = compare(echo->text[i], echo->length[i], at, left);
        if (found.begun && last && found.known >= ECHO_MIN)
            found.length = left;
        all.length = found.length > all.length ? found.length : all.length;
        all.begun = all.begun || (found.begun && !last);
        all.steps += found.steps;
    }
    return all;
}

/* Allow steps for octets that were looked at. */
static void
add_steps(struct echo *echo, size_t octets, int64_t taken)
{
    echo->steps += (int64_t) octets * ECHO_STEPS - taken;
    if (echo->steps > ECHO_STEPS_MAX)
        echo->steps = ECHO_STEPS_MAX;
}

/* Return the number of octets with which no text begins. */
static size_t
plain_octets(const struct echo *echo, const char *text, size_t length)
{
    size_t at = 0;
    while (at + 1 < length && !has_pair(echo, text + at))
        at++;
    return at + 1 < length || length == 0 || echo->begins[(unsigned char) text[at]] ? at : length;
}

/*
 * Mask the texts in place. Return the number of octets that were looked at: all, or those before
 * the beginning of what may be a text. *masked: those from the first on that belong to one, also
 * behind what was looked at.
 */
static size_t
mask(struct echo *echo, char *text, size_t length, bool last, size_t *masked)
{
    size_t at = 0, began = 0;
    for (;;) {
        size_t plain = plain_octets(echo, text + at, length - at);
        struct found found = {.length = echo->room};
        add_steps(echo, plain, 0);
        at += plain;
        if (at < length && echo->steps > 0)
            found = find(echo, text + at, length - at, last);
        size_t end = at < *masked ? at : *masked;
        if (end > began)
            memset(text + began, '*', end - began);
        echo->found = echo->found || end > began;
        began = at;
        if (at == length || found.begun)
            return at;
        if (found.length > 0 && at + found.length > *masked)
            *masked = at + found.length;
        add_steps(echo, 1, found.steps);
        at++;
    }
}

void
echo_mask(struct echo *echo, char *text, size_t length)
{
    size_t masked = 0;
    mask(echo, text, length, true, &masked);
}

/* ---- bodies */

/* Pass on what was looked at; the rest is held. */
static bool
feed_piece(struct echo *echo, const struct upstream_sink *sink, const char *octets, size_t length)
{
    size_t all = echo->held + length;
    memcpy(echo->window + echo->held, octets, length);
    size_t passed = mask(echo, echo->window, all, false, &echo->masked);
    bool more = passed == 0 || sink->take(sink->arg, echo->window, passed);
    echo->held = all - passed;
    more = more && echo->held <= echo->room; /* compare() gives up before */
    echo->masked -= passed < echo->masked ? passed : echo->masked;
    memmove(echo->window, echo->window + passed, echo->held);
    return more;
}

bool
echo_feed(struct echo *echo, const struct upstream_sink *sink, const void *octets, size_t length)
{
    const char *at = octets;
    while (length > 0) {
        size_t piece = length < ECHO_PIECE ? length : ECHO_PIECE;
        if (!feed_piece(echo, sink, at, piece))
            return false;
        at += piece;
        length -= piece;
    }
    return true;
}

bool
echo_end(struct echo *echo, const struct upstream_sink *sink)
{
    size_t held = echo->held;
    echo->held = 0;
    mask(echo, echo->window, held, true, &echo->masked);
    echo->masked = 0;
    return held == 0 || sink->take(sink->arg, echo->window, held);
}
