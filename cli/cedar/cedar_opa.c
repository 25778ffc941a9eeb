#include "config.h"

#include "cli/cedar/cedar_opa.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/settings/settings.h"
#include "cedar/rego.h"
#include "cli/lib/dir.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/lib/temp_dir.h"

/* The runtime, below SVC_DATA_DIR. */
#define RUNTIME "policy/svc/cedar/rt.rego"

/* Largest runtime, and largest answers of a batch, in octets; usual are 8 KiB and 200 KiB. */
#define RUNTIME_MAX (1 << 20)
#define ANSWERS_MAX (64 << 20)

static int
find_runtime(struct cli *cli, struct cedar_opa *opa)
{
    struct problems problems = {NULL, 0};
    const struct settings *cfg = settings_load(cli->mem, AUTHZ_CONF, &problems);
    const char *dir = cfg != NULL ? cfg->data_dir : "";
    const char *why = "no settings";
    int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at >= 0) {
        opa->runtime = dir_read(cli->mem, at, RUNTIME, RUNTIME_MAX, &opa->runtime_length, &why);
        close(at);
    } else
        why = "is not a directory that can be read";
    if (opa->runtime != NULL)
        return CLI_OK;
    output_error("%s: %s/" RUNTIME ": %s; check SVC_DATA_DIR", cli->path, dir, why);
    return CLI_FAILED;
}

int
cedar_engine(struct cli *cli, struct cedar_opa *ret, bool *ret_opa)
{
    const char *engine = cli->choice.engine != NULL ? cli->choice.engine : "builtin";
    *ret = (struct cedar_opa){.cli = cli};
    *ret_opa = strcmp(engine, "opa") == 0;
    if (!*ret_opa && strcmp(engine, "builtin") != 0) {
        output_error("%s: --engine: expected builtin or opa, found '%s'", cli->path, engine);
        return CLI_USAGE;
    }
    int status = *ret_opa ? opa_find(cli, &ret->program) : CLI_OK;
    return status == CLI_OK && *ret_opa ? find_runtime(cli, ret) : status;
}

/* Append the entities and requests of a case, and the rule that answers them. */
static void
add_case(TALLOC_CTX *mem, const struct cedar_case *one, size_t number, struct buf *data,
         struct buf *query)
{
    const char *entities = cedar_rego_entities(mem, &one->entities);
    buf_append_format(data, "%s\"c%zu\":{\"entities\":", data->len > 1 ? "," : "", number);
    buf_append_text(data, entities != NULL ? entities : "null");
    buf_append_text(data, ",\"requests\":[");
    for (size_t i = 0; i < one->trials; i++) {
        const char *request = cedar_rego_request(mem, &one->trial[i].request);
        buf_append_text(data, i > 0 ? "," : "");
        buf_append_text(data, request != NULL ? request : "null");
    }
    buf_append_text(data, "]}");
    buf_append_format(query,
                      "answers[\"c%zu\"] := [a |\n\tsome q in data.cases.c%zu.requests\n"
                      "\ta := data.file.c%zu.result with input as {\"cedar\": object.union(q, "
                      "{\"entities\": data.cases.c%zu.entities})}\n]\n\n",
                      number, number, number, number);
}

/* Write a text and free it. */
static bool
put_buf(const struct temp_dir *place, const char *path, struct buf *buf)
{
    size_t length = 0;
    char *text = buf_take(buf, &length);
    return temp_dir_put(place, path, text, length);
}

/* Write the modules and the data of a batch. */
static bool
put_batch(struct cedar_opa *opa, TALLOC_CTX *mem, const struct temp_dir *place,
          struct cedar_case **cases, size_t count)
{
    BUF_AUTO data, query;
    buf_init(&data, mem, (size_t) CEDAR_BATCH_MAX * CEDAR_JSON_MAX);
    buf_init(&query, mem, (size_t) CEDAR_BATCH_MAX * 1024);
    buf_append_text(&data, "{");
    buf_append_text(&query, "package batch\n\nanswers[\"\"] := []\n\n");
    bool fine = temp_dir_put(place, "rt.rego", opa->runtime, opa->runtime_length);
    for (size_t i = 0; i < count && fine; i++) {
        struct cedar_fault fault;
        char name[32], package[32];
        snprintf(name, sizeof(name), "c%zu.rego", i);
        snprintf(package, sizeof(package), "file.c%zu", i);
        const char *text = cedar_rego(mem, cases[i]->file, package, &fault);
        if (text == NULL) {
            cases[i]->refused = talloc_asprintf(mem, "policies: line %u, column %u: %s",
                                                fault.place.line, fault.place.column, fault.text);
            continue;
        }
        fine = temp_dir_put(place, name, text, strlen(text));
        add_case(mem, cases[i], i, &data, &query);
    }
    buf_append_text(&data, "}");
    /* The data document of the file is {"cases": ...}, because the file is loaded under that name.
     */
    return fine && put_buf(place, "cases/data.json", &data) && put_buf(place, "batch.rego", &query);
}

/* Set the outcome of the policies with these ids. */
static bool
set_outcomes(const struct cedar_file *file, const struct cedar_json *ids,
             enum cedar_outcome outcome, enum cedar_outcome *ret)
{
    if (ids == NULL || ids->kind != CEDAR_JSON_ARRAY)
        return false;
    for (size_t i = 0; i < ids->count; i++) {
        size_t j = 0;
        while (j < file->policies
               && (ids->child[i].kind != CEDAR_JSON_STRING
                   || cedar_text_compare(file->policy[j].id, ids->child[i].text) != 0))
            j++;
        if (j == file->policies)
            return false;
        ret[j] = outcome;
    }
    return true;
}

/* Take the answers of a case. */
static bool
take_answers(TALLOC_CTX *mem, struct cedar_case *one, const struct cedar_json *answers)
{
    if (answers == NULL || answers->kind != CEDAR_JSON_ARRAY || answers->count != one->trials)
        return false;
    for (size_t i = 0; i < one->trials; i++) {
        const struct cedar_json *answer = &answers->child[i];
        enum cedar_outcome *outcome =
            talloc_zero_array(mem, enum cedar_outcome, one->file->policies);
        if (outcome == NULL
            || !set_outcomes(one->file, cedar_json_get(answer, "permits"), CEDAR_SATISFIED, outcome)
            || !set_outcomes(one->file, cedar_json_get(answer, "forbids"), CEDAR_SATISFIED, outcome)
            || !set_outcomes(one->file, cedar_json_get(answer, "errors"), CEDAR_ERROR, outcome)
            || !cedar_decide(mem, one->file, outcome, &one->trial[i].seen))
            return false;
    }
    return true;
}

static char *
evaluate_batch(struct cedar_opa *opa, const struct temp_dir *place, size_t *ret_length)
{
    static const char *const arguments[] = {
        "eval", "--data", ".", "--format", "raw", "data.batch.answers", NULL};
    struct opa_call call = {.program = opa->program, .dir = place->path, .arguments = arguments};
    return opa_run_read(opa->cli, &call, place->root, ANSWERS_MAX, "the policy engine failed",
                        ret_length, &opa->signal);
}

bool
cedar_opa_run(struct cedar_opa *opa, TALLOC_CTX *mem, struct cedar_case **cases, size_t count)
{
    struct temp_dir place = {.root = -1};
    struct cedar_json answers;
    struct cedar_fault fault;
    size_t length;
    sigset_t before;
    opa_hold_signals(&before);
    const char *text = temp_dir_make(opa->cli, &place) && put_batch(opa, mem, &place, cases, count)
                           ? evaluate_batch(opa, &place, &length)
                           : NULL;
    temp_dir_remove(&place);
    sigprocmask(SIG_SETMASK, &before, NULL);
    bool fine = text != NULL && cedar_json_parse(mem, text, length, &answers, &fault);
    for (size_t i = 0; fine && i < count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "c%zu", i);
        if (cases[i]->refused == NULL)
            fine = take_answers(mem, cases[i], cedar_json_get(&answers, name));
    }
    if (text != NULL && !fine)
        output_error("%s: the answers of the policy engine cannot be read", opa->cli->path);
    return fine;
}
