/* The body of an AuthZEN request (Authorization API 1.0, 6.1 and 7.1): one access request, or
 * several with defaults. Plain JSON in, what policy is asked out. */
#ifndef AZ_AUTHZEN_ACCESS_REQUEST_H
#define AZ_AUTHZEN_ACCESS_REQUEST_H

#include <jansson.h>
#include <stdbool.h>

#include "base/json/fields.h"
#include "base/op.h"

/* Limits. Each is far above real use. */
/* Nesting of a body. It is stored in the policy input, one level deeper, and read again for a
 * replay, where ENGINE_ANSWER_DEPTH_MAX counts. */
#define ACCESS_DEPTH_MAX 32
/* Evaluations of one request: the engine needs a few dozen microseconds for each, and half of
 * SVC_POLICY_TIMEOUT_MS must remain for the rules of operators. */
#define ACCESS_EVALUATIONS_MAX 100
/* Code points of a type and of an action's name, as in the row svc.operator.controls.authzen. */
#define ACCESS_WORD_MAX 256
/* Code points of an id. */
#define ACCESS_ID_MAX 1024
/* Octets of the copies of defaults in all evaluations: a default of 60 kB in each of 100 of them
 * would make a question of 6 MB. The stored policy input has at most PACK_TEXT_MAX. */
#define ACCESS_DEFAULTS_MAX (256 << 10)

/* The semantic of a batch says which of its decisions are returned (7.1.2.1). */
enum access_semantic {
    ACCESS_EXECUTE_ALL,            /* all */
    ACCESS_DENY_ON_FIRST_DENY,     /* up to the first deny */
    ACCESS_PERMIT_ON_FIRST_PERMIT, /* up to the first permit */
    ACCESS_SEMANTICS
};

/* The word of each in `options.evaluations_semantic`. */
extern const char *const access_semantic_words[ACCESS_SEMANTICS + 1]; /* ends with NULL */

/* The members of the bodies: of one access request, and of several. */
extern const struct field_table access_request_table, access_requests_table;

/* A checked body. */
struct access_request {
    bool batch;                    /* it has evaluations */
    enum access_semantic semantic; /* of a batch */
    size_t count;                  /* evaluations as sent; 1 unless batch */
    const char **faults; /* of each evaluation: public text, or NULL if it is well-formed */
    json_t *requests;    /* the well-formed ones in their order: array of objects with the members
                            subject, action, resource and context alone */
};

/*
 * Read a body. With `several`, it may have evaluations, and the members beside them are the
 * defaults: an evaluation's member replaces the whole default. An evaluation that is not
 * well-formed is no fault of the body (7.2.1). AZ_INVALID_REQUEST, with the member in the public
 * text: the body itself is not well-formed. AZ_TOO_LARGE: the copies of the defaults exceed
 * ACCESS_DEFAULTS_MAX.
 */
enum az_status access_request_read(struct op *op, const json_t *body, bool several,
                                   struct access_request *ret);

#endif
