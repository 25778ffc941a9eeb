#include "config.h"

#include "policy/rows/rule_builtins.h"

#include <string.h>

#include "policy/rows/rego_text.h"

/* All builtins of OPA 1.20 that do more than compute (`opa capabilities --current`, and
 * v1/topdown). Others that are not deterministic (time.now_ns, rand.intn, uuid.rfc4122) are
 * harmless. */
static const struct {
    const char *head, *tail, *name, *why;
} builtins[] = {
    {"http", "send",           "http.send",          "it sends requests from the policy engine"      },
    {"net",  "lookup_ip_addr", "net.lookup_ip_addr",
     "it sends names to the name servers of the host"                                                },
    {"opa",  "runtime",        "opa.runtime",        "it reads the environment of the policy engine" },
    {"json", "match_schema",   "json.match_schema",  "it reads addresses and files that a $ref names"},
    {"json", "verify_schema",  "json.verify_schema",
     "it reads addresses and files that a $ref names"                                                },
};

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
begins_builtin(const char *c, size_t length, struct rule_builtin_use *ret)
{
    for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
        if (strlen(builtins[i].head) == length && strncmp(c, builtins[i].head, length) == 0
            && builtin_is_member(c + length, builtins[i].tail)) {
            *ret = (struct rule_builtin_use){.name = builtins[i].name, .why = builtins[i].why};
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

bool
rule_builtin_find(const char *content, struct rule_builtin_use *ret)
{
    bool templates = false;
    for (const char *c = content; *c != '\0';) {
        const char *next = skip_passive(c, &templates);
        size_t length = rego_word_length(c);
        if (next == c && length > 0 && (c == content || c[-1] != '.')
            && begins_builtin(c, length, ret)) {
            ret->line = builtin_line_of(content, c);
            return true;
        }
        c = next != c ? next : c + (length > 0 ? length : 1);
    }
    return false;
}
