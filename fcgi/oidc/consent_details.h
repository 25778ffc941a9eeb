/* The requested access in detail (RFC 9396), in words for the page on which a user allows it. */
#ifndef AZ_OIDC_CONSENT_DETAILS_H
#define AZ_OIDC_CONSENT_DETAILS_H

#include <jansson.h>
#include <stdbool.h>
#include <talloc.h>

/*
 * Append resource types and authorization_details (each an array or NULL) to `list`, the value
 * `details` of the page. An entry has `text`, all of it as it will be in the token, and, if it is
 * one of authorization_details, `title`, its type, and `members` [{name, text}], the rest of it.
 * Invisible characters are written as JSON in ASCII.
 *
 * False: no memory. The page must not be shown then: what it lacks would be allowed unseen.
 */
bool consent_show_details(TALLOC_CTX *mem, const json_t *resource_types, const json_t *details,
                          json_t *list);

#endif
