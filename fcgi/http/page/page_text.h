/* A text of the pages: words with values in braces, "as {subject_name}". The words are never HTML.
 */
#ifndef AZ_HTTP_PAGE_PAGE_TEXT_H
#define AZ_HTTP_PAGE_PAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "http/page/template.h"

/* A part of a text: words, then a value. */
struct text_part {
    const char *words;                 /* not NUL-terminated */
    size_t length;                     /* octets of words */
    char value[TEMPLATE_NAME_MAX + 1]; /* its name; "" where the text ends */
};

/* Read the next part and move *text behind it. False: the text ends, or has a fault: then *text is
 * at a brace that is not part of {name}. */
bool text_next(const char **text, struct text_part *ret);

/* True if a text has no fault and names exactly the values that another one names, in any order. */
bool text_same_values(const char *text, const char *other);

#endif
