#include "config.h"

#include "base/query.h"

#include <stdbool.h>
#include <string.h>

static bool
is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-'
           || c == '.' || c == '_' || c == '~';
}

size_t
query_escaped_length(const char *text)
{
    size_t length = 0;
    for (; *text != '\0'; text++)
        length += is_unreserved(*text) ? 1 : 3;
    return length;
}

static char *
query_put(char *at, const char *octets, size_t length)
{
    memcpy(at, octets, length);
    return at + length;
}

static char *
put_escaped(char *at, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; *text != '\0'; text++) {
        if (is_unreserved(*text)) {
            *at++ = *text;
            continue;
        }
        *at++ = '%';
        *at++ = digits[(unsigned char) *text >> 4];
        *at++ = digits[(unsigned char) *text & 15];
    }
    return at;
}

char *
query_escape(TALLOC_CTX *mem, const char *text)
{
    char *escaped = talloc_array(mem, char, (unsigned) query_escaped_length(text) + 1);
    if (escaped != NULL)
        *put_escaped(escaped, text) = '\0';
    return escaped;
}

char *
query_append(TALLOC_CTX *mem, const char *url, const struct query_pair *pairs, size_t count)
{
    size_t length = strlen(url), size = length + 1, head = strcspn(url, "#");
    for (size_t i = 0; i < count; i++)
        if (pairs[i].value != NULL)
            size += strlen(pairs[i].name) + query_escaped_length(pairs[i].value) + 2;
    char *text = talloc_array(mem, char, (unsigned) size), *at = text;
    if (text == NULL)
        return NULL;
    at = query_put(at, url, head);
    const char *query = memchr(url, '?', head);
    /* "" if the query is empty or ends with & */
    const char *between = query == NULL                                     ? "?"
                          : query == url + head - 1 || url[head - 1] == '&' ? ""
                                                                            : "&";
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].value == NULL)
            continue;
        at = query_put(at, between, strlen(between));
        at = query_put(at, pairs[i].name, strlen(pairs[i].name));
        *at++ = '=';
        at = put_escaped(at, pairs[i].value);
        between = "&";
    }
    at = query_put(at, url + head, length - head);
    *at = '\0';
    return text;
}
