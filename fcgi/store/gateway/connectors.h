/* Installed connectors (specification 2.9). */
#ifndef AZ_STORE_GATEWAY_CONNECTORS_H
#define AZ_STORE_GATEWAY_CONNECTORS_H

#include <jansson.h>

#include "base/json/fields.h"
#include "store/db/rows/json_rows.h"

/* ConnectorDto, keyed by id, and its members. The columns of an insert are version, manifest and
 * settings. A connector that is in use is not deleted. */
extern const struct json_rows connectors_rows;
extern const struct field_table connector_view;

/* An installed connector, for a sync; on op->mem. */
struct connector_stored {
    json_t *manifest;
    json_t *settings;  /* object */
    json_t *resources; /* array of the names of its managed resources */
};

/* Read one and lock it until the transaction ends. One trip. *ret is NULL if it is not installed.
 */
enum az_status connector_stored_fetch(struct op *op, const char *id,
                                      const struct connector_stored **ret);

/* Read the ids of all, in their order, as an array on op->mem. */
enum az_status connector_ids(struct op *op, json_t **ret);

/* Read the objects that use a connector, as an array of {type, id, name or count, href} on op->mem:
 * managed resources, people's connections, rules of the operator that name its data row, and
 * bindings that grant one of its scopes. */
enum az_status connector_blockers(struct op *op, const char *id, json_t **ret);

/* Store a new version of the manifest, and other settings (JSON text; NULL: they stay). */
enum az_status connector_update(struct op *op, const char *id, const char *version,
                                const char *manifest, const char *settings);

/* Record that a managed resource belongs to a connector, in this version. */
enum az_status connector_adopt(struct op *op, const char *id, const char *version,
                               const char *resource);

/* Protect the policy data row of a connector from being deleted, or end that protection. */
enum az_status connector_row_hold(struct op *op, const char *data_key, bool held);

#endif
