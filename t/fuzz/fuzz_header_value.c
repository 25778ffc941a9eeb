/* Entity tags and preferences. An input is a header value; a D in it stands for the digest of the
 * row, so that what the fuzzer changes reaches it. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "http/header_value.h"

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define WAIT_MAX 25

static bool
is_between(char c)
{
    return c == ' ' || c == '\t' || c == ',';
}

/* The tag stands in the value with nothing but blanks and commas at its sides, or * stands alone.
 */
static bool
holds(TALLOC_CTX *mem, const char *value)
{
    const char *tag = "\"" DIGEST "\"", *start = value;
    for (const char *at = value; (at = strstr(at, tag)) != NULL; at++) {
        char after = at[strlen(tag)];
        if ((at == value || is_between(at[-1])) && (after == '\0' || is_between(after)))
            return true;
    }
    while (is_between(*start))
        start++;
    char *rest = talloc_strdup(mem, start);
    for (size_t n = strlen(rest); n > 0 && (rest[n - 1] == ' ' || rest[n - 1] == '\t'); n--)
        rest[n - 1] = '\0';
    return strcmp(rest, "*") == 0;
}

static void
check_if_match(TALLOC_CTX *mem, const char *value)
{
    bool seen = header_if_match(value, DIGEST);
    MUST(seen == holds(mem, value));
    MUST(!header_if_match(value, NULL));
    /* A list that names the row does so whatever else it holds. */
    if (strchr(value, '"') != NULL)
        MUST(header_if_match(talloc_asprintf(mem, "\"" DIGEST "\", %s", value), DIGEST));
    MUST(!seen || strchr(value, '*') != NULL || strstr(value, "\"" DIGEST "\"") != NULL);
}

static void
check_first_tag(TALLOC_CTX *mem, const char *value)
{
    char *tag = header_first_tag(mem, value);
    MUST(strchr(tag, '"') == NULL && strlen(tag) <= strlen(value) && strstr(value, tag) != NULL);
    if (strchr(value, '"') == NULL && strncmp(value, "W/", 2) != 0)
        MUST(strcmp(header_first_tag(mem, talloc_asprintf(mem, "W/\"%s\"", value)), value) == 0);
}

static void
check_wait(TALLOC_CTX *mem, const char *value)
{
    long seconds = header_prefer_wait(value, WAIT_MAX);
    MUST(seconds >= 0 && seconds <= WAIT_MAX);
    MUST(seconds == 0 || strcasestr(value, "wait=") != NULL);
    MUST(header_prefer_wait(value, 1) == (seconds > 0));
    /* The first one counts, whatever follows it. */
    MUST(header_prefer_wait(talloc_asprintf(mem, "wait=7,%s", value), WAIT_MAX) == 7);
    if (strcasestr(value, "wait=") == NULL)
        MUST(header_prefer_wait(talloc_asprintf(mem, "%s,wait=7", value), WAIT_MAX) == 7);
}

static void
check_accept(TALLOC_CTX *mem, const char *value)
{
    bool html = header_prefers_html(value);
    MUST(!html || strcasestr(value, "text/html") != NULL);
    /* JSON of the full weight ahead of all wins, and HTML ahead of all does. */
    MUST(!header_prefers_html(talloc_asprintf(mem, "application/json,%s", value)));
    MUST(header_prefers_html(talloc_asprintf(mem, "text/html,%s", value)));
    MUST(!html || header_prefers_html(talloc_asprintf(mem, "*/*,%s", value)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *given = talloc_strndup(mem, (const char *) data, size);
    char *value = talloc_strdup(mem, "");
    for (char *at = given; *at != '\0'; at++)
        value = *at == 'D' ? talloc_strdup_append_buffer(value, DIGEST)
                           : talloc_strndup_append_buffer(value, at, 1);
    check_if_match(mem, value);
    check_first_tag(mem, value);
    check_wait(mem, value);
    check_accept(mem, value);
    talloc_free(mem);
    return 0;
}
