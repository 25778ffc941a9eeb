/* What a policy data row may be called and how large it may be (specification 2.5). */
#ifndef AZ_POLICY_ROWS_DATA_KEY_H
#define AZ_POLICY_ROWS_DATA_KEY_H

#include <stdbool.h>

/* Code points of a data key. */
#define POLICY_DATA_KEY_MAX 256

/* Nesting of a payload: what the body of a PATCH can bring, and no merge of two makes more. */
#define POLICY_DATA_DEPTH_MAX 32

/*
 * Octets of a payload that PATCH may grow to; a PUT is bounded by its body. 50,000 bindings of 150
 * octets fit; the engine holds about ten times the text in memory.
 */
#define POLICY_DATA_PAYLOAD_MAX (8 * 1024 * 1024)

/* What is wrong with a data key, or NULL: 1 to 256 characters, words of A-Za-z0-9_- with dots
 * between them. */
const char *policy_data_key_fault(const char *key);

/* Whether a dotted name, of a data key or of a package, is `root` or lies below it. */
bool policy_name_lies_in(const char *name, const char *root);

#endif
