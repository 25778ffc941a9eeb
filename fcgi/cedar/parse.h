/* Reading a Cedar file. */
#ifndef AZ_CEDAR_PARSE_H
#define AZ_CEDAR_PARSE_H

#include "cedar/ast.h"

/*
 * Parse a file: policies of Cedar 4, no templates. NULL: it is refused, *ret_fault says where and
 * why. The tree belongs to mem and refers to the text.
 */
struct cedar_file *cedar_parse(TALLOC_CTX *mem, const char *text, size_t length,
                               struct cedar_fault *ret_fault);

#endif
