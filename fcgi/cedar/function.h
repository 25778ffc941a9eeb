/* Methods and extension functions of Cedar. */
#ifndef AZ_CEDAR_FUNCTION_H
#define AZ_CEDAR_FUNCTION_H

#include "cedar/value.h"

struct cedar_entities;

/* One row of the table. */
struct cedar_function {
    const char *name;
    bool method;    /* called as x.name(); else as name() */
    bool checked;   /* the parser checks the number of arguments; if false, the evaluation errors */
    size_t minimum; /* arguments, of a method with the receiver */
    size_t maximum;
    const char *rego; /* function of svc.cedar.rt */
    /* False: the evaluation errors. */
    bool (*call)(const struct cedar_entities *entities, const struct cedar_value *argument,
                 size_t count, struct cedar_value *ret);
};

/* Return the row of a name, or NULL. */
const struct cedar_function *cedar_function_find(struct cedar_text name);

/* Return the names of all methods, or of all functions, that are most like a word; as
 * nearest_words(). */
const char *cedar_function_nearest(TALLOC_CTX *mem, bool method, struct cedar_text name);

#endif
