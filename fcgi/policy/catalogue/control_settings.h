/*
 * The settings of policy: every place of a data row at which an operator may put a value, found in
 * the row's schema.
 *
 * A setting is named `<data key>#<path>`. The path is a JSON Pointer (RFC 6901) into the row, with
 * `{name}` for a key of the operator's own (the schema's `x-key` says what it names) and `{index}`
 * for an item:
 *
 *   svc.operator.controls.introspection#/require_audience
 *   svc.entitlements.bindings#/clients/{client_id}/scopes
 *   svc.operator.controls.exchange#/allowed/{index}/actor
 *
 * Members and entries of maps are settings, objects among them too; the row itself and the items of
 * an array are not: the array is.
 */
#ifndef AZ_POLICY_CATALOGUE_CONTROL_SETTINGS_H
#define AZ_POLICY_CATALOGUE_CONTROL_SETTINGS_H

#include <jansson.h>

#include "base/op.h"

/* Whose row it is. */
struct control_row {
    const char *key;      /* data key */
    const char *control;  /* id of its control */
    const json_t *schema; /* of the row */
};

/*
 * Adds the settings of a row to `settings`, in the order of its schema: name -> {type, default,
 * description, control, required}. A default of null: there is none; the description says what
 * holds while the setting is absent, or it is required (where what it is in is present).
 * AZ_SERVER_ERROR: a setting without type or description, or a map that does not say what its keys
 * are.
 */
enum az_status control_settings_add(struct op *op, const struct control_row *row, json_t *settings);

#endif
