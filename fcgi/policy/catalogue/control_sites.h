/* The places of a control: its package in the shipped rules, and the rules that give its reasons.
 * The reasons of the control `system` are given by the service itself. */
#ifndef AZ_POLICY_CATALOGUE_CONTROL_SITES_H
#define AZ_POLICY_CATALOGUE_CONTROL_SITES_H

#include <jansson.h>

#include "base/op.h"

/*
 * List the sites of a control by file and line: [{file, rule, line, code}]. `file` is relative to
 * SVC_DATA_DIR/policy (of the control `system`: to the source of the program), `rule` begins with
 * its package, `code` is the reason given there. The package of the control itself is a site
 * without code. *ret is owned by op->mem.
 *
 * This does not parse Rego. It relies on the layout of the shipped rules (etc/policy/README): rules
 * begin in the first column, and code and control of a reason are on one line. No decision depends
 * on it.
 */
enum az_status control_sites(struct op *op, const char *id, json_t **ret);

/* Add the sites in one file to `sites`. */
enum az_status control_sites_scan(struct op *op, const char *id, const char *file, const char *text,
                                  json_t *sites);

#endif
