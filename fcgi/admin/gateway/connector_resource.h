/* The managed resource of a connector, written as an administrator would write it. */
#ifndef AZ_ADMIN_GATEWAY_CONNECTOR_RESOURCE_H
#define AZ_ADMIN_GATEWAY_CONNECTOR_RESOURCE_H

#include "http/request.h"
#include "managed/import/manifest.h"

/* Make the document of the resource `name`, with the routes and tools of an import.
 * AZ_INVALID_FIELDS: the faults are in the answer. */
enum az_status connector_resource_fill(struct request *req, const struct managed_manifest *manifest,
                                       const json_t *settings, const char *name, json_t **ret);

/*
 * Check and store the document of a managed resource, and record its connector, inside the open
 * transaction. `replaces`: there is a resource of the document's name. AZ_INVALID_FIELDS: the
 * faults are in the answer; AZ_CONFLICT: the name is taken, or the resource was changed at the same
 * time.
 */
enum az_status connector_resource_write(struct request *req, json_t *document, bool replaces,
                                        const char *connector, const char *version);

/* Read the document of a managed resource as GET shows it. */
enum az_status connector_resource_read(struct op *op, const char *name, json_t **ret);

#endif
