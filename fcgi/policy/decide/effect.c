#include "config.h"

#include "policy/decide/effect.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "policy/decide/access.h"
#include "policy/decide/gateway_answer.h"
#include "policy/decide/outcome.h"
#include "policy/decide/registration.h"

/* A question with its answer. */
struct weighing {
    struct op *op;
    const json_t *input;
    const struct effect_route *route;
    struct decision decision; /* the checked answer */
    struct jsonx_build rights, rest;
    struct effect *ret;
};

static json_t *
member(const json_t *object, const char *part, const char *name)
{
    return json_object_get(json_object_get(object, part), name);
}

static const char *
text_member(const json_t *object, const char *part, const char *name)
{
    return json_string_value(member(object, part, name));
}

/* ---- what an answer gives */

/* Set a member unless it says nothing. */
static void
give(struct jsonx_build *build, const char *name, json_t *value)
{
    bool empty = value == NULL || json_is_null(value) || json_is_false(value)
                 || (json_is_array(value) && json_array_size(value) == 0)
                 || (json_is_object(value) && json_object_size(value) == 0);
    if (!empty)
        jsonx_set(build, name, json_incref(value));
}

/* Set what all kinds of decisions have. */
static void
give_common(struct weighing *w)
{
    const struct decision *decision = &w->decision;
    give(&w->rights, "scopes", decision->scopes);
    give(&w->rights, "resource_types", decision->resource_types);
    give(&w->rights, "details", decision->details);
    if (decision->resource != NULL)
        jsonx_set(&w->rights, "resource", json_string(decision->resource));
    give(&w->rest, "obligations", decision->obligations);
    give(&w->rest, "claims", json_object_get(decision->output, "claims"));
    give(&w->rest, "extensions", decision->extensions);
}

/* ---- the kinds of questions */

/* True if none of the types that /authorize was asked for is granted: it refuses then. */
static bool
preview_lacks_types(const struct weighing *w, const struct issue_question *question)
{
    const char *endpoint = text_member(w->input, "request", "endpoint");
    if (!question->preview || endpoint == NULL || strncmp(endpoint, "/authorize", 10) != 0
        || json_array_size(question->resource_types) == 0)
        return false;
    json_t *both =
        words_array_within(w->op->mem, question->resource_types, w->decision.resource_types);
    return json_array_size(both) == 0;
}

static struct issue_question
issue_question_of(const json_t *input)
{
    const char *evaluation = json_string_value(json_object_get(input, "evaluation"));
    return (struct issue_question){
        .preview = evaluation != NULL && strcmp(evaluation, "preview") == 0,
        .default_ttl = json_integer_value(member(input, "request", "default_ttl")),
        .resource = text_member(input, "resource", "indicator"),
        .resource_types = member(input, "resource", "types"),
        .scopes = member(input, "scopes", "requested"),
        .default_scopes = member(input, "scopes", "default"),
        .ceiling = member(input, "scopes", "ceiling"),
        .details = json_object_get(input, "authorization_details"),
    };
}

static struct decision_bounds
issue_bounds(const json_t *input)
{
    const struct issue_question question = issue_question_of(input);
    return outcome_issue_bounds(&question);
}

static enum effect_outcome
weigh_issue(struct weighing *w)
{
    const struct issue_question question = issue_question_of(w->input);
    const char *ignored;
    if (outcome_issue(w->op, &question, &w->decision, &ignored) != AZ_OK
        || preview_lacks_types(w, &question))
        return EFFECT_DENY;
    give_common(w);
    give(&w->rights, "refresh", json_boolean(w->decision.refresh));
    jsonx_set(&w->rest, "lifetime", json_integer(outcome_lifetime(w->op, &question, &w->decision)));
    give(&w->rest, "singleUse", json_boolean(w->decision.jit));
    return EFFECT_ALLOW;
}

static struct decision_bounds
introspect_bounds(const json_t *input)
{
    return outcome_introspect_bounds(json_object_get(input, "baseline"));
}

static enum effect_outcome
weigh_introspect(struct weighing *w)
{
    /* Without a token the service asks about the caller alone. */
    if (outcome_refuses_caller(&w->decision) || outcome_hides_token(&w->decision)
        || json_object_get(w->input, "token") == NULL || !w->decision.allow
        || outcome_lost_all(json_object_get(w->input, "baseline"), &w->decision))
        return EFFECT_DENY;
    give_common(w);
    return EFFECT_ALLOW;
}

static enum effect_outcome
weigh_authzen(struct weighing *w)
{
    struct access_decision access;
    if (!outcome_entitled(&w->decision, false))
        return EFFECT_DENY;
    if (access_read(&w->decision, &access) != NULL)
        return EFFECT_NONE;
    give(&w->rest, "context", access.context);
    return access.allow ? EFFECT_ALLOW : EFFECT_DENY;
}

/* True if a web server asked, which meets no obligation, and may keep the answer. */
static bool
is_check(const json_t *input)
{
    const char *endpoint = text_member(input, "request", "endpoint");
    return endpoint != NULL && strcmp(endpoint, GATEWAY_CHECK_ENDPOINT) == 0;
}

/* Return the obligations that the asker could meet. A route that is read as an MCP resource is
 * asked as a request to it is. */
static unsigned
obligations_of(const json_t *input)
{
    const char *kind = text_member(input, "action", "kind"),
               *upstream = text_member(input, "resource", "upstreamType");
    bool read = kind != NULL && strcmp(kind, "resource") == 0
                && text_member(input, "action", "route") != NULL;
    if (is_check(input))
        return 0;
    return gateway_obligations_of(read           ? "http"
                                  : kind != NULL ? kind
                                                 : "",
                                  upstream != NULL ? upstream : "");
}

/* Return the question about a request that its stored form holds, with its route. */
static struct gateway_question
gateway_question_of(const json_t *input, const struct effect_route *route)
{
    return (struct gateway_question){
        .holder = {.scopes = member(input, "token", "scopes")},
        .resource = {.credential_header = route->credential_header},
        .action = {.scopes = member(input, "action", "requiredScopes")},
        .always = route->obligations,
        .obligations = obligations_of(input),
    };
}

static enum effect_outcome
weigh_gateway(struct weighing *w)
{
    const struct gateway_question question = gateway_question_of(w->input, w->route);
    struct gateway_decision decision;
    enum gateway_arguments mode;
    bool met = true;
    if (gateway_answer_check(&question, &w->decision, &decision, &mode).member != NULL)
        return EFFECT_NONE;
    give(&w->rest, "stepUp", decision.step_up);
    if (!decision.allow)
        return EFFECT_DENY;
    if (gateway_answer_obligations(w->op, &question, w->decision.obligations, &decision.obligations,
                                   &met)
        != AZ_OK)
        w->rest.lost = true;
    if (!met)
        return EFFECT_DENY;
    json_t *obligations = gateway_obligations_json(w->op->mem, &decision.obligations);
    w->rest.lost = w->rest.lost || obligations == NULL;
    give(&w->rest, "obligations", obligations);
    if (is_check(w->input) && decision.cache_seconds > 0)
        jsonx_set(&w->rest, "lifetime", json_integer((json_int_t) decision.cache_seconds));
    return EFFECT_ALLOW;
}

static enum effect_outcome
weigh_tools(struct weighing *w)
{
    size_t count = json_array_size(json_object_get(w->input, "tools"));
    enum gateway_verdict *verdict =
        talloc_array(w->op->mem, enum gateway_verdict, (unsigned) count + 1);
    struct jsonx_build verdicts = {jsonx_own(w->op->mem, json_array()), verdict == NULL};
    if (verdict == NULL) {
        w->rest.lost = true;
        return EFFECT_NONE;
    }
    if (gateway_answer_verdicts(&w->decision, count, verdict).member != NULL)
        return EFFECT_NONE;
    if (!w->decision.allow)
        return EFFECT_DENY;
    for (size_t i = 0; i < count; i++)
        jsonx_append(&verdicts, json_integer((json_int_t) verdict[i]));
    w->rights.lost = w->rights.lost || verdicts.lost;
    give(&w->rights, "verdicts", verdicts.value);
    return EFFECT_ALLOW;
}

static struct registration
registration_of(struct op *op, const json_t *input)
{
    const char *scope = text_member(input, "registration", "scope");
    return (struct registration){
        .grant_types = member(input, "registration", "grant_types"),
        .scopes = scope != NULL ? words_split(op->mem, scope) : NULL,
    };
}

static enum effect_outcome
weigh_registration(struct weighing *w)
{
    const struct registration registration = registration_of(w->op, w->input);
    struct registration_verdict verdict = {.verdict = {.decision = w->decision}};
    const char *text;
    w->rights.lost =
        registration_grants(w->op, &registration, &w->decision, &verdict.grant_types, &text)
            != AZ_OK
        || w->rights.lost;
    if (text != NULL)
        return EFFECT_NONE;
    if (registration_refusal(&registration, &verdict, &text) != AZ_OK)
        return EFFECT_DENY;
    give_common(w);
    give(&w->rights, "grant_types", verdict.grant_types);
    return EFFECT_ALLOW;
}

static enum effect_outcome
weigh_admin(struct weighing *w)
{
    return w->decision.allow ? EFFECT_ALLOW : EFFECT_DENY;
}

/* ---- one answer */

static struct decision_bounds
no_bounds(const json_t *input)
{
    (void) input;
    return (struct decision_bounds){.scopes = NULL};
}

static const struct effect_kind {
    const char *evaluation;
    struct decision_bounds (*bounds)(const json_t *input); /* NULL: those of a registration */
    enum effect_outcome (*weigh)(struct weighing *w);
} kinds[] = {
    {"issue",         issue_bounds,      weigh_issue       },
    {"preview",       issue_bounds,      weigh_issue       },
    {"introspect",    introspect_bounds, weigh_introspect  },
    {"authzen",       no_bounds,         weigh_authzen     },
    {"authzen_batch", no_bounds,         weigh_authzen     },
    {"gateway",       no_bounds,         weigh_gateway     },
    {"gateway_tools", no_bounds,         weigh_tools       },
    {"register",      NULL,              weigh_registration},
    {"admin",         no_bounds,         weigh_admin       },
};

static const struct effect_kind *
kind_of(const json_t *input)
{
    const char *name = json_string_value(json_object_get(input, "evaluation"));
    for (size_t i = 0; name != NULL && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].evaluation, name) == 0)
            return &kinds[i];
    return NULL;
}

/* Weigh one answer. What is not valid is no decision (policy.md 6.2). */
static enum az_status
weigh_answer(struct op *op, const struct effect_kind *kind, const json_t *input,
             const struct effect_facts *facts, json_t *answer, struct effect *ret)
{
    struct weighing w = {
        .op = op,
        .input = input,
        .route = &facts->route,
        .rights = {jsonx_own(op->mem, json_object()), false},
        .rest = {jsonx_own(op->mem,            json_object()), false},
        .decision = {.revision = ""}
    };
    *ret = (struct effect){.rights = w.rights.value,
                           .rest = w.rest.value,
                           .reasons = jsonx_own(op->mem, json_array())};
    struct decision_bounds bounds;
    if (kind->bounds != NULL) {
        bounds = kind->bounds(input);
    } else {
        const struct registration registration = registration_of(op, input);
        bounds = registration_bounds(&registration);
    }
    bounds.registry = facts->registry;
    enum az_status st = decision_read(op, answer, &bounds, &w.decision);
    if (st == AZ_UNAVAILABLE) {
        az_fault_clear(&op->fault);
        return AZ_OK;
    }
    if (st != AZ_OK)
        return st;
    ret->outcome = kind->weigh(&w);
    if (w.decision.reasons != NULL)
        ret->reasons = w.decision.reasons;
    return jsonx_built(&w.rights) != NULL && jsonx_built(&w.rest) != NULL && ret->reasons != NULL
               ? AZ_OK
               : op_no_memory(op);
}

/* ---- all answers to a question */

static const json_t *
batch_requests(const json_t *input)
{
    const char *name = json_string_value(json_object_get(input, "evaluation"));
    return name != NULL && strcmp(name, "authzen_batch") == 0
               ? member(input, "authzen", "evaluations")
               : NULL;
}

size_t
effect_count(const json_t *input)
{
    size_t count = json_array_size(batch_requests(input));
    return count > 0 ? count : 1;
}

/* Return the answer to one request of a batch; NULL: there is none. A caller who is refused gets
 * none, which is a denial. */
static json_t *
batch_answer(json_t *answer, size_t count, size_t i)
{
    json_t *list = json_object_get(answer, "evaluations");
    if (json_is_false(json_object_get(answer, "allow")))
        return answer;
    return json_is_true(json_object_get(answer, "allow")) && json_array_size(list) == count
               ? json_array_get(list, i)
               : NULL;
}

/* True if one of the effects is no decision: then a batch as a whole gets none (access.c). */
static bool
has_none(const struct effect *effect, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (effect[i].outcome == EFFECT_NONE)
            return true;
    return false;
}

enum az_status
effect_find(struct op *op, const json_t *input, const struct effect_facts *facts, json_t *answer,
            struct effect *ret)
{
    struct effect_facts known = *facts;
    const struct effect_kind *kind = kind_of(input);
    bool batch = batch_requests(input) != NULL;
    size_t count = effect_count(input);
    json_t *none = jsonx_own(op->mem, json_object());
    enum az_status st = none != NULL ? AZ_OK : op_no_memory(op);
    known.registry = known.registry != NULL ? known.registry : none;
    for (size_t i = 0; st == AZ_OK && i < count; i++) {
        json_t *one = batch ? batch_answer(answer, count, i) : answer;
        ret[i] = (struct effect){.rights = none, .rest = none};
        if (kind != NULL)
            st = weigh_answer(op, kind, input, &known, one, &ret[i]);
        else if ((ret[i].reasons = jsonx_own(op->mem, json_array())) == NULL)
            st = op_no_memory(op);
    }
    if (st == AZ_OK && batch && has_none(ret, count))
        for (size_t i = 0; i < count; i++)
            ret[i].outcome = EFFECT_NONE, ret[i].rights = ret[i].rest = none;
    return st;
}
