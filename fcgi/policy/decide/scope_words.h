/* The row svc.registry.scopes: words for scopes by language, which people read before they allow
 * one (decisions.md "Words for scopes"). */
#ifndef AZ_POLICY_DECIDE_SCOPE_WORDS_H
#define AZ_POLICY_DECIDE_SCOPE_WORDS_H

#include <jansson.h>

#include "base/op.h"

/* Read the words as served now: an object by scope of objects by language tag with title and
 * description; NULL if there are no words. It lives at least to the end of the operation. One trip,
 * which brings the row only if it has changed. */
enum az_status scope_words_read(struct op *op, const json_t **ret);

#endif
