/* Reading of the vector files of this folder. A test that cannot read its vectors fails. */
#ifndef AZ_T_VECTORS_LOAD_H
#define AZ_T_VECTORS_LOAD_H

#include <jansson.h>
#include <stddef.h>
#include <talloc.h>

/* The JSON of t/vectors/<name>; exits with an error when it cannot be read. */
json_t *vectors_load(TALLOC_CTX *mem, const char *name);

/* The string member of an object; exits with an error when it is not there. */
const char *vectors_text(const json_t *object, const char *name);

/* The same, hex-decoded. */
unsigned char *vectors_octets(TALLOC_CTX *mem, const json_t *object, const char *name,
                              size_t *ret_len);

#endif
