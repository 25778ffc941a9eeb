/* Where a control is written: its package, and the rules that give its reasons, found in the rules
 * that come with the program. */
#ifndef AZ_POLICY_CATALOGUE_CONTROL_SITES_H
#define AZ_POLICY_CATALOGUE_CONTROL_SITES_H

#include <jansson.h>

#include "base/op.h"

/*
 * Sites of the control, by file and line: [{file, rule, line, code}]. `file` is relative to
 * SVC_DATA_DIR/policy, `rule` has its package before it, `code` is the reason given there. The
 * package of the control itself is a site without code.
 *
 * This reads the form in which the rules are written (etc/policy/README), not the language: rules
 * begin in the first column, and code and control of a reason stand on one line. Nothing is decided
 * by it. *ret is owned by op->mem.
 */
enum az_status control_sites(struct op *op, const char *id, json_t **ret);

/* The sites in one file, added to `sites`. */
enum az_status control_sites_scan(struct op *op, const char *id, const char *file, const char *text,
                                  json_t *sites);

#endif
