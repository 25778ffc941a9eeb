/* The smallest parts of a Rego text (OPA v1/ast/internal/scanner). */
#ifndef AZ_POLICY_ROWS_REGO_TEXT_H
#define AZ_POLICY_ROWS_REGO_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool
rego_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Return the place behind blanks and comments. */
static inline const char *
rego_skip_blanks(const char *c)
{
    for (;;) {
        while (rego_is_blank(*c))
            c++;
        if (*c != '#')
            return c;
        c += strcspn(c, "\n");
    }
}

/* Return the length of the word at c, in octets; 0 if there is none. */
static inline size_t
rego_word_length(const char *c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
                                  "0123456789";
    return *c >= '0' && *c <= '9' ? 0 : strspn(c, letters);
}

#endif
