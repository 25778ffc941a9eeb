/*
 * The rules of a Rego text, found by its words and brackets without the engine: what a save needs
 * for a warning (rule_unread.h) or a place (rule_places.h). The engine judges the text itself.
 */
#ifndef AZ_POLICY_ROWS_REGO_RULES_H
#define AZ_POLICY_ROWS_REGO_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

/* One rule: its head, its bodies and its `else`, up to the next one. */
struct rego_rule {
    const char *name; /* first word of its head */
    unsigned line;    /* counted from 1 */
    const char *begin, *end;
};

/* A part of a text that is no blank and no comment. Strings have their quotes. */
struct rego_token {
    enum { REGO_END, REGO_WORD, REGO_STRING, REGO_NUMBER, REGO_SIGN } kind;
    const char *text;
    size_t length;
    bool first; /* of its line */
};

/* Return the token at c, and the place behind it in *ret_next. An unclosed string is one token up
 * to the end. */
struct rego_token rego_token_at(const char *c, const char **ret_next);

/* True if a token is the word. */
bool rego_token_is(const struct rego_token *token, const char *word);

/*
 * Find the rules of a text. False: out of memory, or the text has a template string ($"..."), whose
 * expressions are not read. Names are on mem; begin and end point into the text.
 */
bool rego_rules_find(TALLOC_CTX *mem, const char *content, struct rego_rule **ret,
                     size_t *ret_count);

#endif
