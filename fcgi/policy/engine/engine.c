/* The choice of the engine for a decision. */
#include "config.h"

#include "policy/engine/engine.h"

#include "base/json/jsonx.h"
#include "policy/engine/engine_embedded.h"
#include "policy/engine/shadow_tap.h"
#include "policy/engine/witness.h"
#include "trace/trace.h"

bool
question_write(TALLOC_CTX *mem, struct question_text *asked)
{
    size_t length;
    if (asked->text != NULL || asked->document == NULL)
        return asked->text != NULL;
    const char *text = jsonx_dump_around(mem, "", asked->document, "", &length);
    if (text == NULL || length != asked->length)
        return false;
    asked->text = text;
    return true;
}

/* Let the engine that the settings name decide. */
static enum az_status
decide(struct op *op, const char *entrypoint, const json_t *input, struct engine_answer *ret)
{
    bool ask_opa = true;
    if (embedded_wanted(op->az)) {
        enum az_status st = embedded_evaluate(op, entrypoint, input, ret, &ask_opa);
        if (!ask_opa && st == AZ_OK)
            witness_keep(op, entrypoint, ret);
        if (!ask_opa)
            return st;
    }
    enum az_status st = engine_opa_evaluate(op, entrypoint, input, ret);
    if (st == AZ_OK && embedded_wanted(op->az))
        embedded_follow(op, ret->revision);
    return st;
}

enum az_status
engine_evaluate(struct op *op, const char *entrypoint, const json_t *input,
                struct engine_answer *ret)
{
    int span = trace_open(op->az->tracer, TRACE_DECISION);
    enum az_status st = decide(op, entrypoint, input, ret);
    trace_close(
        op->az->tracer, span,
        &(struct trace_facts){.name = entrypoint, .place = ret->engine, .failed = st != AZ_OK});
    if (st == AZ_OK)
        shadow_tap_keep(op, ret);
    return st;
}

bool
engine_renew(struct op *op)
{
    return embedded_wanted(op->az) && embedded_renew(op);
}
