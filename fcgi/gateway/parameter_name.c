#include "config.h"

#include "gateway/parameter_name.h"

#include <string.h>

#define BLANKS " \t\r\n\v\f"
#define DIGITS "0123456789"

char *
parameter_name_plain(TALLOC_CTX *mem, const char *name)
{
    size_t length = strlen(name += strspn(name, BLANKS));
    while (length > 0 && strchr(BLANKS, name[length - 1]) != NULL)
        length--;
    char *plain = talloc_strndup(mem, name, length), *out = plain;
    if (plain == NULL)
        return NULL;
    bool open = *plain == '['; /* the bracket that it begins with */
    for (const char *c = plain + open; *c != '\0'; c++) {
        size_t index = *c == '[' ? 1 + strspn(c + 1, DIGITS BLANKS) : 0;
        if (index > 0 && c[index] == ']')
            c += index;
        else if (open && *c == ']')
            open = false;
        else
            *out++ = *c;
    }
    *out = '\0';
    return plain;
}

/* Return an octet of a name as it is compared. A bracket that nothing closes is an underscore to
 * PHP. */
static char
folded(char octet)
{
    if (octet >= 'A' && octet <= 'Z')
        return (char) (octet + 32);
    return octet != '\0' && strchr(". [", octet) != NULL ? '_' : octet;
}

bool
parameter_name_is_same(const char *a, const char *b)
{
    char last = '\0'; /* PHP ignores what follows a closed bracket */
    for (; *a != '\0' && folded(*a) == folded(*b); a++, b++)
        last = *a;
    if (*a != '\0' && *b != '\0')
        return false;
    const char *rest = *a != '\0' ? a : b;
    return *rest == '\0' || *rest == '[' || last == ']';
}
