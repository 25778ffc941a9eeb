#include "config.h"

#include "policy/rows/rego_rules.h"

#include <string.h>

#include "base/words.h"
#include "policy/rows/rego_text.h"

/* ---- tokens */

/* Return the place behind the string at c. In back quotes nothing is escaped. */
static const char *
skip_string_token(const char *c)
{
    char quote = *c++;
    while (*c != '\0' && *c != quote)
        c += *c == '\\' && quote == '"' && c[1] != '\0' ? 2 : 1;
    return *c == '\0' ? c : c + 1;
}

/* Return the place behind the number at c; the parts of a name or of a version are no concern. */
static const char *
skip_number(const char *c)
{
    while ((*c >= '0' && *c <= '9') || *c == '.' || rego_is_letter(*c))
        c++;
    return c;
}

struct rego_token
rego_token_at(const char *c, const char **ret_next)
{
    const char *at = rego_skip_blanks(c);
    size_t blanks = (size_t) (at - c);
    struct rego_token token = {
        .kind = REGO_SIGN, .text = at, .first = memchr(c, '\n', blanks) != NULL};
    const char *next = *at != '\0' ? at + 1 : at;
    if (*at == '\0') {
        token.kind = REGO_END;
    } else if (rego_word_length(at) > 0) {
        token.kind = REGO_WORD;
        next = at + rego_word_length(at);
    } else if (*at == '"' || *at == '`') {
        token.kind = REGO_STRING;
        next = skip_string_token(at);
    } else if (*at >= '0' && *at <= '9') {
        token.kind = REGO_NUMBER;
        next = skip_number(at);
    }
    token.length = (size_t) (next - at);
    *ret_next = next;
    return token;
}

bool
rego_token_is(const struct rego_token *token, const char *word)
{
    return token->kind == REGO_WORD && strlen(word) == token->length
           && strncmp(token->text, word, token->length) == 0;
}

static bool
is_one_of(const struct rego_token *token, const char *const *words)
{
    for (; token->kind == REGO_WORD && *words != NULL; words++)
        if (rego_token_is(token, *words))
            return true;
    return false;
}

/* ---- rules */

/* Words that begin a line and no rule. */
static const char *const never_heads[] = {"as",   "contains", "else", "every", "false",
                                          "if",   "import",   "in",   "not",   "null",
                                          "some", "package",  "true", "with",  NULL};
/* Words after which an expression goes on in the next line. */
static const char *const go_on[] = {"as", "contains", "default", "else", "every", "if",
                                    "in", "not",      "some",    "with", NULL};

/* True if an expression goes on behind this token, whatever the line is. */
static bool
rego_goes_on(const struct rego_token *token)
{
    if (token->kind == REGO_SIGN)
        return strchr(")]}", *token->text) == NULL;
    return is_one_of(token, go_on);
}

/* A text that is read. */
struct rego_reading {
    TALLOC_CTX *mem;
    struct rego_rule *rule;
    size_t count;
    unsigned line; /* line of `counted` */
    const char *counted;
};

/* Begin a rule, whose head begins at `begin`, and end the one before. */
static bool
begin_rule(struct rego_reading *reading, const char *begin, const struct rego_token *name)
{
    size_t count = reading->count;
    for (; reading->counted < begin; reading->counted++)
        reading->line += *reading->counted == '\n';
    if ((count & (count - 1)) == 0) /* grows by doubling: 0, 1, 2, 4 ... */
        reading->rule = talloc_realloc(reading->mem, reading->rule, struct rego_rule,
                                       (unsigned) (count == 0 ? 1 : 2 * count));
    char *text = talloc_strndup(reading->mem, name->text, name->length);
    if (reading->rule == NULL || text == NULL)
        return false;
    if (count > 0)
        reading->rule[count - 1].end = begin;
    reading->rule[reading->count++] =
        (struct rego_rule){.name = text, .line = reading->line, .begin = begin};
    return true;
}

bool
rego_rules_find(TALLOC_CTX *mem, const char *content, struct rego_rule **ret, size_t *ret_count)
{
    struct rego_reading reading = {.mem = mem, .line = 1, .counted = content};
    struct rego_token before = {.kind = REGO_END}, token;
    const char *next = content;
    int depth = 0;
    while ((token = rego_token_at(next, &next)).kind != REGO_END) {
        bool sign = token.kind == REGO_SIGN;
        if (sign && *token.text == '$' && (*next == '"' || *next == '`'))
            return false;
        if (token.kind == REGO_WORD && token.first && depth == 0 && !rego_goes_on(&before)
            && !is_one_of(&token, never_heads)) {
            const char *begin = token.text;
            if (rego_token_is(&token, "default"))
                token = rego_token_at(next, &next);
            if (!begin_rule(&reading, begin, &token))
                return false;
        }
        depth += sign && strchr("([{", *token.text) != NULL;
        depth -= sign && depth > 0 && strchr(")]}", *token.text) != NULL;
        before = token;
    }
    if (reading.count > 0)
        reading.rule[reading.count - 1].end = token.text;
    *ret = reading.rule;
    *ret_count = reading.count;
    return true;
}
