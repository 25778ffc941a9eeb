/*
 * The settings of policy: every place of a data row at which an operator may set a value, as its
 * schema describes it, references followed.
 *
 * A setting is named `<data key>#<path>`. The path is a JSON Pointer (RFC 6901) into the row, with
 * `{name}` for a key that the operator chooses (the schema's `x-key` gives its name) and `{index}`
 * for an item:
 *
 *   svc.operator.controls.introspection#/require_audience
 *   svc.entitlements.bindings#/clients/{client_id}/scopes
 *   svc.operator.controls.exchange#/allowed/{index}/actor
 *
 * Members and entries of maps are settings, even if they are objects. The row itself and the items
 * of an array are not; the array is.
 */
#ifndef AZ_POLICY_CATALOGUE_CONTROL_SETTINGS_H
#define AZ_POLICY_CATALOGUE_CONTROL_SETTINGS_H

#include <jansson.h>

#include "base/op.h"

/* A row and its control. */
struct control_row {
    const char *key;      /* data key */
    const char *control;  /* id of its control */
    const json_t *schema; /* of the row */
};

/*
 * Add the settings of a row to `settings`, in the order of its schema: name -> {type, default,
 * description, control, required}. A default of null means that there is none: the setting is
 * required (if its parent is present), or its description says what its absence means.
 * AZ_SERVER_ERROR: the schema has a fault, a setting has no type or no description, or a map has no
 * x-key.
 */
enum az_status control_settings_add(struct op *op, const struct control_row *row, json_t *settings);

#endif
