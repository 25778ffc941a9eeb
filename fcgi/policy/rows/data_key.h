/* Names and sizes of policy data rows (specification 2.5). */
#ifndef AZ_POLICY_ROWS_DATA_KEY_H
#define AZ_POLICY_ROWS_DATA_KEY_H

#include <stdbool.h>

/* Longest data key, in code points. */
#define POLICY_DATA_KEY_MAX 256

/* Nesting of a payload, and of the body of a PATCH: merging two values nests no deeper than they
 * do. */
#define POLICY_DATA_DEPTH_MAX 32

/*
 * Octets of a payload that PATCH may reach; a PUT is bounded by its body. 50,000 bindings of 150
 * octets fit. The engine uses about ten times the text in memory.
 */
#define POLICY_DATA_PAYLOAD_MAX (8 * 1024 * 1024)

/* Return the fault of a data key, or NULL. A key has 1 to 256 characters, words of A-Za-z0-9_-
 * separated by dots. */
const char *policy_data_key_fault(const char *key);

/* True if a dotted name, of a data key or of a package, is `root` or lies below it. */
bool policy_name_lies_in(const char *name, const char *root);

#endif
