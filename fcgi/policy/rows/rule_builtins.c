#include "config.h"

#include "policy/rows/rule_builtins.h"

#include <string.h>

#include "policy/rows/rego_text.h"

/* All builtins of OPA 1.20 that do more than compute (`opa capabilities --current`, and
 * v1/topdown). Others that are not deterministic (time.now_ns, rand.intn, uuid.rfc4122) are
 * harmless. */
struct builtin {
    const char *head, *tail, *name, *why;
};
static const struct builtin builtins[] = {
    {"http", "send",           "http.send",          "it sends requests from the policy engine"      },
    {"net",  "lookup_ip_addr", "net.lookup_ip_addr",
     "it sends names to the name servers of the host"                                                },
    {"opa",  "runtime",        "opa.runtime",        "it reads the environment of the policy engine" },
    {"json", "match_schema",   "json.match_schema",  "it reads addresses and files that a $ref names"},
    {"json", "verify_schema",  "json.verify_schema",
     "it reads addresses and files that a $ref names"                                                },
};

/* Builtins of OPA 1.20 that do not look if the evaluation was cancelled (v1/topdown), and whose
 * work is not bounded by the octets of their arguments. */
static const struct builtin endless[] = {
    {"bits",  "lsh",             "bits.lsh",              "it makes a number of as many bits as its argument says"},
    {"graph", "reachable_paths", "graph.reachable_paths",
     "it lists all paths, which are exponentially many"                                                           },
    {"regex", "globs_match",     "regex.globs_match",     "its time is exponential in the patterns"               },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Skip a string that begins at c with a quote. In back quotes nothing is escaped. Return the place
 * behind it; the end of the text if it is not closed. */
static const char *
skip_string(const char *c)
{
    char quote = *c++;
    while (*c != '\0' && *c != quote)
        c += *c == '\\' && quote == '"' && c[1] != '\0' ? 2 : 1;
    return *c == '\0' ? c : c + 1;
}

/*
 * True if the member at c, behind the head of a reference, is `tail`: .tail, ["tail"] or
 * [(`tail`)]. A text with an escape may be any word. A member that is not a string names no
 * builtin.
 */
static bool
builtin_is_member(const char *c, const char *tail)
{
    size_t length = strlen(tail);
    c = rego_skip_blanks(c);
    if (*c == '.') {
        c = rego_skip_blanks(c + 1);
        return rego_word_length(c) == length && strncmp(c, tail, length) == 0;
    }
    if (*c != '[')
        return false;
    do
        c = rego_skip_blanks(c + 1);
    while (*c == '(');
    if (*c != '"' && *c != '`')
        return false;
    const char *end = skip_string(c);
    if (*c == '"' && memchr(c, '\\', (size_t) (end - c)) != NULL)
        return true;
    return (size_t) (end - c) == length + 2 && strncmp(c + 1, tail, length) == 0;
}

/* True if the word at c, of `length` octets, begins the name of a builtin. */
static bool
begins_builtin(const struct builtin *table, size_t count, const char *c, size_t length,
               struct rule_builtin_use *ret)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].head) == length && strncmp(c, table[i].head, length) == 0
            && builtin_is_member(c + length, table[i].tail)) {
            *ret = (struct rule_builtin_use){.name = table[i].name, .why = table[i].why};
            return true;
        }
    return false;
}

static int
builtin_line_of(const char *content, const char *place)
{
    int line = 1;
    for (const char *c = content; (c = memchr(c, '\n', (size_t) (place - c))) != NULL; c++)
        line++;
    return line;
}

/* Skip a comment or a string at c; *templates is set where a template string begins, from which on
 * nothing is skipped. Return the place behind it, or c. */
static const char *
skip_passive(const char *c, bool *templates)
{
    if (*c == '$' && (c[1] == '"' || c[1] == '`'))
        *templates = true;
    if (*templates)
        return c;
    if (*c == '#')
        return c + strcspn(c, "\n");
    return *c == '"' || *c == '`' ? skip_string(c) : c;
}

/* Find the first use of a builtin of a table. */
static bool
find_in(const struct builtin *table, size_t count, const char *content,
        struct rule_builtin_use *ret)
{
    bool templates = false;
    for (const char *c = content; *c != '\0';) {
        const char *next = skip_passive(c, &templates);
        size_t length = rego_word_length(c);
        if (next == c && length > 0 && (c == content || c[-1] != '.')
            && begins_builtin(table, count, c, length, ret)) {
            ret->line = builtin_line_of(content, c);
            return true;
        }
        c = next != c ? next : c + (length > 0 ? length : 1);
    }
    return false;
}

bool
rule_builtin_find(const char *content, struct rule_builtin_use *ret)
{
    return find_in(builtins, COUNT(builtins), content, ret);
}

bool
rule_builtin_find_endless(const char *content, struct rule_builtin_use *ret)
{
    return find_in(endless, COUNT(endless), content, ret);
}
