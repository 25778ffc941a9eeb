/*
 * The questions that an upstream asks in place of an answer (MCP 2026-07-28, multi round-trip
 * requests; gateway-admin.md 1.12): what of them passes, and what policy sees. Plain JSON in and
 * out.
 */
#ifndef AZ_GATEWAY_MCP_ASK_QUESTION_H
#define AZ_GATEWAY_MCP_ASK_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "managed/managed.h"

/* Questions of one result: a person answers them at once. */
#define QUESTIONS_MAX 8
/* Octets of the name that a question has within its result. */
#define QUESTION_KEY_MAX 64
/* Characters of a message to the person: a longer one would not fit on a screen and would not be
 * read. */
#define QUESTION_MESSAGE_MAX 2000
/* Octets of the params of a sampling as JSON text. */
#define QUESTION_SAMPLING_MAX 65536
/* Messages of a sampling. */
#define QUESTION_SAMPLING_MESSAGES_MAX 100
/* Octets of the forms of one result as JSON text: requestState carries them all. */
#define QUESTION_FORMS_MAX 32768

/* Limits of the questions of one resource. */
struct question_rules {
    const char *name;           /* of the resource, for people; messages begin with it */
    const json_t *capabilities; /* sent to the upstream (question_capabilities()) */
    const char *host;           /* of the upstream */
    const char *const *hosts;   /* further hosts allowed in URL questions, or NULL */
    const char *issuer_host;    /* hosts of this service, to which no question may send a person: an
                                   upstream's page there would look like ours */
};

struct asked_question {
    const char *key;  /* its name within the result */
    const char *kind; /* of the action for policy: elicitation, sampling or roots */
    const char *name; /* of that action: form, url, message or list */
    json_t *request;  /* {method, params} as the client gets it */
    json_t *seen;     /* arguments for policy: an object */
    json_t *fits;     /* what an answer must fit (answer.h) */
};

struct asked_questions {
    struct asked_question item[QUESTIONS_MAX];
    size_t count;
};

/* Return the capabilities to send to an upstream: what the client can do and the resource permits,
 * without elicitation if the caller is not a person. On mem; NULL: out of memory. */
json_t *question_capabilities(TALLOC_CTX *mem, const json_t *of_client,
                              const struct managed_interaction *may, bool person);

/* True if a method is one of those that ask. */
bool question_is_known(const char *method);

/*
 * Read inputRequests (or NULL), on mem. AZ_INVALID: it is malformed, or has a method that MCP does
 * not allow there. AZ_FORBIDDEN: the upstream may not ask this, and *ret_why says why.
 * AZ_SERVER_ERROR: out of memory.
 */
enum az_status questions_read(TALLOC_CTX *mem, const struct question_rules *rules,
                              const json_t *requests, struct asked_questions *ret,
                              const char **ret_why);

#endif
