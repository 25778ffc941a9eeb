/* The policy engine, behind a few functions, so that no endpoint knows which one decides. engine.c
 * chooses; engine_opa.c asks OPA, over the connection of engine_http.c; engine_embedded.c decides
 * in this process. */
#ifndef AZ_POLICY_ENGINE_ENGINE_H
#define AZ_POLICY_ENGINE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/op.h"
#include "policy/engine/no_decision.h"

/* Octets of a decision. The request was a form of at most 64 KiB. A decision is stored with the
 * token and is part of the next question, so it must not grow from one evaluation to the next. */
#define ENGINE_DECISION_MAX (128 << 10)

/* Octets of an engine's status. It quotes the line of each error of a bundle, which may be a whole
 * rule (RULE_CONTENT_MAX) with each octet escaped as six. A smaller limit would let a save wait in
 * vain for a verdict that exists. */
#define ENGINE_STATUS_MAX (8 << 20)

/* Octets of an engine's message that are kept: it may quote a whole line of an operator's rule. */
#define ENGINE_MESSAGE_MAX 4096

/* Nesting of an answer, which repeats the authorization_details; these may be 16 deep. */
#define ENGINE_ANSWER_DEPTH_MAX 64

/*
 * A question that was asked, and its text: what the engine got, octet by octet, if that was a text.
 * The machine gets the document itself. Its text is made when it is recorded, so the document must
 * not be changed until then; if its length is another one than that of the question, there is none.
 */
struct question_text {
    const json_t *document; /* on op->mem; NULL: there is the text, or nothing was asked */
    const char *text;       /* on op->mem, not NUL-terminated; NULL: not made yet */
    size_t length;          /* octets of the text, also before it is made */
};

/* True if something was asked. */
static inline bool
question_was_asked(const struct question_text *asked)
{
    return asked->text != NULL || asked->document != NULL;
}

/* Make the text of a question on mem, unless it is there. False: nothing was asked, the document
 * was changed, or there is no memory. */
bool question_write(TALLOC_CTX *mem, struct question_text *asked);

/* The answer of an engine to one question. */
struct engine_answer {
    json_t *result;       /* value of the entrypoint, owned by op->mem; NULL when undefined */
    const char *revision; /* revision of the bundle that decided, on op->mem */
    const char *engine; /* with its version if it gave one: "opa/1.20.2"; on op->mem or constant */
    long us;            /* wall time of the call, microseconds */
    struct question_text asked; /* the question */
    enum no_decision lack;      /* why there is no decision, or unset */
};

/* Return an engine at unix:/PATH, http://HOST:PORT or https://HOST:PORT that must answer within
 * timeout_ms; it is not connected yet. With another address each question fails. NULL: no memory.
 */
struct engine *engine_new(TALLOC_CTX *mem, const char *url, long timeout_ms);

/*
 * Evaluate an entrypoint ("svc/decision/issue") with an input document, by the engine that
 * SVC_POLICY_ENGINE names; OPA also decides what the machine cannot. AZ_UNAVAILABLE, with the
 * reason in the fault: the engine is not reachable, late, or answers anything but 200 with
 * well-formed JSON and a bundle revision. That is never a decision, but `asked`, `us` and
 * `lack` are set for the audit.
 */
enum az_status engine_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                               struct engine_answer *ret);

/* Bring this process up to the revision that may decide. True if it now holds another one, so that
 * a question can be asked again at once; always false for OPA, which fetches revisions itself. */
bool engine_renew(struct op *op);

/* Evaluate by OPA, whatever the setting. */
enum az_status engine_opa_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                                   struct engine_answer *ret);

/* Evaluate by OPA for an answer that is not used and does not count as a decision. OPA must answer
 * within timeout_ms; 0: SVC_POLICY_TIMEOUT_MS. */
enum az_status engine_opa_ask(struct op *op, const char *entrypoint, const json_t *input,
                              long timeout_ms, struct engine_answer *ret);

/*
 * Longest answer to a trial, in octets. The full trace of an ordinary issuance has 64 kB, so a
 * trace of sixty times as many steps fits. The worker holds several copies of the answer.
 */
#define ENGINE_TRIAL_MAX (4 << 20)

/* Longest wait for a trial's answer, unless the configured one is longer, in milliseconds: tracing
 * makes a rule ten and more times slower, and an administrator waits for the answer. */
#define ENGINE_TRIAL_WAIT_MS 10000

/* The detail in which the engine explains its answer. */
enum engine_explain {
    ENGINE_EXPLAIN_OFF,   /* nothing */
    ENGINE_EXPLAIN_NOTES, /* the output of trace() in rules */
    ENGINE_EXPLAIN_FAILS, /* expressions that did not hold, with what led to them */
    ENGINE_EXPLAIN_FULL,  /* every expression that was evaluated */
    ENGINE_EXPLAIN_DEBUG, /* and the engine's internal steps */
    ENGINE_EXPLAIN_COUNT
};

/* The word of each in a query; "" for off. */
extern const char *const engine_explain_words[ENGINE_EXPLAIN_COUNT];

/* The answer of an engine to a trial. All on op->mem. */
struct engine_trial {
    json_t *result;       /* NULL when undefined */
    json_t *explanation;  /* array of lines; NULL unless requested */
    json_t *metrics;      /* object: timers of the evaluation */
    const char *revision; /* revision of the bundle that answered */
    const char *error;    /* why there is no answer: evaluation_failed, answer_too_large or
                             answer_unreadable; NULL when there is one */
    const char *message;  /* what the operator can do, or the engine's own words, with file:row if
                             known */
    json_t *errors;       /* array of the engine's own errors, or NULL */
    bool late;            /* no answer came in time */
};

/*
 * Evaluate any path of the engine's documents ("custom/issue/deny"); the caller has made sure that
 * it is words separated by slashes. The answer is not a decision: it is not checked against the
 * question, and any revision may have given it. AZ_UNPROCESSABLE with ret->error: the evaluation
 * failed, or the answer cannot be shown, which is the fault of a rule and not of the engine.
 * AZ_UNAVAILABLE as above.
 */
enum az_status engine_try(struct op *op, const char *path, const json_t *input,
                          enum engine_explain explain, struct engine_trial *ret);

/* Evaluate in the same way, within timeout_ms. `input` NULL: without an input. */
enum az_status engine_try_for(struct op *op, const char *path, const json_t *input,
                              enum engine_explain explain, long timeout_ms,
                              struct engine_trial *ret);

/*
 * Answer a Rego query on the rules and data that are active, without an input; ret->result is an
 * array of {variable: value}. The engine checks the types of a query before it evaluates it. It
 * must answer within timeout_ms. AZ_UNPROCESSABLE as above, with the engine's errors in
 * ret->errors.
 */
enum az_status engine_query(struct op *op, const char *query, long timeout_ms,
                            struct engine_trial *ret);

/* An engine's own report on the bundle: the active revision ("" if there is none), and the message
 * of the last failed activation ("" if there is none) with its place. */
struct engine_status {
    const char *instance;        /* name of the engine, on op->mem; NULL: not given */
    const char *active_revision; /* on op->mem */
    const char *code;            /* bundle_error, or "" */
    const char *message;         /* with file:row if known, or "" */
    int64_t tried_ms; /* last attempt to fetch, by the engine's clock, milliseconds since 1970; 0 if
                         none */
    bool transport;   /* the error is one of fetching, not of the bundle */
};

/* Ask the engine for its report, within timeout_ms (0: SVC_POLICY_TIMEOUT_MS). AZ_UNAVAILABLE as
 * above. */
enum az_status engine_revision(struct op *op, long timeout_ms, struct engine_status *ret);

/* Let the engine evaluate a query of its own, within SVC_POLICY_TIMEOUT_MS: one that hangs still
 * answers its status. AZ_UNAVAILABLE as above. */
enum az_status engine_evaluates(struct op *op);

/* Octets of the label that tells engines apart. */
#define ENGINE_INSTANCE_MAX 128

/* Return the label `instance` of a status, else its `id`; NULL if neither has at most
 * ENGINE_INSTANCE_MAX octets. */
const char *engine_instance(const json_t *labels);

/* Flags for parsing status documents: their metrics hold integers beyond 64 bits, which are not
 * read. */
#define ENGINE_STATUS_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL)

/* Return the first of an engine's errors with its place, FILE:ROW: message, or else `otherwise`,
 * cut to ENGINE_MESSAGE_MAX; on mem. */
const char *engine_first_error(TALLOC_CTX *mem, const json_t *errors, const char *otherwise);

/* Read a `bundles.svc` status object (of GET /v1/status and of the status push). A message is cut
 * to ENGINE_MESSAGE_MAX. */
void engine_read_status(TALLOC_CTX *mem, const json_t *bundle, struct engine_status *ret);

#endif
