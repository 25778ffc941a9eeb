/* Compare an object of the files with that of the service. */
#ifndef AZ_CLI_INSTANCE_COMPARE_H
#define AZ_CLI_INSTANCE_COMPARE_H

#include "cli/instance/instance.h"

/* Return the names of the members of `file` that `stored` has otherwise, an array on mem; NULL: no
 * memory. Members that the file does not name are left alone, null and absent are the same, and
 * secrets and pins are not compared. */
json_t *instance_changes(TALLOC_CTX *mem, const struct instance_kind *kind, const json_t *file,
                         const json_t *stored);

#endif
