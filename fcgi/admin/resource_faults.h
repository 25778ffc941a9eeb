/* Faults of stored resources, for those who can mend them (gateway-admin.md 1.5): a setting that is
 * narrower today, or a rule of a later release. */
#ifndef AZ_ADMIN_RESOURCE_FAULTS_H
#define AZ_ADMIN_RESOURCE_FAULTS_H

#include <jansson.h>

#include "base/op.h"

/* Add status, statusReason and leftOut to ManagedResourceDtos whose document cannot be read, or is
 * served in part. *text: the resource of this name, or an array of them (name NULL), replaced if
 * there is such a resource. A trip or two. */
enum az_status resource_faults_show(struct op *op, const char *name, const char **text);

/* Add an entry of the list of attention for each such resource that is enabled. */
enum az_status resource_faults_list(struct op *op, json_t *entries);

#endif
