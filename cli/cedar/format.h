/* Canonical text of policies. */
#ifndef AZ_CLI_CEDAR_FORMAT_H
#define AZ_CLI_CEDAR_FORMAT_H

#include "cedar/ast.h"

/* Return the policies as text that is parsed to the same tree; comments are lost. NULL: no memory.
 */
char *cedar_format(TALLOC_CTX *mem, const struct cedar_file *file);

#endif
