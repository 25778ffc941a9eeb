/* Regular expressions and globs of policies: the first line is the pattern, the rest the text. A
 * match lies within the text, each group within the match, and a search from the place where a
 * match begins finds it again. */
#include "config.h"

#include <string.h>

#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "rego/builtin/builtin.h"
#include "rego/pattern.h"

#define OCTETS_MAX (4 << 20)

static void
check_pattern(struct rego_arena *arena, const struct rego_value *regex,
              const struct rego_value *text)
{
    struct pattern_match match, again;
    const struct pattern *pattern = pattern_read(arena, regex->text, regex->count);
    struct pattern_search *search =
        pattern != NULL ? pattern_search_new(arena->mem, pattern, text) : NULL;
    if (search == NULL || pattern_find(search, 0, &match) != PATTERN_FOUND)
        return;
    MUST(match.at[0] >= 0 && match.at[0] <= match.at[1] && match.at[1] <= text->count);
    for (unsigned i = 1; i < pattern_groups(pattern); i++)
        MUST((match.at[2 * i] < 0 && match.at[2 * i + 1] < 0)
             || (match.at[2 * i] >= match.at[0] && match.at[2 * i] <= match.at[2 * i + 1]
                 && match.at[2 * i + 1] <= match.at[1]));
    if (pattern_find(search, (size_t) match.at[0], &again) == PATTERN_FOUND)
        MUST(again.at[0] == match.at[0] && again.at[1] == match.at[1]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = size > 0 ? memchr(data, '\n', size) : NULL;
    if (line == NULL || !utf8_valid((const char *) data, size))
        return 0;
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    size_t length = (size_t) (line - (const char *) data);
    const struct rego_value *pattern = rego_string(&arena, (const char *) data, length);
    const struct rego_value *text = rego_string(&arena, line + 1, size - length - 1);
    if (pattern != NULL && text != NULL) {
        struct rego_machine machine = {.arena = &arena};
        const struct rego_value *glob[3] = {pattern, &rego_null, text};
        check_pattern(&arena, pattern, text);
        const struct rego_value *found = rego_builtin_find("glob.match")->run(&machine, glob);
        MUST(found != NULL || machine.outcome == REGO_GIVE_UP);
    }
    talloc_free(mem);
    return 0;
}
