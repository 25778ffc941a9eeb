/*
 * POST /admin/api/policy-rules/evaluate: try a policy (gateway-admin.md 3.6).
 *
 *   {path, input, explain?}     -> {result, undefined?, explanation?, metrics, revision}
 *   {auditId, path?, explain?}  -> {before, comparable: true, after, undefined?, changed, changes,
 *                                   endpoint, createdAt, explanation?, metrics, revision}
 *                               or {before, comparable: false, notComparable, notStored, endpoint,
 *                                   createdAt}
 *
 * For an entrypoint of decisions (svc/decision/issue) the engine evaluates its `result`, as it does
 * for decisions; for any other path it evaluates the path. Without a path, a replay evaluates the
 * entrypoint that the stored input was for. For the path of a Cedar rule the engine evaluates the
 * result of its module, {permits, forbids, errors} with the ids of policies, and the input may be a
 * request as Cedar's tools write it (policy/rows/cedar_trial.h). An undefined result is null with
 * "undefined": true; a rule whose value is null has no such member. `explain` is notes, fails, full
 * or debug; true means full. `changes` names the members in which the old and the new decision
 * differ. A stored input that lacks values (policy/decide/gateway.h) is not evaluated: `notStored`
 * has their JSON Pointers.
 *
 * With `changes` (the lists of a deploy) or `revision` (the id of a bundle) that policy answers in
 * place of the active one; the path is an entrypoint of decisions then, and there is no trace.
 *
 * The request changes nothing and decides nothing: the answer is not checked against the question,
 * as that of a real decision is, and it comes from an engine of its own (policy/trial/evaluate.h),
 * so a rule that does not end disturbs no decision.
 */
#ifndef AZ_ADMIN_POLICY_POLICY_EVALUATE_H
#define AZ_ADMIN_POLICY_POLICY_EVALUATE_H

#include "base/json/fields.h"
#include "http/route.h"

/* Longest path, in octets: that of a rule (specification 2.4). */
#define POLICY_EVALUATE_PATH_MAX 512

/* Return what is wrong with a path, or NULL. The path becomes part of a request to the engine, so
 * it may only have words of A-Za-z0-9_- separated by slashes. */
const char *policy_evaluate_path_fault(const char *path);

/* Try an input document, or decide a stored one again (policy.md 6.2). */
enum az_status policy_evaluate_handle(struct request *req);

/* PolicyEvaluationRequest: the members of the body. */
extern const struct field_table policy_evaluate_table;

#endif
