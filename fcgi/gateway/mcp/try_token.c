#include "config.h"

#include "gateway/mcp/try_token.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "store/people/subjects.h"
#include "store/policy/engines.h"

/* Grants by which clients get tokens for tools; the first one that policy allows counts. */
static const struct {
    const char *grant;
    bool person;   /* of a person */
    bool exchange; /* exchanges a token of the person that the client already holds */
} ways[] = {
    {"client_credentials",                              false, false},
    {"authorization_code",                              true,  false},
    {"urn:ietf:params:oauth:grant-type:token-exchange", true,  true },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

enum az_status
try_ask_until(struct op *op, try_ask_fn *ask, const void *question, void *answer,
              struct verdict *ret)
{
    const int64_t started = clock_monotonic_ms();
    for (;;) {
        bool may = false;
        enum az_status st = ask(op, question, answer, ret);
        if (st == AZ_OK)
            st = engines_may_decide(op, ret->decision.revision, &may);
        if (st == AZ_UNAVAILABLE)
            return az_fail_as(&op->fault, AZ_POLICY_UNAVAILABLE, "Policy gave no decision");
        if (st != AZ_OK || may)
            return st;
        if (!ask_again(op, started, ret))
            return az_fail_as(&op->fault, AZ_POLICY_UNAVAILABLE, "Policy gave no decision");
    }
}

static enum az_status
ask_one_issue(struct op *op, const void *question, void *answer, struct verdict *ret)
{
    (void) answer;
    return ask_issue(op, question, ret);
}

static enum az_status
ask_one_introspect(struct op *op, const void *question, void *answer, struct verdict *ret)
{
    (void) answer;
    return ask_introspect(op, question, ret);
}

/* ---- who */

/* Read the claims of the person as a sign-in would give them. Claims from another provider do not
 * count. */
static enum az_status
find_person(struct try_token *it, struct question_user *ret)
{
    struct op *op = &it->req->op;
    struct subject_known known = {.issuer = NULL};
    *ret = (struct question_user){.iss = NULL};
    if (it->subject == NULL)
        return AZ_OK;
    enum az_status st = subject_know(op, it->subject, &known);
    if (st == AZ_OK && known.issuer == NULL && it->idp == NULL)
        return request_invalid_field(it->req, "subject",
                                     "names no person who has signed in; give idp too");
    if (it->idp == NULL)
        it->idp = known.idp_id;
    else if (known.idp_id == NULL || strcmp(known.idp_id, it->idp) != 0)
        known = (struct subject_known){.issuer = NULL};
    it->met = known.issuer != NULL;
    *ret = (struct question_user){.iss = known.issuer, .idp = it->idp, .claims = known.claims};
    return st;
}

static struct question
frame_of(const struct try_token *it, const char *endpoint)
{
    return (struct question){
        .endpoint = endpoint,
        .ip = it->req->ip,
        .user_agent = it->req->user_agent,
        .client = it->client,
        .auth_method = it->auth_method,
        .dpop = {.required = it->client->dpop_bound},
    };
}

/* ---- evaluation 1 */

/* Complete the question of an issuance. The registered scope limits a client that an administrator
 * made (oauth/grant.c). */
static enum az_status
fill_issue(struct try_token *it, const struct question_user *user, struct issue_question *question)
{
    struct op *op = &it->req->op;
    bool limited = it->client->scope != NULL && strcmp(it->client->registration, "ADMIN") == 0;
    *question = (struct issue_question){
        .frame = frame_of(it, "/token"),
        .default_ttl = op->az->cfg->access_token_validity,
        .subject_id = it->subject != NULL ? it->subject : it->client->client_id,
        .user = it->subject != NULL ? user : NULL,
        .resource = it->address,
        .scopes = it->wanted,
        .default_scopes = jsonx_own(op->mem, json_array()),
        .ceiling = limited ? words_split(op->mem, it->client->scope) : NULL,
    };
    if (limited && question->ceiling != NULL)
        question->scopes = words_array_within(op->mem, it->wanted, question->ceiling);
    return question->default_scopes != NULL && question->scopes != NULL
                   && (!limited || question->ceiling != NULL)
               ? AZ_OK
               : op_no_memory(op);
}

/* Ask for a token in each way until policy allows one; return the reasons of the first denial. */
static enum az_status
ask_ways(struct try_token *it, struct issue_question *question, struct verdict *ret)
{
    struct op *op = &it->req->op;
    const struct question_exchange exchange = {
        .type = "access_token", .client_id = it->client->client_id, .scopes = it->wanted};
    it->reasons = NULL;
    for (size_t i = 0; i < WAYS; i++) {
        if (ways[i].person != (it->subject != NULL))
            continue;
        question->grant_type = ways[i].grant;
        question->exchange = ways[i].exchange ? &exchange : NULL;
        enum az_status st = try_ask_until(op, ask_one_issue, question, NULL, ret);
        if (st != AZ_OK)
            return st;
        it->revision = ret->decision.revision;
        if (ret->decision.allow) {
            it->reasons = NULL;
            return AZ_OK;
        }
        if (it->reasons == NULL)
            it->reasons = ret->decision.reasons;
    }
    return AZ_OK;
}

/* ---- evaluation 2 */

/* Ask if the token would be good at the gateway. */
static enum az_status
ask_good(struct try_token *it, const struct issue_question *issued, const struct verdict *first)
{
    struct op *op = &it->req->op;
    struct verdict verdict = {.input = NULL};
    const int64_t now = op_now(op);
    struct introspect_question question = {
        .frame = frame_of(it, TRY_CALLED_AT),
        .caller = it->client,
        .caller_method = "bearer",
        .service = true,
        .token =
            jsonx_own(op->mem, json_pack("{s:s,s:I,s:I,s:O,s:b}", "kind", "access_token", "iat",
                                         (json_int_t) now, "exp", (json_int_t) it->expires_at,
                                         "scopes", first->decision.scopes, "jit_single_use", 0)),
        .baseline = first->decision.output,
        .issued = question_issue(op, issued),
    };
    if (question.token == NULL || question.issued == NULL)
        return op_no_memory(op);
    enum az_status st = try_ask_until(op, ask_one_introspect, &question, NULL, &verdict);
    if (st != AZ_OK)
        return st;
    it->revision = verdict.decision.revision;
    it->scopes = verdict.decision.scopes;
    if (!verdict.decision.allow)
        it->reasons = verdict.decision.reasons;
    return AZ_OK;
}

enum az_status
try_token_ask(struct try_token *it)
{
    struct op *op = &it->req->op;
    struct question_user user;
    struct issue_question question;
    struct verdict verdict = {.input = NULL};
    it->auth_method = it->client->auth_method != NULL ? it->client->auth_method
                      : client_is_public(it->client)  ? "none"
                                                      : "client_secret_basic";
    it->expires_at = op_now(op) + op->az->cfg->access_token_validity;
    enum az_status st = find_person(it, &user);
    if (st == AZ_OK)
        st = fill_issue(it, &user, &question);
    if (st != AZ_OK)
        return st;
    it->holder = jsonx_own(op->mem, question_subject(question.subject_id, question.user));
    if (it->holder == NULL)
        return op_no_memory(op);
    if ((st = ask_ways(it, &question, &verdict)) != AZ_OK || it->reasons != NULL)
        return st;
    it->baseline = verdict.decision.output;
    return ask_good(it, &question, &verdict);
}
