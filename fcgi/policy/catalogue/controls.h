/*
 * The catalogue of controls (policy.md 6.4): the settings of policy, their writers, and the reasons
 * that it gives. It comes from the file SVC_DATA_DIR/policy/controls.json, the schemas of the rows
 * and the shipped rules; etc/policy/tests checks that these agree.
 *
 * Every function reads the files again, because administrators ask rarely. AZ_SERVER_ERROR: a file
 * cannot be read or does not have the form below; the fault names it. Answers are owned by op->mem,
 * in the order of the catalogue.
 */
#ifndef AZ_POLICY_CATALOGUE_CONTROLS_H
#define AZ_POLICY_CATALOGUE_CONTROLS_H

#include <jansson.h>

#include "base/op.h"

/* List the controls: [{id, title, decides, entrypoints, configurable, settings}]; `settings` has
 * the names that controls_settings() uses. */
enum az_status controls_list(struct op *op, json_t **ret);

/* List all settings: name -> {type, default, description, control, required}; see
 * control_settings.h. */
enum az_status controls_settings(struct op *op, json_t **ret);

/*
 * Describe one control: the members of controls_list() and inputs, outputs, reasons
 * [{code, category, message}], rows [{key, writers, schema}], sites [{file, rule, line, code}] (see
 * control_sites.h). *ret is NULL for an unknown id.
 */
enum az_status controls_describe(struct op *op, const char *id, json_t **ret);

#endif
