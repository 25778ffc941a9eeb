/* The smallest parts of a Rego text (OPA v1/ast/internal/scanner). */
#ifndef AZ_POLICY_ROWS_REGO_TEXT_H
#define AZ_POLICY_ROWS_REGO_TEXT_H

#include <stdbool.h>
#include <string.h>

/* True if Rego skips the character between tokens. */
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

/* True if a name of Rego may begin with the character. */
static inline bool
rego_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Return the length of the word at c, in octets; 0 if there is none. This is asked at each octet of
 * a rule, so it reads no further than the word. */
static inline size_t
rego_word_length(const char *c)
{
    size_t length = 0;
    if (!rego_is_letter(*c))
        return 0;
    while (rego_is_letter(c[length]) || (c[length] >= '0' && c[length] <= '9'))
        length++;
    return length;
}

#endif
