/* Plans of policies. OPA writes them, but a plan that somebody else wrote must not break the
 * machine out of its bounds: it is refused, or each entrypoint ends in one of the known ways. */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "rego/machine.h"

/* Octets that one evaluation may take, and the statements: little, so that loops end soon. */
#define OCTETS_MAX (4 << 20)
#define STATEMENTS_MAX 20000

static const char fuzz_document[] =
    "{\"a\":{\"b\":[1,2,\"x\",null,true]},\"n\":-7,\"r\":1.5,\"s\":\"text\",\"e\":{}}";

static void
run_all(TALLOC_CTX *mem, const struct rego_plan *plan)
{
    for (uint32_t i = 0; i < plan->entrypoints; i++) {
        struct rego_arena arena;
        char why[REGO_WHY_SIZE];
        const struct rego_value *value;
        rego_arena_init(&arena, mem, OCTETS_MAX);
        const struct rego_value *document =
            rego_parse(&arena, fuzz_document, sizeof(fuzz_document) - 1);
        MUST(document != NULL);
        const struct rego_question question = {
            .plan = plan, .entrypoint = &plan->entrypoint[i], .input = document, .data = document};
        const struct rego_bounds bounds = {.statements = STATEMENTS_MAX, .octets = OCTETS_MAX};
        enum rego_outcome outcome = rego_evaluate(&arena, &question, &bounds, &value, why);
        MUST(outcome == REGO_DONE || (value == NULL && why[0] != '\0'));
        MUST(arena.taken <= OCTETS_MAX);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    const char *why = "";
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_plan *plan = rego_plan_read(&arena, (const char *) data, size, &why);
    MUST(plan != NULL || why[0] != '\0');
    if (plan != NULL)
        run_all(mem, plan);
    talloc_free(mem);
    return 0;
}
