/* Numbers as JSON writes them, compared by their digits, as OPA does. */
#ifndef AZ_REGO_NUMBER_H
#define AZ_REGO_NUMBER_H

#include "rego/value.h"

/* Most digits of an exponent. OPA reads more, but then a comparison takes long. */
#define NUMBER_EXPONENT_DIGITS_MAX 4

/* True if the text is a 64-bit integer in its only spelling: no leading zero, no fraction, no
 * exponent, not -0. */
bool number_read_integer(const char *text, size_t length, int64_t *ret);

/* True if the text is a number of JSON (RFC 8259 6) whose exponent has at most
 * NUMBER_EXPONENT_DIGITS_MAX digits. */
bool number_is_json(const char *text, size_t length);

/* True if a decimal has a shorter spelling: it has an exponent, zeros at its end, or is -0. */
bool number_is_odd(const struct rego_value *value);

/* Compare two numbers exactly. */
int number_compare(const struct rego_value *a, const struct rego_value *b);

/* True if OPA takes a decimal for a 64-bit integer where it wants one: -0 and 1.0 are, 1e0 is not.
 */
bool number_is_integer(const struct rego_value *value, int64_t *ret);

#endif
