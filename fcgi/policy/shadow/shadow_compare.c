#include "config.h"

#include "policy/shadow/shadow_private.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "metrics/metrics.h"

/* A question with what it is read to. */
struct asked {
    const struct shadow_question *question;
    json_t *input, *result;
    size_t count; /* decisions */
    struct effect_route route;
};

static void
count_metric(struct op *op, const char *what)
{
    metrics_add(op->az->metrics, METRIC_SHADOW, 0, &what);
}

static const char *
text_in(const json_t *input, const char *part, const char *name)
{
    return json_string_value(json_object_get(json_object_get(input, part), name));
}

/* Return a decision, without its effects. Its row is written by another process, or not yet. */
static struct impact_decision
decision_of(const struct asked *asked)
{
    const json_t *input = json_is_object(asked->input) ? asked->input : NULL;
    const char *caller = text_in(input, "caller", "client_id");
    return (struct impact_decision){
        .request_id = asked->question->request_id,
        .created_at = text_in(input, "request", "time"),
        .endpoint = text_in(input, "request", "endpoint"),
        .client = caller != NULL ? caller : text_in(input, "client", "id"),
        .subject = text_in(input, "subject", "id"),
        .input = input,
    };
}

static void
count_unknown(struct op *op, const struct asked *asked, enum impact_unknown why,
              const char *builtin, struct shadow_counts *counts)
{
    const struct impact_decision decision = decision_of(asked);
    tally_unknown(counts->tally, &decision, why, builtin, asked->count);
    count_metric(op, "notKnown");
}

static void
count_decisions(struct op *op, const struct asked *asked, const struct effect *live,
                const struct effect *shadow, struct shadow_counts *counts)
{
    for (size_t i = 0; i < asked->count; i++) {
        struct impact_decision decision = decision_of(asked);
        decision.index = i;
        decision.base = &live[i];
        decision.candidate = &shadow[i];
        tally_add(counts->tally, &decision);
        count_metric(op, impact_class_names[impact_compare(&live[i], &shadow[i]).class]);
    }
}

/* Let the shadow decide, and find what the service did. */
static enum az_status
decide(struct op *op, const struct shadow_policy *policy, const struct asked *asked,
       const char *entrypoint, struct shadow_counts *counts)
{
    struct side_known known;
    struct effect *live = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count),
                  *shadow = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count);
    const struct side_question question = {.entrypoint = entrypoint,
                                           .text = asked->question->input,
                                           .input = asked->input,
                                           .route = asked->route};
    const struct effect_facts facts = {policy->base_rows.row[SIDE_REGISTRY], asked->route};
    if (live == NULL || shadow == NULL)
        return op_no_memory(op);
    enum az_status st = side_decide(op, &policy->side, &question, shadow, &known);
    if (st == AZ_OK && known.is)
        st = effect_find(op, asked->input, &facts, asked->result, live);
    if (st != AZ_OK)
        return st;
    if (!known.is)
        count_unknown(op, asked, known.why, known.builtin, counts);
    else
        count_decisions(op, asked, live, shadow, counts);
    return AZ_OK;
}

/* Read a document; *ret is NULL if it cannot be read. */
static void
read_document(struct op *op, const char *text, json_t **ret)
{
    if (jsonx_parse(op->mem, text, strlen(text), ENGINE_ANSWER_DEPTH_MAX, ret, NULL) != AZ_OK)
        *ret = NULL;
}

enum az_status
shadow_compare(struct op *op, const struct shadow_policy *policy, struct impact_routes *routes,
               const struct shadow_question *question, struct shadow_counts *counts)
{
    struct asked asked = {.question = question, .count = 1};
    if (strcmp(question->revision, policy->base) != 0) {
        counts->moved++;
        count_metric(op, "moved");
        return AZ_OK;
    }
    read_document(op, question->input, &asked.input);
    if (*question->result != '\0')
        read_document(op, question->result, &asked.result);
    if (!json_is_object(asked.input) || (*question->result != '\0' && asked.result == NULL)) {
        count_unknown(op, &asked, IMPACT_DAMAGED, NULL, counts);
        return AZ_OK;
    }
    asked.count = effect_count(asked.input);
    const char *entrypoint = side_entrypoint(op->mem, asked.input);
    if (entrypoint == NULL) {
        count_unknown(op, &asked, IMPACT_NO_ENTRYPOINT, NULL, counts);
        return AZ_OK;
    }
    enum az_status st = impact_routes_find(op, routes, asked.input, &asked.route);
    return st == AZ_OK ? decide(op, policy, &asked, entrypoint, counts) : st;
}
