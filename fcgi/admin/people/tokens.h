/* Tokens as an operator sees them: their facts, and their revocation (decisions.md "Tokens over the
 * admin API"). */
#ifndef AZ_ADMIN_TOKENS_H
#define AZ_ADMIN_TOKENS_H

#include "http/route.h"

/* Tokens of a page: by default, and at most. */
#define TOKENS_SIZE 20
#define TOKENS_SIZE_MAX 200

/* Largest offset of a page, in tokens: the database reads and skips those before it. */
#define TOKENS_OFFSET_MAX 2000

/* Parameters of the list. */
extern const struct route_param tokens_params[];

/* Body of a question: {token}, and of a revocation: {token}, {subjectId} or {clientId}. */
extern const struct field_table token_question_table, token_revocation_table;

/* List the live tokens, the newest first, without their texts. */
enum az_status tokens_list_handle(struct request *req);

/* Tell the facts of a token, live or not. Policy is not asked: it decides for a caller. */
enum az_status token_introspect_handle(struct request *req);

/* Revoke a live token, a refresh token with its whole family, or all tokens and codes that a person
 * or a client has so far. 404 for an unknown person or client. */
enum az_status token_revoke_handle(struct request *req);

#endif
