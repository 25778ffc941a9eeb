/* The policy engine behind two functions, so that another engine can be added without touching an
 * endpoint. */
#ifndef AZ_POLICY_ENGINE_H
#define AZ_POLICY_ENGINE_H

#include <jansson.h>
#include <stddef.h>

#include "base/op.h"

/* Longest answer that is read: a decision is under 4 kB, the status of an engine with many bundle
 * errors under 1 MiB. */
#define ENGINE_ANSWER_MAX (1 << 20)

/* What an engine said to one question. */
struct engine_answer {
    json_t *result;       /* value of the entrypoint, owned by op->mem; NULL when undefined */
    const char *revision; /* revision of the bundle that decided, on op->mem */
    long us;              /* wall time of the call, microseconds */
};

/* An engine at an address; nothing is connected yet. NULL when memory or libcurl fails. */
struct engine *engine_new(TALLOC_CTX *mem, const char *url, long timeout_ms);

/*
 * Evaluates an entrypoint ("svc/decision/issue") with an input document. AZ_UNAVAILABLE with the
 * reason in the fault when the engine is away, late, or answers anything but 200 with well-formed
 * JSON and a bundle revision: never a decision.
 */
enum az_status engine_evaluate(struct op *op, const char *entrypoint, const char *input,
                               size_t length, struct engine_answer *ret);

/*
 * What the engine itself reports of the bundle: active revision ("" if none), and the message of
 * the last failed activation ("" if none) with its place. AZ_UNAVAILABLE as above.
 */
struct engine_status {
    const char *active_revision; /* on op->mem */
    const char *code;            /* bundle_error, or "" */
    const char *message;         /* with file:row where known, or "" */
};
enum az_status engine_revision(struct op *op, struct engine_status *ret);

/* How status documents are parsed: their metrics hold integers beyond 64 bits, which nobody reads.
 */
#define ENGINE_STATUS_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL)

/* Reads a `bundles.svc` status object (of GET /v1/status and of the status push). */
void engine_read_status(TALLOC_CTX *mem, const json_t *bundle, struct engine_status *ret);

#endif
