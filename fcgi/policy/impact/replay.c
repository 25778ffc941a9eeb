#include "config.h"

#include "policy/impact/replay.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "policy/engine/engine.h"
#include "policy/engine/entrypoints.h"
#include "policy/impact/blind.h"
#include "policy/impact/hidden.h"
#include "policy/impact/impact_routes.h"
#include "policy/impact/side.h"

struct replay {
    struct side base, candidate;
    bool unreached[ENTRYPOINTS]; /* the candidate changes no decision of it (I7) */
    struct impact_routes *routes;
    struct blind *blind;
};

/* A row while it is decided. */
struct asked {
    const struct audit_row *row;
    const char *entrypoint; /* rule of the plan */
    json_t *input, *recorded;
    json_t *hidden; /* values that the row lacks, or NULL */
    struct effect_route route;
    size_t count; /* decisions */
};

/* Find the entrypoints that the candidate does not reach, and what is blind. */
static enum az_status
find_reach(struct op *op, struct replay *replay)
{
    for (size_t i = 0; i < ENTRYPOINTS; i++) {
        const char *rule = talloc_asprintf(op->mem, "%s" ENTRYPOINT_RULE, entrypoint_paths[i]);
        if (rule == NULL)
            return op_no_memory(op);
        replay->unreached[i] = side_is_unreached(op->mem, &replay->base, &replay->candidate, rule);
    }
    replay->routes = impact_routes_new(replay);
    replay->blind = blind_new(replay, &replay->base, &replay->candidate,
                              !replay->unreached[ENTRYPOINT_INTROSPECT]);
    return replay->routes != NULL && replay->blind != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
replay_new(struct op *op, const struct impact_pair *pair, struct replay **ret)
{
    struct replay *replay = *ret = talloc_zero(op->mem, struct replay);
    if (replay == NULL)
        return op_no_memory(op);
    enum az_status st = side_read(op, replay, &pair->base, NULL, &replay->base);
    if (st == AZ_OK)
        st = side_read(op, replay, &pair->candidate, replay->base.plan, &replay->candidate);
    return st == AZ_OK ? find_reach(op, replay) : st;
}

/* True if the candidate changes no decision of a rule. */
static bool
is_unreached(const struct replay *replay, const char *rule)
{
    for (size_t i = 0; i < ENTRYPOINTS; i++) {
        size_t length = strlen(entrypoint_paths[i]);
        if (strncmp(rule, entrypoint_paths[i], length) == 0
            && strcmp(rule + length, ENTRYPOINT_RULE) == 0)
            return replay->unreached[i];
    }
    return false;
}

json_t *
replay_blind(TALLOC_CTX *mem, const struct replay *replay)
{
    return blind_json(mem, replay->blind);
}

/* ---- one row */

/* Return a decision of the row, without its effects. */
static struct impact_decision
decision_of(const struct asked *asked)
{
    const struct audit_row *row = asked->row;
    struct impact_decision decision = {
        .audit_id = row->id,
        .created_at = row->created_at,
        .endpoint = row->endpoint,
        .client = row->client_id,
        .subject = row->subject_id,
        .input = json_is_object(asked->input) ? asked->input : NULL,
    };
    iso8601_parse(row->created_at, strlen(row->created_at), &decision.at_ms);
    return decision;
}

/* Count the decisions of a row that both sides made. */
static enum az_status
count_decisions(struct op *op, const struct replay *replay, const struct asked *asked,
                const struct effect *base, const struct effect *candidate, struct tally *tally)
{
    struct effect *recorded = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count);
    if (recorded == NULL)
        return op_no_memory(op);
    const struct effect_facts facts = {replay->base.rows.row[SIDE_REGISTRY], asked->route};
    enum az_status st = effect_find(op, asked->input, &facts, asked->recorded, recorded);
    for (size_t i = 0; st == AZ_OK && i < asked->count; i++) {
        struct impact_decision decision = decision_of(asked);
        decision.index = i;
        decision.base = &base[i];
        decision.candidate = &candidate[i];
        tally_add(tally, &decision);
        if (impact_compare(&recorded[i], &base[i]).class != IMPACT_SAME)
            tally_drift(tally);
    }
    return st;
}

static enum az_status
decide_both(struct op *op, const struct replay *replay, struct asked *asked, struct tally *tally)
{
    struct side_known known;
    struct effect *base = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count),
                  *candidate = talloc_zero_array(op->mem, struct effect, (unsigned) asked->count);
    if (base == NULL || candidate == NULL)
        return op_no_memory(op);
    enum az_status st = impact_routes_find(op, replay->routes, asked->input, &asked->route);
    if (st != AZ_OK)
        return st;
    const struct side_question question = {asked->entrypoint, asked->row->input, asked->input,
                                           asked->hidden, asked->route};
    st = side_decide(op, &replay->base, &question, base, &known);
    if (st == AZ_OK && known.is)
        st = side_decide(op, &replay->candidate, &question, candidate, &known);
    if (st != AZ_OK)
        return st;
    if (!known.is) {
        const struct impact_decision decision = decision_of(asked);
        tally_unknown(tally, &decision, known.why, known.builtin, asked->count);
        return AZ_OK;
    }
    return count_decisions(op, replay, asked, base, candidate, tally);
}

/* Read a stored document; *ret is NULL if it is damaged. */
static enum az_status
read_document(struct op *op, const char *text, json_t **ret)
{
    enum az_status st =
        text != NULL && audit_rows_is_readable(text)
            ? jsonx_parse(op->mem, text, strlen(text), ENGINE_ANSWER_DEPTH_MAX, ret, NULL)
            : AZ_INVALID;
    if (st == AZ_INVALID)
        *ret = NULL;
    return st == AZ_SERVER_ERROR
               ? op_fail(op, st, NULL, "out of memory for a document of an audit row")
               : AZ_OK;
}

enum az_status
replay_row(struct op *op, const struct replay *replay, const struct audit_row *row,
           const char *evaluation, struct tally *tally)
{
    struct asked asked = {.row = row};
    if (row->input == NULL || strcmp(row->endpoint, "(witness)") == 0)
        return AZ_OK;
    enum az_status st = read_document(op, row->input, &asked.input);
    if (st == AZ_OK)
        st = read_document(op, row->decision, &asked.recorded);
    if (st != AZ_OK)
        return st;
    const char *its = json_string_value(json_object_get(asked.input, "evaluation"));
    if (evaluation != NULL && (its == NULL || strcmp(its, evaluation) != 0))
        return AZ_OK;
    blind_count(replay->blind, asked.input);
    asked.count = effect_count(asked.input);
    asked.entrypoint = side_entrypoint(op->mem, asked.input);
    const struct impact_decision decision = decision_of(&asked);
    if (!json_is_object(asked.input))
        tally_unknown(tally, &decision, IMPACT_DAMAGED, NULL, 1);
    else if (asked.entrypoint == NULL)
        tally_unknown(tally, &decision, IMPACT_NO_ENTRYPOINT, NULL, 1);
    else if (is_unreached(replay, asked.entrypoint))
        tally_unreached(tally, &decision, asked.count);
    else if (!impact_find_hidden(op->mem, asked.input, asked.recorded, &asked.hidden))
        tally_unknown(tally, &decision, IMPACT_HIDDEN, NULL, asked.count);
    else
        return decide_both(op, replay, &asked, tally);
    return AZ_OK;
}
