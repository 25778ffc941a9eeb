#include "config.h"

#include "http/cookie.h"

#include <string.h>

static bool
cookie_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Trim blanks at both ends of the text up to `end`; return its length. */
static size_t
cookie_trim(const char **text, const char *end)
{
    while (*text < end && cookie_is_blank(**text))
        (*text)++;
    while (end > *text && cookie_is_blank(end[-1]))
        end--;
    return (size_t) (end - *text);
}

/*
 *   cookie-string = cookie-pair *( ";" SP cookie-pair )
 *   cookie-pair   = cookie-name "=" cookie-value
 * Blanks around the parts are skipped, as all servers do. A part without = is skipped too.
 */
bool
cookie_find(const char *header, const char *name, const char **ret, size_t *ret_length)
{
    const char *found = NULL;
    size_t found_length = 0, count = 0;
    for (const char *at = header; at != NULL && *at != '\0';) {
        const char *end = at + strcspn(at, ";"), *equals = memchr(at, '=', (size_t) (end - at));
        if (++count > COOKIE_COUNT_MAX)
            return false;
        size_t length = equals != NULL ? cookie_trim(&at, equals) : 0;
        if (equals != NULL && length == strlen(name) && memcmp(at, name, length) == 0) {
            if (found != NULL)
                return false;
            found = equals + 1;
            found_length = cookie_trim(&found, end);
        }
        at = end + (*end == ';');
    }
    if (found == NULL)
        return false;
    *ret = found;
    *ret_length = found_length;
    return true;
}

size_t
cookie_tags(const char *header, const char *prefix, size_t digits, const char **ret, size_t max)
{
    size_t count = 0, length = strlen(prefix);
    for (const char *at = header; at != NULL && *at != '\0' && count < max;) {
        const char *end = at + strcspn(at, ";"), *equals = memchr(at, '=', (size_t) (end - at));
        if (equals != NULL && cookie_trim(&at, equals) == length + digits
            && memcmp(at, prefix, length) == 0 && strspn(at + length, "0123456789abcdef") == digits)
            ret[count++] = at + length;
        at = end + (*end == ';');
    }
    return count;
}
