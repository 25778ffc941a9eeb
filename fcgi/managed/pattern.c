#include "config.h"

#include "managed/pattern.h"

#include <string.h>

#include "base/digits.h"
#include "base/utf8.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
#define UNRESERVED LETTERS DIGITS "-._~"

/* pchar of RFC 3986 3.3, with and without the characters that have a meaning in patterns. */
#define PCHAR UNRESERVED "!$&'()*+,;=:@"
#define LITERAL UNRESERVED "!$&'()+,;=:@"

/* True if one element of a path, as a server may read it, leads elsewhere: some servers cut path
 * parameters off before they look for dots ("..;x"). */
static bool
managed_is_dots(const char *text, size_t length)
{
    const char *cut = memchr(text, ';', length);
    size_t dots = cut != NULL ? (size_t) (cut - text) : length;
    return (dots == 1 && text[0] == '.') || (dots == 2 && text[0] == '.' && text[1] == '.');
}

/* ---- patterns */

static const char *
variable_fault(const struct managed_pattern *pattern, const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > MANAGED_VARIABLE_NAME_MAX
        || strspn(name, LETTERS DIGITS "_") != length || strspn(name, DIGITS) > 0)
        return "has a variable whose name is not made of letters, digits and underscores";
    if (managed_pattern_has(pattern, name))
        return "has a variable twice";
    return pattern->count - pattern->literals >= MANAGED_VARIABLES_MAX ? "has too many variables"
                                                                       : NULL;
}

static const char *
literal_fault(const char *text, size_t length, bool last)
{
    if (length == 0 && !last)
        return "has an empty segment";
    if (managed_is_dots(text, length))
        return "has a segment that is . or ..";
    return strspn(text, LITERAL) == length ? NULL
                                           : "may have letters, digits and -._~!$&'()+,;=:@ only, "
                                             "{variable} as a whole segment, "
                                             "and ** as the last one";
}

/* Add a segment; return its fault. */
static const char *
add_segment(struct managed_pattern *pattern, struct managed_segment *segment, char *text, bool last)
{
    size_t length = strlen(text);
    if (last && strcmp(text, "**") == 0) {
        pattern->rest = true;
        return NULL;
    }
    if (pattern->count == MANAGED_SEGMENTS_MAX)
        return "has too many segments";
    bool variable = length >= 2 && text[0] == '{' && text[length - 1] == '}';
    if (variable) {
        text[length - 1] = '\0';
        text++;
    }
    const char *why = variable ? variable_fault(pattern, text) : literal_fault(text, length, last);
    if (why != NULL)
        return why;
    segment[pattern->count++] = (struct managed_segment){.variable = variable, .text = text};
    pattern->literals += !variable;
    return NULL;
}

enum az_status
managed_pattern_read(TALLOC_CTX *mem, const char *text, struct managed_pattern *ret,
                     const char **ret_why)
{
    struct managed_pattern pattern = {.count = 0};
    struct managed_segment *segment =
        talloc_zero_array(mem, struct managed_segment, MANAGED_SEGMENTS_MAX);
    char *rest = talloc_strdup(mem, text);
    const char *why = NULL;
    if (segment == NULL || rest == NULL)
        return AZ_SERVER_ERROR;
    pattern.segment = segment;
    if (*rest != '/')
        why = "must begin with a slash";
    else if (strlen(rest) > MANAGED_PATTERN_MAX)
        why = "is too long";
    else if (strcmp(rest, "/") == 0)
        rest = NULL;
    while (why == NULL && rest != NULL) {
        char *at = rest + 1;
        rest = strchr(at, '/');
        if (rest != NULL)
            *rest = '\0';
        why = add_segment(&pattern, segment, at, rest == NULL);
    }
    if (why != NULL) {
        *ret_why = why;
        return AZ_INVALID;
    }
    *ret = pattern;
    return AZ_OK;
}

bool
managed_pattern_has(const struct managed_pattern *pattern, const char *name)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->segment[i].variable && strcmp(pattern->segment[i].text, name) == 0)
            return true;
    return false;
}

/* ---- segments of requests */

/* True if a decoded text is safe. A text with slashes is safe if the elements between them are. */
static bool
text_is_safe(const char *text, size_t length)
{
    size_t from = 0;
    if (!utf8_valid(text, length))
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) text[i] < 0x20 || text[i] == 0x7f || text[i] == '\\')
            return false;
    for (size_t i = 0; i <= length; i++)
        if (i == length || text[i] == '/') {
            if (managed_is_dots(text + from, i - from))
                return false;
            from = i + 1;
        }
    return true;
}

enum az_status
managed_part_read(TALLOC_CTX *mem, const char *raw, size_t length, struct managed_part *ret)
{
    char *text = talloc_size(mem, length + 1);
    size_t out = 0;
    if (text == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < length; i++) {
        bool encoded = raw[i] == '%';
        if (encoded && (length - i < 3 || digits_hex(raw[i + 1]) < 0 || digits_hex(raw[i + 2]) < 0))
            return AZ_INVALID;
        if (!encoded && (raw[i] == '\0' || strchr(PCHAR, raw[i]) == NULL))
            return AZ_INVALID;
        text[out++] =
            encoded ? (char) (digits_hex(raw[i + 1]) << 4 | digits_hex(raw[i + 2])) : raw[i];
        i += encoded ? 2 : 0;
    }
    text[out] = '\0';
    if (!text_is_safe(text, out))
        return AZ_INVALID;
    *ret = (struct managed_part){
        .raw = raw, .length = length, .text = text, .slash = strchr(text, '/') != NULL};
    return AZ_OK;
}

enum az_status
managed_part_encode(TALLOC_CTX *mem, const char *text, bool slash, char **ret)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t length = strlen(text), out = 0;
    if (length == 0 || !text_is_safe(text, length) || (!slash && strchr(text, '/') != NULL))
        return AZ_INVALID;
    char *encoded = talloc_size(mem, 3 * length + 1);
    if (encoded == NULL)
        return AZ_SERVER_ERROR;
    for (size_t i = 0; i < length; i++) {
        if (strchr(UNRESERVED, text[i]) != NULL) {
            encoded[out++] = text[i];
            continue;
        }
        encoded[out++] = '%';
        encoded[out++] = hex[(unsigned char) text[i] >> 4];
        encoded[out++] = hex[(unsigned char) text[i] & 15];
    }
    encoded[out] = '\0';
    *ret = encoded;
    return AZ_OK;
}

char *
managed_path_plain(TALLOC_CTX *mem, const char *path)
{
    char *plain = talloc_strdup(mem, path), *out = plain;
    if (plain == NULL)
        return NULL;
    for (const char *c = path; *c != '\0'; c++) {
        bool encoded = *c == '%' && digits_hex(c[1]) >= 0 && digits_hex(c[2]) >= 0;
        char octet = encoded ? (char) (digits_hex(c[1]) << 4 | digits_hex(c[2])) : *c;
        if (encoded && (octet == '\0' || strchr(UNRESERVED, octet) == NULL)) {
            *out++ = '%';
            *out++ = "0123456789ABCDEF"[digits_hex(c[1])];
            *out++ = "0123456789ABCDEF"[digits_hex(c[2])];
        } else {
            *out++ = octet;
        }
        c += encoded ? 2 : 0;
    }
    *out = '\0';
    return plain;
}
