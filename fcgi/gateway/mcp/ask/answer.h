/* Answers to the questions of an upstream: inputResponses (MCP 2026-07-28, multi round-trip
 * requests; gateway-admin.md 1.12). Plain JSON in and out. */
#ifndef AZ_GATEWAY_MCP_ASK_ANSWER_H
#define AZ_GATEWAY_MCP_ASK_ANSWER_H

#include <jansson.h>
#include <talloc.h>

#include "base/status.h"

/* Octets of all answers of one call as JSON text. */
#define ANSWERS_OCTETS_MAX 65536
/* Root directories of one answer, and octets of the URI of one. */
#define ANSWER_ROOTS_MAX 50
#define ANSWER_URI_MAX 2048
/* Octets of the name of a model, and of the reason why it stopped. */
#define ANSWER_WORD_MAX 256

/*
 * Read the answers to questions (an object: by key, what an answer must fit, as questions_read()
 * made it). Skip answers to other keys; a question may stay without an answer. *ret: an object on
 * mem. AZ_INVALID: it is not an object, or an answer does not fit its question, whose key is
 * *ret_key (or NULL). AZ_SERVER_ERROR: out of memory.
 */
enum az_status answers_read(TALLOC_CTX *mem, const json_t *questions, const json_t *responses,
                            json_t **ret, const char **ret_key);

/* Read one answer. As above. */
enum az_status answer_read(TALLOC_CTX *mem, const json_t *fits, const json_t *response,
                           json_t **ret);

#endif
