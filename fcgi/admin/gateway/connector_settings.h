/* Settings of connectors: the values for the places of a manifest (gateway-admin.md 3.7). */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_SETTINGS_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_SETTINGS_H

#include "admin/resource/resource.h"
#include "managed/import/manifest.h"

/* Check settings (may be NULL) by the schema of a manifest. AZ_INVALID: each fault is in the
 * answer's fieldErrors. AZ_SERVER_ERROR. */
enum az_status connector_settings_check(struct request *req,
                                        const struct managed_manifest *manifest,
                                        const json_t *settings);

/* The same for settings that replace those of an installed connector: its secrets are sealed with
 * the managed resource, so a secret is a fault. *ret is a copy that may be stored, on op->mem. */
enum az_status connector_settings_read(struct request *req, const struct managed_manifest *manifest,
                                       const json_t *settings, json_t **ret);

#endif
