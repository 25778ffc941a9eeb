/* Reach of a change of a policy: the parts of two plans that an entrypoint uses. */
#ifndef AZ_REGO_REACH_H
#define AZ_REGO_REACH_H

#include "rego/machine.h"

/*
 * True if two policies give the same answer to each question to an entrypoint: the functions that
 * it reaches do the same in both plans (their names, numbers and places in files do not count),
 * and the base documents that they look up are equal. A look-up by a key that is not constant
 * counts as one of all that lies below. Each side has a plan, an entrypoint and data; input and
 * clock are any, and the same for both. False: an answer may differ, or there is no memory.
 */
bool rego_is_unreached(TALLOC_CTX *mem, const struct rego_question *one,
                       const struct rego_question *other);

#endif
