#include "config.h"

#include "policy/engine/http_answer.h"

#include <string.h>
#include <strings.h>

#include "base/digits.h"

/* Longest number, in digits: such a number exceeds every limit here and does not overflow. */
#define DIGITS_MAX 9

/* The framing of the body, from the header fields. */
struct framing {
    bool has_length, chunked;
    size_t length;
};

static enum http_answer_state
answer_broken(struct http_answer *ret, const char *why)
{
    ret->why = why;
    return HTTP_ANSWER_BROKEN;
}

static enum http_answer_state
answer_too_large(struct http_answer *ret)
{
    ret->too_large = true;
    return answer_broken(ret, "the body is too large");
}

/* Read a text that is a number of 1 to DIGITS_MAX digits. */
static bool
answer_read_number(const char *text, size_t length, unsigned base, size_t *ret)
{
    size_t number = 0;
    if (length == 0 || length > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        int digit = digits_hex(text[i]);
        if (digit < 0 || digit >= (int) base)
            return false;
        number = number * base + (unsigned) digit;
    }
    *ret = number;
    return true;
}

static bool
token_is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* RFC 9112 section 4: HTTP/1.1 SP 3DIGIT SP [reason]. */
static bool
read_status_line(const char *line, size_t length, struct http_answer *ret)
{
    size_t status;
    if (length < 13 || memcmp(line, "HTTP/1.1 ", 9) != 0 || line[12] != ' '
        || !answer_read_number(line + 9, 3, 10, &status))
        return false;
    ret->status = (int) status;
    return true;
}

/* Read one field. Return the reason to refuse the answer, or NULL. */
static const char *
read_answer_field(const char *line, size_t length, struct framing *framing, struct http_answer *ret)
{
    const char *colon = memchr(line, ':', length);
    size_t name = colon != NULL ? (size_t) (colon - line) : 0;
    if (name == 0 || memchr(line, ' ', name) != NULL || memchr(line, '\t', name) != NULL)
        return "a header field without a name";
    const char *value = colon + 1, *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t size = (size_t) (end - value);
    if (token_is(line, name, "Content-Length")) {
        if (framing->has_length || !answer_read_number(value, size, 10, &framing->length))
            return "Content-Length is repeated or not a number within the limit";
        framing->has_length = true;
    } else if (token_is(line, name, "Transfer-Encoding")) {
        if (framing->chunked || !token_is(value, size, "chunked"))
            return "a Transfer-Encoding other than chunked";
        framing->chunked = true;
    } else if (token_is(line, name, "Connection")) {
        ret->keep = ret->keep && !token_is(value, size, "close");
    } else if (token_is(line, name, "Content-Encoding")) {
        return "a Content-Encoding that was not asked for";
    }
    return NULL;
}

/* Find the end of the line that begins at octets; *ret_next is behind its line feed. */
static bool
find_line(const char *octets, const char *end, size_t *ret_length, const char **ret_next)
{
    const char *feed = memchr(octets, '\n', (size_t) (end - octets));
    if (feed == NULL)
        return false;
    *ret_length = (size_t) (feed - octets);
    *ret_next = feed + 1;
    return true;
}

/* Read the status line and the header fields; *ret_body is the offset of the body. */
static enum http_answer_state
read_head(const char *octets, size_t length, struct framing *framing, struct http_answer *ret,
          size_t *ret_body)
{
    size_t seen = length < HTTP_ANSWER_HEAD_MAX ? length : HTTP_ANSWER_HEAD_MAX, size;
    const char *line = octets, *end = octets + seen, *next;
    for (bool first = true; find_line(line, end, &size, &next); first = false, line = next) {
        const char *why = NULL;
        if (size == 0 || line[--size] != '\r' || memchr(line, '\0', size) != NULL
            || memchr(line, '\r', size) != NULL)
            return answer_broken(ret, "a line that does not end in CRLF");
        if (first && !read_status_line(line, size, ret))
            return answer_broken(ret, "no HTTP/1.1 status line");
        if (!first && size == 0) {
            *ret_body = (size_t) (next - octets);
            return HTTP_ANSWER_WHOLE;
        }
        if (!first && (why = read_answer_field(line, size, framing, ret)) != NULL)
            return answer_broken(ret, why);
    }
    return length >= HTTP_ANSWER_HEAD_MAX ? answer_broken(ret, "the header is too long")
                                          : HTTP_ANSWER_MORE;
}

/*
 * Read chunks (RFC 9112 section 7.1) without extensions and trailer fields, which no engine sends.
 * The first walk only measures; the second joins the chunks, once all have arrived.
 */
static enum http_answer_state
read_chunks(char *octets, size_t length, size_t body_max, bool join, struct http_answer *ret)
{
    const char *at = octets, *end = octets + length, *next;
    size_t used = 0, size, chunk;
    while (find_line(at, end, &size, &next)) {
        if (size == 0 || at[size - 1] != '\r' || !answer_read_number(at, size - 1, 16, &chunk))
            return answer_broken(ret, "a chunk without a size");
        if (chunk > body_max - used)
            return answer_too_large(ret);
        if ((size_t) (end - next) < chunk + 2)
            return HTTP_ANSWER_MORE;
        if (next[chunk] != '\r' || next[chunk + 1] != '\n')
            return answer_broken(ret, "a chunk whose data does not have the announced size");
        if (join)
            memmove(octets + used, next, chunk);
        used += chunk;
        at = next + chunk + 2;
        if (chunk > 0)
            continue;
        ret->body_length = used;
        return at == end ? HTTP_ANSWER_WHOLE : answer_broken(ret, "octets after the answer");
    }
    return (size_t) (end - at) > DIGITS_MAX + 2 ? answer_broken(ret, "a chunk without a size")
                                                : HTTP_ANSWER_MORE;
}

enum http_answer_state
http_answer_read(char *octets, size_t length, size_t body_max, struct http_answer *ret)
{
    struct framing framing = {.has_length = false};
    size_t head = 0;
    *ret = (struct http_answer){.keep = true};
    enum http_answer_state state = read_head(octets, length, &framing, ret, &head);
    if (state != HTTP_ANSWER_WHOLE)
        return state;
    size_t there = length - head;
    ret->body = octets + head;
    if (framing.has_length == framing.chunked)
        return answer_broken(ret, "the length of the body is missing or ambiguous");
    if (framing.chunked) {
        state = read_chunks(ret->body, there, body_max, false, ret);
        return state == HTTP_ANSWER_WHOLE ? read_chunks(ret->body, there, body_max, true, ret)
                                          : state;
    }
    if (framing.length > body_max)
        return answer_too_large(ret);
    if (there > framing.length)
        return answer_broken(ret, "octets after the answer");
    ret->body_length = framing.length;
    return there == framing.length ? HTTP_ANSWER_WHOLE : HTTP_ANSWER_MORE;
}
