/* The files of the policy that comes with the program. Names are relative to SVC_DATA_DIR/policy.
 */
#ifndef AZ_POLICY_CATALOGUE_SHIPPED_FILES_H
#define AZ_POLICY_CATALOGUE_SHIPPED_FILES_H

#include <jansson.h>

#include "base/op.h"

/* Octets of one file; the largest shipped one has 15 kB. */
#define SHIPPED_FILE_MAX (256 * 1024)

/* Nesting of a JSON file; the schemas stay below 12. */
#define SHIPPED_DEPTH_MAX 32

/* Files below one folder, and nesting of folders: far more than there are, and a bound for symbolic
 * links that form a loop. */
#define SHIPPED_FILES_MAX 256
#define SHIPPED_FOLDERS_MAX 8

/* Read a file as text. The fault of AZ_SERVER_ERROR names SVC_DATA_DIR and the file. */
enum az_status shipped_text(struct op *op, const char *name, const char **ret);

/* Read a file as JSON; owned by op->mem. */
enum az_status shipped_json(struct op *op, const char *name, json_t **ret);

/* Called for each file; any status but AZ_OK ends the walk. */
typedef enum az_status shipped_file_fn(struct op *op, void *arg, const char *name,
                                       const char *text);

/* Call take() for each file below the folder whose name ends in suffix, sorted by the octets of
 * their names. */
enum az_status shipped_each(struct op *op, const char *folder, const char *suffix,
                            shipped_file_fn *take, void *arg);

#endif
