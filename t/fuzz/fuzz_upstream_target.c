/* The path and query of a request to an upstream. An input is a path, a line feed and a query. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "gateway/upstream/target.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const allow[] = {"a", "b"};
    TALLOC_CTX *mem = talloc_new(NULL);
    char *path = talloc_strndup(mem, (const char *) data, size), *target = NULL;
    char *end = strchr(path, '\n');
    char *query = end != NULL ? end + 1 : path + strlen(path);
    if (end != NULL)
        *end = '\0';
    for (size_t listed = 0; listed < 2; listed++) {
        char *kept = upstream_query(mem, query, listed ? allow : NULL, 2, "key");
        if (kept == NULL)
            continue; /* longer than a target may be */
        MUST(strchr(kept, ';') == NULL);
        if (upstream_target(mem, "/base", path, kept, &target) != AZ_OK)
            continue;
        MUST(strncmp(target, "/base", 5) == 0 && strlen(target) <= UPSTREAM_TARGET_MAX);
        MUST(strpbrk(target, "#\\ \r\n\t") == NULL);
        size_t length = strcspn(target, "?");
        MUST(memmem(target, length, "/../", 4) == NULL
             && (length < 3 || memcmp(target + length - 3, "/..", 3) != 0));
    }
    talloc_free(mem);
    return 0;
}
