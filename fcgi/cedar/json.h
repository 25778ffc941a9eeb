/* JSON for Cedar. base/json/jsonx.h refuses U+0000, which strings and names of Cedar may contain.
 */
#ifndef AZ_CEDAR_JSON_H
#define AZ_CEDAR_JSON_H

#include "base/buf.h"
#include "cedar/ast.h"

enum cedar_json_kind {
    CEDAR_JSON_NULL,
    CEDAR_JSON_BOOL,
    CEDAR_JSON_LONG,
    CEDAR_JSON_REAL, /* any other number, which is not a value of Cedar */
    CEDAR_JSON_STRING,
    CEDAR_JSON_ARRAY,
    CEDAR_JSON_OBJECT,
};

struct cedar_json {
    enum cedar_json_kind kind;
    bool truth;
    int64_t number;
    struct cedar_text text;
    struct cedar_json *child; /* items, or members */
    struct cedar_text *name;  /* of the members */
    size_t count;
};

/* Parse one JSON value (RFC 8259), nested at most CEDAR_NESTING_MAX deep. False: the fault was
 * recorded. The value belongs to mem. */
bool cedar_json_parse(TALLOC_CTX *mem, const char *text, size_t length, struct cedar_json *ret,
                      struct cedar_fault *ret_fault);

/* Return a member of an object, or NULL. Of two members with one name it is the first one; the
 * readers of entities refuse such an object. */
const struct cedar_json *cedar_json_get(const struct cedar_json *object, const char *name);

/* Append a text as a JSON string, which is also a string of Rego. */
void cedar_json_put(struct buf *buf, struct cedar_text text);

#endif
