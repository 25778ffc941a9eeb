/* The rule by which authorization_details are narrowed (RFC 9396 6). Pure: no HTTP, no policy, no
 * database. */
#ifndef AZ_POLICY_DECIDE_DETAILS_H
#define AZ_POLICY_DECIDE_DETAILS_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/* Entries of one list, far above real use. It bounds the policy input, and the matching below,
 * which compares each entry with each. */
#define DETAILS_MAX 20

/* Octets shown of a type or value from a request; the public text of a failure has 255. */
#define DETAILS_SHOWN 64

/*
 * True if `narrow` gives nothing that `wide` does not. Each entry of `narrow` needs an entry of
 * `wide` of its own, so one payment does not cover two. Such a pair has the same members with equal
 * values; only the lists whose items RFC 9396 2.2 defines as a choice (locations, actions,
 * datatypes, privileges) may have fewer items. Their items count as a set. An empty list may mean
 * "any", so it is within an empty one alone. A member that one of the two lacks makes them
 * different: a restriction that is left out widens, and the meaning of one that is added is known
 * to its API alone.
 *
 * NULL counts as an empty array, which is within anything. Anything else that is no array, and an
 * array of more than DETAILS_MAX entries, is not within anything and has nothing else within it.
 *
 * *ret_entry (or NULL): number of the first entry of `narrow` that is too many or fits none.
 */
bool details_within(const json_t *narrow, const json_t *wide, size_t *ret_entry);

/* Return the name of an entry for an error text, "authorization_details[1] of type 'payment'"; on
 * mem, NULL without memory. The type is shown as sent; op_fail replaces characters that an
 * error_description may not have. */
const char *details_name(TALLOC_CTX *mem, const json_t *details, size_t entry);

#endif
