/* Terms of Rego, which are JSON but for the names of rules. */
#ifndef AZ_CEDAR_REGO_TERM_H
#define AZ_CEDAR_REGO_TERM_H

#include "base/buf.h"
#include "cedar/value.h"

/* Longest text that is made, in octets, from a file of 512 KiB and from entities of 32 MiB. talloc
 * gives no more than 256 MiB at once, so with that limit a longer text would be a lack of memory.
 */
#define CEDAR_REGO_MAX ((size_t) 128 << 20)

/* Names of the members that tell entities and values of extension types from records. */
#define CEDAR_REGO_ENTITY "__entity"
#define CEDAR_REGO_EXTENSION "__extn"

/* Append a value. */
void cedar_rego_put(struct buf *buf, const struct cedar_value *value);

#endif
