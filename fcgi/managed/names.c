#include "config.h"

#include "managed/names.h"

#include <string.h>

#include "base/words.h"
#include "crypto/digest.h"
#include "managed/managed.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789"
#define EXPOSED_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ" NAME_LETTERS "_-"

/* Hex digits of the digest at the end of a name that was cut. */
#define CUT_DIGITS 6

bool
managed_name_is_good(const char *name)
{
    static const char *const reserved[] = {"mcp", "link", "connect", NULL};
    size_t length = strlen(name);
    return length > 0 && length <= MANAGED_NAME_MAX && strspn(name, NAME_LETTERS "-") == length
           && name[0] != '-' && name[length - 1] != '-' && !words_has(reserved, name);
}

const char *
managed_exposed_name(TALLOC_CTX *mem, size_t max, const char *resource, const char *tool)
{
    char hex[SHA256_HEX_SIZE];
    char *whole = resource != NULL ? talloc_asprintf(mem, "%s__%s", resource, tool)
                                   : talloc_strdup(mem, tool);
    size_t length = whole != NULL ? strlen(whole) : 0;
    if (whole == NULL || sha256_hex(whole, length, hex) != AZ_OK)
        return NULL;
    for (char *c = whole; *c != '\0'; c++)
        if (strchr(EXPOSED_LETTERS, *c) == NULL)
            *c = '_';
    if (length <= max)
        return whole;
    return talloc_asprintf(mem, "%.*s_%.*s", (int) max - CUT_DIGITS - 1, whole, CUT_DIGITS, hex);
}

void
managed_names_make(TALLOC_CTX *mem, size_t max, const char *resource, const char *tool,
                   struct managed_names *ret)
{
    const char *shown = managed_exposed_name(mem, max, resource, tool);
    const char *also = managed_exposed_name(mem, MANAGED_EXPOSED_MAX, resource, tool);
    *ret = (struct managed_names){.shown = NULL};
    if (shown != NULL && also != NULL)
        *ret = (struct managed_names){shown, strcmp(shown, also) != 0 ? also : NULL};
}

bool
managed_names_clash(const struct managed_names *names, const struct managed_names *others)
{
    const char *const mine[] = {names->shown, names->also};
    const char *const theirs[] = {others->shown, others->also};
    for (size_t i = 0; i < 4; i++)
        if (mine[i / 2] != NULL && theirs[i % 2] != NULL && strcmp(mine[i / 2], theirs[i % 2]) == 0)
            return true;
    return false;
}

bool
managed_exposed_name_is_reserved(const char *name)
{
    return strcmp(name, MANAGED_FIND_TOOLS) == 0 || strcmp(name, MANAGED_CALL_TOOL) == 0;
}

/* After a mismatch the last asterisk takes one more character; earlier ones need not be tried
 * again, so the time is at most the product of the two lengths. */
bool
managed_glob(const char *glob, const char *text)
{
    const char *star = NULL, *from = NULL;
    while (*text != '\0') {
        if (*glob == '*') {
            star = ++glob;
            from = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star != NULL) {
            glob = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return *glob == '\0';
}

static bool
any_glob(const char *const *globs, const char *name)
{
    for (; globs != NULL && *globs != NULL; globs++)
        if (managed_glob(*globs, name))
            return true;
    return false;
}

bool
managed_filter(const char *const *include, const char *const *exclude, const char *name)
{
    if (any_glob(exclude, name))
        return false;
    return include == NULL || *include == NULL || any_glob(include, name);
}
