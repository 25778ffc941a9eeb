/*
 * The catalogue of controls (policy.md 6.4): what policy can be told, who tells it, and what it
 * answers. It is the file SVC_DATA_DIR/policy/controls.json with the schemas of the rows and the
 * rules beside it; etc/policy/tests holds these against each other, so that what is answered here
 * is what the engine does.
 *
 * Every function reads the files anew: administrators ask rarely. AZ_SERVER_ERROR: a file cannot be
 * read, or does not have the form below; the fault names it. Answers are owned by op->mem, in the
 * order of the catalogue.
 */
#ifndef AZ_POLICY_CATALOGUE_CONTROLS_H
#define AZ_POLICY_CATALOGUE_CONTROLS_H

#include <jansson.h>

#include "base/op.h"

/* Array of {id, title, decides, entrypoints, configurable, settings}; settings are the names under
 * which controls_settings() lists them. */
enum az_status controls_list(struct op *op, json_t **ret);

/* Object: name of a setting -> {type, default, description, control, required}; see
 * control_settings.h. */
enum az_status controls_settings(struct op *op, json_t **ret);

/*
 * Everything about one control: the members of controls_list() and inputs, outputs, reasons
 * [{code, category, message}], rows [{key, writers, schema}], sites [{file, rule, line, code}] (see
 * control_sites.h). *ret NULL: there is none of this id.
 */
enum az_status controls_describe(struct op *op, const char *id, json_t **ret);

#endif
