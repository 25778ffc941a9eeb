/* Tokens as an operator sees them: what a token is, and an end to it (decisions.md "Tokens over the
 * admin API"). */
#ifndef AZ_ADMIN_TOKENS_H
#define AZ_ADMIN_TOKENS_H

#include "http/route.h"

/* Body of both: {token}. */
extern const struct field_table token_question_table;

/* Tell the facts of a token, live or not. Policy is not asked: it decides for a caller. */
enum az_status token_introspect_handle(struct request *req);

/* Revoke a live token; a refresh token with its whole family. */
enum az_status token_revoke_handle(struct request *req);

#endif
