/* The OAuth parameters that several grants share, read by their RFCs' grammar. Plain text in, JSON
 * values out. */
#ifndef AZ_OAUTH_PARAMETERS_H
#define AZ_OAUTH_PARAMETERS_H

#include <jansson.h>

#include "base/op.h"

/* Limits; each is far above real use and bounds the policy input. */
#define SCOPE_TEXT_MAX 1024    /* characters (specification 8) */
#define SCOPE_WORDS_MAX 100    /* scopes of one request */
#define RESOURCE_MAX 512       /* characters of an indicator, as other URIs (specification 8) */
#define RESOURCE_TYPES_MAX 20  /* type URIs of one request */
#define DETAILS_TEXT_MAX 16384 /* octets of authorization_details */
#define DETAILS_MAX 20         /* entries */
#define DETAILS_DEPTH_MAX 16   /* nesting */

/*
 * RFC 6749 3.3: scope = scope-token *( SP scope-token ), scope-token = 1*( %x21 / %x23-5B / %x5D-7E
 * ). Repeated words count once. AZ_INVALID_SCOPE otherwise. The array is owned by op->mem; NULL
 * text gives an empty one.
 */
enum az_status scope_parse(struct op *op, const char *text, json_t **ret);

/* RFC 8707 2: an absolute URI without fragment; AZ_INVALID_TARGET otherwise. */
enum az_status resource_check(struct op *op, const char *text);

/* Space-separated type URIs; NULL text gives NULL. AZ_INVALID_REQUEST otherwise. */
enum az_status resource_types_parse(struct op *op, const char *text, json_t **ret);

/*
 * RFC 9396 2: a JSON array of objects with a string `type`. Not JSON or no array:
 * AZ_INVALID_REQUEST; an entry that breaks the rule: AZ_INVALID_AUTHORIZATION_DETAILS. NULL text
 * gives NULL.
 */
enum az_status details_parse(struct op *op, const char *text, json_t **ret);

/* Words of `words` that are also in `ceiling` (NULL: all of them). */
json_t *scope_within(struct op *op, json_t *words, json_t *ceiling);

#endif
