/* OAuth parameters in the grammar of their RFCs: plain text in, JSON values out. */
#ifndef AZ_OAUTH_PARAMETERS_H
#define AZ_OAUTH_PARAMETERS_H

#include <jansson.h>

#include "base/op.h"
#include "base/words.h"
#include "policy/decide/details.h"

/* Limits; base/words.h has the limits of a scope, and policy/decide/details.h has DETAILS_MAX. Each
 * is far above real use, and bounds the policy input. */
#define RESOURCE_MAX 512       /* characters of an indicator, as other URIs (specification 8) */
#define RESOURCE_TYPES_MAX 20  /* type URIs of one request */
#define DETAILS_TEXT_MAX 16384 /* octets of authorization_details */
#define DETAILS_DEPTH_MAX 16   /* nesting */
#define CONTEXT_TEXT_MAX 16384 /* octets of context */
#define CONTEXT_DEPTH_MAX 16   /* nesting */

/*
 * Read a scope (RFC 6749 3.3): scope = scope-token *( SP scope-token ), scope-token = 1*( %x21 /
 * %x23-5B / %x5D-7E ). Repeated words count once. The array is on op->mem, empty for a NULL text.
 * AZ_INVALID_SCOPE: not in this form.
 */
enum az_status scope_parse(struct op *op, const char *text, json_t **ret);

/* Check a resource (RFC 8707 2): an absolute URI without a fragment, or AZ_INVALID_TARGET. */
enum az_status resource_check(struct op *op, const char *text);

/* Return a checked resource as it is stored: the slash at the end of one below {issuer}/gateway is
 * dropped (audience.h). */
enum az_status resource_read(struct op *op, const char *text, const char **ret);

/* Read type URIs, separated by spaces. NULL text gives NULL. AZ_INVALID_REQUEST: not in this form.
 */
enum az_status resource_types_parse(struct op *op, const char *text, json_t **ret);

/*
 * Read authorization_details (RFC 9396 2): a JSON array of objects with a string `type`. The
 * members that RFC 9396 2.2 defines have its types, so that no rule of policy or of a resource
 * server meets another one. NULL text and the empty array give NULL. AZ_INVALID_REQUEST: not a JSON
 * array. AZ_INVALID_AUTHORIZATION_DETAILS: an entry that breaks the rule; the fault names it.
 */
enum az_status details_parse(struct op *op, const char *text, json_t **ret);

/*
 * Read the context of an introspection (oauth.md 3.4): a JSON object whose `scopes` is an array of
 * strings, or a scope text that becomes such an array. NULL text gives NULL. AZ_INVALID_REQUEST or
 * AZ_INVALID_SCOPE: not in this form.
 */
enum az_status context_parse(struct op *op, const char *text, json_t **ret);

#endif
