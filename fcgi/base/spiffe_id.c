#include "config.h"

#include "base/spiffe_id.h"

#include <string.h>

#define SCHEME "spiffe://"
#define SCHEME_LENGTH (sizeof(SCHEME) - 1)
#define DOMAIN_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789.-_"
#define SEGMENT_CHARACTERS DOMAIN_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

bool
spiffe_id_begins(const char *text)
{
    return strncmp(text, SCHEME, SCHEME_LENGTH) == 0;
}

/* True if the segment, of `length` octets, is "." or "..", or empty. */
static bool
segment_is_special(const char *segment, size_t length)
{
    return length == 0 || (length <= 2 && strncmp(segment, "..", length) == 0);
}

const char *
spiffe_id_fault(const char *text)
{
    if (!spiffe_id_begins(text))
        return "must begin with spiffe://";
    if (strlen(text) > SPIFFE_ID_MAX)
        return "is longer than a SPIFFE ID may be";
    const char *at = text + SCHEME_LENGTH;
    size_t length = strspn(at, DOMAIN_CHARACTERS);
    if (length == 0 || length > SPIFFE_DOMAIN_MAX)
        return "must have a trust domain of 1 to 255 characters";
    if (segment_is_special(at, length)) /* never a name, but a step in a path */
        return "must not have . or .. as its trust domain";
    for (at += length; *at == '/'; at += length) {
        length = strspn(++at, SEGMENT_CHARACTERS);
        if (segment_is_special(at, length))
            return "must not have empty, . or .. segments";
    }
    return *at == '\0' ? NULL : "has a character that a SPIFFE ID may not have";
}

bool
spiffe_id_is_in(const char *id, const char *domain)
{
    const char *at = id + SCHEME_LENGTH;
    size_t length = strlen(domain);
    return spiffe_id_begins(id) && strncmp(at, domain, length) == 0
           && (at[length] == '/' || at[length] == '\0');
}
