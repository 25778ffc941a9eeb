/* Parts of connectors: their files, settings and policy rows (gateway-admin.md 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_PRIVATE_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_PRIVATE_H

#include <jansson.h>

#include "admin/resource/resource.h"
#include "base/op.h"
#include "http/request.h"
#include "managed/import/manifest.h"
#include "policy/save/save.h"

/* ---- the catalogue: one file ID.json for each connector in SVC_DATA_DIR/connectors, and in
 * SVC_CONNECTORS_DIR, which wins ---- */

/* Most connectors of the catalogue. */
#define CONNECTOR_FILES_MAX 500

/* Read the manifest of an id; on op->mem. *ret is NULL if there is none, or if it is refused: the
 * log says why, and the program's own file of the same id is not used in its place. */
enum az_status connector_file_read(struct op *op, const char *id,
                                   const struct managed_manifest **ret);

/* Return the ids of the files, in their order, as an array on op->mem, or NULL if out of memory. */
json_t *connector_file_ids(struct op *op);

/* ---- settings: the values for the places of a manifest ---- */

/* Check settings (may be NULL) by the schema of a manifest. AZ_INVALID: each fault is in the
 * answer's fieldErrors. AZ_SERVER_ERROR. */
enum az_status connector_settings_check(struct request *req,
                                        const struct managed_manifest *manifest,
                                        const json_t *settings);

/* The same for settings that replace those of an installed connector: its secrets are sealed with
 * the managed resource, so a secret is a fault. *ret is a copy that may be stored, on op->mem. */
enum az_status connector_settings_read(struct request *req, const struct managed_manifest *manifest,
                                       const json_t *settings, json_t **ret);

/* ---- the policy data row of a connector, saved like any other policy ---- */

/* Write the row of a connector in the open transaction; NULL deletes it. An operator can change the
 * row but not delete it while the connector is installed. */
enum az_status connector_policy_write(struct op *op, const char *id, const json_t *payload);

/* Make a change of connectors in a save of policy. AZ_UNPROCESSABLE: the engines refused it, and
 * nothing of the change is stored; the body of the answer says why. */
enum az_status connector_policy_save(struct request *req, save_apply_fn *apply, void *arg);

#endif
