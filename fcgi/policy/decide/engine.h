/* The policy engine behind a few functions, so that another engine can be added without touching an
 * endpoint. */
#ifndef AZ_POLICY_DECIDE_ENGINE_H
#define AZ_POLICY_DECIDE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"

/* Octets of a decision. What it answers came in a form of at most 64 KiB; it is stored with the
 * token and asked about again, so it must not grow from one evaluation to the next. */
#define ENGINE_DECISION_MAX (128 << 10)

/* Octets of an engine's status. It names every error of a bundle with its line, which may be a
 * whole rule (RULE_CONTENT_MAX), each octet of it written as six; beyond this a save would wait in
 * vain for a verdict that is there. */
#define ENGINE_STATUS_MAX (8 << 20)

/* Octets of the engine's words that are kept: more, and a line of the operator's is quoted whole.
 */
#define ENGINE_MESSAGE_MAX 4096

/* Nesting of an answer. authorization_details, which come back in it, may be 16 deep. */
#define ENGINE_ANSWER_DEPTH_MAX 64

/* What an engine said to one question. */
struct engine_answer {
    json_t *result;       /* value of the entrypoint, owned by op->mem; NULL when undefined */
    const char *revision; /* revision of the bundle that decided, on op->mem */
    const char *version;  /* the engine's own, on op->mem; NULL when it does not say */
    long us;              /* wall time of the call, microseconds */
    const char *input;    /* the question as text, on op->mem, not NUL-terminated */
    size_t input_length;
};

/* An engine at unix:/PATH, http://HOST:PORT or https://HOST:PORT that must answer within
 * timeout_ms; nothing is connected yet. NULL when the address is none or memory is out. */
struct engine *engine_new(TALLOC_CTX *mem, const char *url, long timeout_ms);

/*
 * Evaluates an entrypoint ("svc/decision/issue") with an input document. AZ_UNAVAILABLE with the
 * reason in the fault when the engine is away, late, or answers anything but 200 with well-formed
 * JSON and a bundle revision: never a decision. `input` and `us` are set then too, for the audit.
 */
enum az_status engine_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                               struct engine_answer *ret);

/*
 * Octets of a trial's answer. The full trace of an ordinary issuance is 64 kB, so this is one of
 * sixty times its steps; nobody reads more, and the worker holds it a few times over.
 */
#define ENGINE_TRIAL_MAX (4 << 20)

/* Longest wait for a trial's answer, or the configured one if that is longer: a rule takes ten and
 * more times its time to be traced, and who tries one out sits and waits. Milliseconds. */
#define ENGINE_TRIAL_WAIT_MS 10000

/* How much of its way to the answer the engine tells. */
enum engine_explain {
    ENGINE_EXPLAIN_OFF,   /* nothing */
    ENGINE_EXPLAIN_NOTES, /* what the rules themselves trace() */
    ENGINE_EXPLAIN_FAILS, /* expressions that did not hold, with what led to them */
    ENGINE_EXPLAIN_FULL,  /* every expression that was evaluated */
    ENGINE_EXPLAIN_DEBUG, /* and what the engine did inside */
    ENGINE_EXPLAIN_COUNT
};

/* The word of each of them in a query; "" for off. */
extern const char *const engine_explain_words[ENGINE_EXPLAIN_COUNT];

/* What the engine said to a question that somebody only tries out. All on op->mem. */
struct engine_trial {
    json_t *result;       /* NULL when undefined */
    json_t *explanation;  /* array of lines; NULL unless it was asked for */
    json_t *metrics;      /* object: what took how long */
    const char *revision; /* revision of the bundle that answered */
    const char *error;    /* why there is no answer: evaluation_failed, answer_too_large or
                             answer_unreadable; NULL when there is one */
    const char *message;  /* what the operator can do about that, in the engine's words if it had
                             any, with file:row where known */
    json_t *errors;       /* array of the engine's own errors, or NULL */
};

/*
 * Evaluates any path of the engine's documents ("custom/issue/deny"); the caller has made sure that
 * it is words with slashes between. An answer is no decision: it is not held against the question,
 * and its revision may be any. AZ_UNPROCESSABLE with ret->error when the evaluation failed or its
 * answer is beyond what can be shown: that is the rule's fault, not the engine's. AZ_UNAVAILABLE
 * for everything else, as above.
 */
enum az_status engine_try(struct op *op, const char *path, const json_t *input,
                          enum engine_explain explain, struct engine_trial *ret);

/*
 * What the engine itself reports of the bundle: active revision ("" if none), and the message of
 * the last failed activation ("" if none) with its place. AZ_UNAVAILABLE as above.
 */
struct engine_status {
    const char *instance;        /* which engine says so, on op->mem; NULL when it does not say */
    const char *active_revision; /* on op->mem */
    const char *code;            /* bundle_error, or "" */
    const char *message;         /* with file:row where known, or "" */
    int64_t tried_ms; /* its own time of its last attempt to fetch, milliseconds since 1970; 0 if
                         none */
    bool transport;   /* the error is one of fetching, not of the bundle */
};
enum az_status engine_revision(struct op *op, struct engine_status *ret);

/* Octets of the label that tells engines apart. */
#define ENGINE_INSTANCE_MAX 128

/* The label `instance` of a status, else its `id`; NULL when there is none of a fair length. */
const char *engine_instance(const json_t *labels);

/* How status documents are parsed: their metrics hold integers beyond 64 bits, which nobody reads.
 */
#define ENGINE_STATUS_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL)

/* Reads a `bundles.svc` status object (of GET /v1/status and of the status push). A message is cut
 * to ENGINE_MESSAGE_MAX. */
void engine_read_status(TALLOC_CTX *mem, const json_t *bundle, struct engine_status *ret);

#endif
