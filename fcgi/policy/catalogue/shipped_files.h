/* The policy that comes with the program, as files: SVC_DATA_DIR/policy. Names are relative to
 * that.
 */
#ifndef AZ_POLICY_CATALOGUE_SHIPPED_FILES_H
#define AZ_POLICY_CATALOGUE_SHIPPED_FILES_H

#include <jansson.h>

#include "base/op.h"

/* Octets of one file; the largest that is shipped has 30 kB. */
#define SHIPPED_FILE_MAX (256 * 1024)

/* Nesting of a JSON file; the schemas stay below 12. */
#define SHIPPED_DEPTH_MAX 32

/* Files below one folder, and folders in folders: far more than there are, and an end for a link
 * that leads back. */
#define SHIPPED_FILES_MAX 256
#define SHIPPED_FOLDERS_MAX 8

/* One file, whole, as text. AZ_SERVER_ERROR names SVC_DATA_DIR and the file. */
enum az_status shipped_text(struct op *op, const char *name, const char **ret);

/* The same, read as JSON; owned by op->mem. */
enum az_status shipped_json(struct op *op, const char *name, json_t **ret);

/* Hears of a file; anything but AZ_OK ends the walk. */
typedef enum az_status shipped_file_fn(struct op *op, void *arg, const char *name,
                                       const char *text);

/* Calls take() with each file below the folder whose name ends in suffix, in the order of their
 * octets. */
enum az_status shipped_each(struct op *op, const char *folder, const char *suffix,
                            shipped_file_fn *take, void *arg);

#endif
