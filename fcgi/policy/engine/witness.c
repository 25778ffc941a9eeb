#include "config.h"

#include "policy/engine/witness.h"

#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/pack.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "metrics/metrics.h"
#include "policy/engine/compare.h"
#include "store/db/rows/audit.h"

/* Audit rows and log lines of the witness. */
#define WITNESS_ENDPOINT "(witness)"
#define WITNESS_OPERATION "policyWitness"

/* A decision that OPA is asked about. */
struct kept {
    const char *entrypoint, *revision, *request_id;
    const char *input;  /* JSON text */
    const char *result; /* JSON text; NULL: undefined */
};

struct witness {
    struct witness_board *board;
    TALLOC_CTX *mem; /* owns the kept decisions; NULL if there are none */
    struct kept kept[WITNESS_KEPT_MAX];
    size_t count;
    unsigned postponed; /* requests that were served first */
};

struct witness *
witness_new(TALLOC_CTX *mem, struct witness_board *board)
{
    struct witness *witness = talloc_zero(mem, struct witness);
    if (witness != NULL)
        witness->board = board;
    return witness;
}

/* ---- doubts ---- */

/* Return the number of an entrypoint of a revision, never 0. It depends on the version of the
 * program too, because the machine of another version may be right. */
static uint64_t
number_of(const char *entrypoint, const char *revision)
{
    return metrics_mix(metrics_mix(metrics_mix(0, PACKAGE_VERSION), revision), entrypoint) | 1;
}

bool
witness_distrusts(const struct witness *witness, const char *entrypoint, const char *revision)
{
    if (witness == NULL || atomic_load(&witness->board->doubts) == 0)
        return false;
    uint64_t number = number_of(entrypoint, revision);
    for (size_t i = 0; i < WITNESS_DOUBTS_MAX; i++)
        if (atomic_load(&witness->board->doubt[i]) == number)
            return true;
    return false;
}

void
witness_note_conflict(struct witness *witness, const char *entrypoint, const char *revision)
{
    if (witness != NULL)
        atomic_store(&witness->board->conflict, number_of(entrypoint, revision));
}

bool
witness_saw_conflict(const struct witness *witness, const char *entrypoint, const char *revision)
{
    return witness != NULL
           && atomic_load(&witness->board->conflict) == number_of(entrypoint, revision);
}

/* Mark an entrypoint in place of the oldest mark. */
static void
distrust(struct witness *witness, const struct kept *kept)
{
    struct witness_board *board = witness->board;
    if (witness_distrusts(witness, kept->entrypoint, kept->revision))
        return;
    uint64_t place = atomic_fetch_add(&board->doubts, 1) % WITNESS_DOUBTS_MAX;
    atomic_store(&board->doubt[place], number_of(kept->entrypoint, kept->revision));
}

/* ---- keeping ---- */

void
witness_keep(struct op *op, const char *entrypoint, const struct engine_answer *answer)
{
    struct witness *witness = op->az->witness;
    if (witness == NULL || witness->count == WITNESS_KEPT_MAX
        || !random_one_in(op->az->cfg->policy_witness_rate))
        return;
    if (witness->mem == NULL && (witness->mem = talloc_new(witness)) == NULL)
        return;
    struct question_text asked = answer->asked;
    struct kept kept = {
        .entrypoint = talloc_strdup(witness->mem, entrypoint),
        .revision = talloc_strdup(witness->mem, answer->revision),
        .request_id = talloc_strdup(witness->mem, op->request_id),
        .input = question_write(op->mem, &asked)
                     ? talloc_strndup(witness->mem, asked.text, asked.length)
                     : NULL,
        .result = answer->result != NULL ? jsonx_dump(witness->mem, answer->result) : NULL,
    };
    if (kept.entrypoint != NULL && kept.revision != NULL && kept.request_id != NULL
        && kept.input != NULL && (kept.result != NULL || answer->result == NULL))
        witness->kept[witness->count++] = kept;
}

bool
witness_has_kept(const struct witness *witness)
{
    return witness != NULL && witness->count > 0;
}

static void
forget(struct witness *witness)
{
    TALLOC_FREE(witness->mem);
    witness->count = 0;
    witness->postponed = 0;
}

/* ---- asking ---- */

/* The outcome of a question, and its value in the metric. */
enum witness_result { WITNESS_SAME, WITNESS_DIFFERS, WITNESS_OTHER_REVISION, WITNESS_FAILED };
static const char *const result_names[] = {"same", "differs", "other_revision", "failed"};

/* True if OPA did not answer a moment ago. A time far in the future was written before the host was
 * restarted. */
static bool
is_quiet(const struct witness_board *board)
{
    int64_t left = atomic_load(&board->quiet_until_ms) - clock_monotonic_ms();
    return left > 0 && left <= WITNESS_PAUSE_MS;
}

static enum az_status
read_text(struct op *op, const char *text, json_t **ret)
{
    return jsonx_parse(op->mem, text, strlen(text), ENGINE_ANSWER_DEPTH_MAX, ret, NULL);
}

/* The two answers to one question. */
struct answers {
    const struct kept *kept;
    json_t *machine, *opa; /* NULL: undefined */
    const char *error;     /* why OPA decided nothing, or NULL */
};

/* Write both answers to the audit log. The row has no question, so that no report counts it as a
 * decision for a client; the row of the request, which has the same request id, has it. */
static enum az_status
witness_audit(struct op *op, const struct answers *answers)
{
    const struct kept *kept = answers->kept;
    const char *decision = jsonx_dump(
        op->mem, jsonx_own(op->mem, json_pack("{s:s,s:O?,s:O?,s:s*}", "revision", kept->revision,
                                              "embedded", answers->machine, "opa", answers->opa,
                                              "error", answers->error)));
    const char *summary = jsonx_dump(
        op->mem, jsonx_own(op->mem, json_pack("{s:s,s:s}", "entrypoint", kept->entrypoint,
                                              "revision", kept->revision)));
    unsigned char *packed;
    size_t length;
    if (decision == NULL || summary == NULL
        || pack_text(op->mem, decision, strlen(decision), &packed, &length) != AZ_OK)
        return op_no_memory(op);
    const struct audit_entry entry = {
        .request_id = kept->request_id,
        .endpoint = WITNESS_ENDPOINT,
        .operation = WITNESS_OPERATION,
        .method = "none",
        .outcome = "error",
        .summary = summary,
        .decision = packed,
        .decision_length = length,
    };
    return audit_insert(op, &entry);
}

/* Report a difference. Mark it first: OPA decides from now on, even if the row cannot be written.
 */
static void
witness_report(struct op *op, const struct answers *answers)
{
    const struct kept *kept = answers->kept;
    const struct log_field fields[] = {
        LOG_TEXT("entrypoint", kept->entrypoint),
        LOG_TEXT("revision", kept->revision),
        LOG_TEXT("request_id", kept->request_id),
        LOG_TEXT("detail", "OPA gave another answer than the machine, and decides this entrypoint "
                           "until the next revision; the audit log has both answers"),
    };
    distrust(op->az->witness, kept);
    log_line(AZ_SEV_ERROR, "policy engines differ", fields, sizeof(fields) / sizeof(fields[0]));
    if (witness_audit(op, answers) != AZ_OK)
        log_text(AZ_SEV_ERROR, "no audit row of the witness", "%s", op->fault.detail);
}

/* Note that OPA failed on a question that the machine answered. */
static enum witness_result
witness_failed(struct op *op, struct answers *answers, enum no_decision lack)
{
    bool moved;
    if (compare_failure_counts(op, lack, answers->kept->revision, WITNESS_WAIT_MS, &answers->error,
                               &moved))
        return WITNESS_DIFFERS;
    return moved ? WITNESS_OTHER_REVISION : WITNESS_FAILED;
}

/* Ask OPA about one decision, and compare. */
static enum witness_result
witness_ask(struct op *op, struct answers *answers)
{
    const struct kept *kept = answers->kept;
    struct engine_answer answer = {.result = NULL};
    json_t *input;
    if (read_text(op, kept->input, &input) != AZ_OK
        || (kept->result != NULL && read_text(op, kept->result, &answers->machine) != AZ_OK))
        return WITNESS_FAILED;
    if (engine_opa_ask(op, kept->entrypoint, input, WITNESS_WAIT_MS, &answer) != AZ_OK)
        return witness_failed(op, answers, answer.lack);
    answers->opa = answer.result;
    if (strcmp(answer.revision, kept->revision) != 0)
        return WITNESS_OTHER_REVISION;
    return compare_equal(answers->opa, answers->machine) ? WITNESS_SAME : WITNESS_DIFFERS;
}

void
witness_run(struct op *op, bool waits)
{
    struct witness *witness = op->az->witness;
    struct witness_board *board = witness->board;
    if (waits && op->az->cfg->policy_witness_rate > 1
        && witness->postponed++ < WITNESS_POSTPONED_MAX)
        return;
    for (size_t i = 0; i < witness->count && !is_quiet(board); i++) {
        struct answers answers = {.kept = &witness->kept[i]};
        enum witness_result result = witness_ask(op, &answers);
        metrics_add(op->az->metrics, METRIC_WITNESS, 0, &result_names[result]);
        if (result == WITNESS_DIFFERS)
            witness_report(op, &answers);
        if (result == WITNESS_FAILED)
            atomic_store(&board->quiet_until_ms, clock_monotonic_ms() + WITNESS_PAUSE_MS);
        az_fault_clear(&op->fault);
    }
    forget(witness);
}
