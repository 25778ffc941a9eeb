/* The catalogue of connectors: one file ID.json for each in SVC_DATA_DIR/connectors, and in
 * SVC_CONNECTORS_DIR, which wins (gateway-admin.md 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_FILES_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_FILES_H

#include "base/op.h"
#include "managed/import/manifest.h"

/* Most connectors of the catalogue. */
#define CONNECTOR_FILES_MAX 500

/* Read the manifest of an id; on op->mem. *ret is NULL if there is none, or if it is refused: the
 * log says why, and the program's own file of the same id is not used in its place. */
enum az_status connector_file_read(struct op *op, const char *id,
                                   const struct managed_manifest **ret);

/* Return the ids of the files, in their order, as an array on op->mem, or NULL if out of memory. */
json_t *connector_file_ids(struct op *op);

#endif
