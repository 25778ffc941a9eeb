/*
 * POST /admin/api/policy-rules/evaluate: what policy would say (gateway-admin.md 3.6 "Try-it").
 *
 *   {path, input, explain?}     -> {result, undefined?, explanation?, metrics, revision}
 *   {auditId, path?, explain?}  -> {before, after, undefined?, changed, changes, endpoint,
 *                                   createdAt, explanation?, metrics, revision}
 *
 * An entrypoint of decisions (svc/decision/issue) is asked for its `result`, as decisions are; any
 * other path as it stands. Without a path, a replay asks the entrypoint that the stored input was
 * for. An undefined result is null with "undefined": true; a rule whose value is null has no such
 * member. `explain` is notes, fails, full or debug; true means full. `changes` names the members in
 * which what was decided and what would be decided now differ.
 *
 * Nothing is changed and nothing decided: the answer is not held against the question, as a real
 * one is, and it comes from whichever revision the engine has.
 */
#ifndef AZ_ADMIN_POLICY_EVALUATE_H
#define AZ_ADMIN_POLICY_EVALUATE_H

#include "http/route.h"

/* Octets of a path: those of a rule's (specification 2.4). */
#define POLICY_EVALUATE_PATH_MAX 512

/* What is wrong with a path, or NULL: words of A-Za-z0-9_- with slashes between them. It becomes
 * part of a request to the engine, so nothing else may be in it. */
const char *policy_evaluate_path_fault(const char *path);

/*
 * The members in which two answers differ, as an array owned by mem; NULL when memory is out. What
 * is said of the engine does not count, and null, false and empty are as good as absent (policy.md
 * 6.2) but for `allow`. Where one of them is no object: [""] unless they are equal.
 */
json_t *policy_evaluate_changes(TALLOC_CTX *mem, const json_t *before, const json_t *after);

enum az_status policy_evaluate_handle(struct request *req);

#endif
