/* The machine's answer as the JSON value that the reader of OPA's answer would make of it. */
#ifndef AZ_POLICY_ENGINE_ENGINE_RESULT_H
#define AZ_POLICY_ENGINE_ENGINE_RESULT_H

#include <jansson.h>
#include <talloc.h>

#include "rego/value.h"

/*
 * Return the value, on mem. NULL, with the reason in *ret_why: no memory, or the value does not
 * come through JSON unchanged (a number beyond 64 bits or binary64, NUL in a text, a key that is no
 * text), or is larger or deeper than an answer of OPA may be.
 */
json_t *engine_result(TALLOC_CTX *mem, const struct rego_value *value, const char **ret_why);

#endif
