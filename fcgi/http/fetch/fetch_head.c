#include "config.h"

#include "http/fetch/fetch_head.h"

#include <string.h>
#include <strings.h>

#include "base/digits.h"

/* tchar (RFC 9110 section 5.6.2) in lower case, and the slash of a media type. */
#define TYPE_CHARS "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~/"
/* Longer than any document is kept, and far from an overflow: 68 years. */
#define AGE_MAX INT32_MAX

static bool
head_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
head_trim(const char **text, size_t *length)
{
    while (*length > 0 && head_is_blank(**text)) {
        (*text)++;
        (*length)--;
    }
    while (*length > 0 && head_is_blank((*text)[*length - 1]))
        (*length)--;
}

static bool
is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* Read delta-seconds, also as a quoted-string (RFC 9111 5.2). A malformed one is 0: the answer
 * counts as stale (RFC 9111 4.2.1). */
static int64_t
head_read_seconds(const char *text, size_t length)
{
    int64_t seconds;
    if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
        text++;
        length -= 2;
    }
    return digits_take(text, length, AGE_MAX, &seconds) == length ? seconds : 0;
}

/* Return the octets up to the next comma outside quotes (RFC 9110 5.6.4). */
static size_t
directive_length(const char *text, size_t length)
{
    bool quoted = false;
    size_t i = 0;
    for (; i < length && (quoted || text[i] != ','); i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\' && i + 1 < length)
            i++;
    }
    return i;
}

/* Return the seconds of a directive; -1: it does not limit the age. */
static int64_t
read_directive(const char *text, size_t length)
{
    head_trim(&text, &length);
    const char *equals = memchr(text, '=', length);
    size_t name = equals != NULL ? (size_t) (equals - text) : length;
    if (is_word(text, name, "no-store") || is_word(text, name, "no-cache"))
        return 0;
    if (!is_word(text, name, "max-age"))
        return -1;
    return equals != NULL ? head_read_seconds(equals + 1, length - name - 1) : 0;
}

static int64_t
head_shorter_age(int64_t age, int64_t other)
{
    return age < 0 || (other >= 0 && other < age) ? other : age;
}

/*
 * Return the seconds that an answer with this Cache-Control may be kept (RFC 9111 5.2.2): 0 for
 * no-store, no-cache and a malformed max-age; the least of several; -1 if it does not say.
 *   Cache-Control = #cache-directive
 *   cache-directive = token [ "=" ( token / quoted-string ) ]
 */
static int64_t
max_age_of(const char *value, size_t length)
{
    int64_t age = -1;
    for (size_t at = 0; at < length;) {
        size_t size = directive_length(value + at, length - at);
        age = head_shorter_age(age, read_directive(value + at, size));
        at += size + 1;
    }
    return age;
}

/*
 *   media-type = type "/" subtype *( OWS ";" OWS parameter )
 * Read the media type (RFC 9110 8.3.1). If there are two, there is no telling which one is meant,
 * so neither counts.
 */
static void
read_type(struct fetch_head *head, const char *value, size_t length)
{
    const char *end = memchr(value, ';', length);
    if (end != NULL)
        length = (size_t) (end - value);
    head_trim(&value, &length);
    head->content_type[0] = '\0';
    if (head->typed || length >= sizeof(head->content_type)) {
        head->typed = true;
        return;
    }
    head->typed = true;
    for (size_t i = 0; i < length; i++)
        head->content_type[i] =
            (char) (value[i] >= 'A' && value[i] <= 'Z' ? value[i] - 'A' + 'a' : value[i]);
    head->content_type[length] = '\0';
    if (strspn(head->content_type, TYPE_CHARS) != length)
        head->content_type[0] = '\0';
}

/* The first WWW-Authenticate counts; one with a control character counts as absent. */
static void
read_challenge(struct fetch_head *head, const char *value, size_t length)
{
    if (head->challenge[0] != '\0' || length >= sizeof(head->challenge))
        return;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) value[i] < 0x20 && value[i] != '\t')
            return;
    memcpy(head->challenge, value, length);
    head->challenge[length] = '\0';
}

static void
head_read_field(struct fetch_head *head, const char *line, size_t length)
{
    const char *colon = memchr(line, ':', length);
    if (colon == NULL)
        return;
    size_t name = (size_t) (colon - line), rest = length - name - 1;
    const char *value = colon + 1;
    head_trim(&value, &rest);
    if (is_word(line, name, "Content-Type"))
        read_type(head, value, rest);
    else if (is_word(line, name, "WWW-Authenticate"))
        read_challenge(head, value, rest);
    else if (is_word(line, name, "Cache-Control"))
        head->max_age = head_shorter_age(head->max_age, max_age_of(value, rest));
    else if (is_word(line, name, "Retry-After"))
        head->retry_after = head_read_seconds(value, rest);
}

bool
fetch_head_line(struct fetch_head *head, const char *line, size_t length)
{
    if (length > FETCH_HEAD_MAX - head->octets)
        return false;
    head->octets += length;
    if (length >= 5 && memcmp(line, "HTTP/", 5) == 0)
        *head = (struct fetch_head){.octets = head->octets, .open = true, .max_age = -1};
    else if (length > 0 && (line[0] == '\r' || line[0] == '\n'))
        head->open = false;
    else if (head->open)
        head_read_field(head, line, length);
    return true;
}

bool
fetch_type_is_json(const char *type)
{
    size_t length = strlen(type);
    if (strcmp(type, "application/json") == 0)
        return true;
    return strncmp(type, "application/", 12) == 0 && length > 12 + 5
           && strcmp(type + length - 5, "+json") == 0 && strchr(type + 12, '/') == NULL;
}
