/* cedar prove: whether policies allow what others did not, for all requests of the schema. */
#include "config.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "cli/cedar/cedar_proof.h"
#include "cli/lib/input.h"
#include "cli/lib/opa_run.h"
#include "cli/lib/output.h"
#include "cli/lib/temp_dir.h"
#include "cli/verbs.h"
#include "policy/rows/rule.h"

#define AT(member) offsetof(struct cli_choices, member)

#define PROVER "authz-cedar-prove"
#define SCHEMA "policy/service.cedarschema"

/* Row with the settings that decide what a permit and an error do. */
#define AUTHZEN_ROW "svc.operator.controls.authzen"

/* Largest schema and largest results, in octets: the shipped schema has 4 KiB, a line 4 KiB. */
#define SCHEMA_MAX (1 << 20)
#define RESULTS_MAX (64 << 20)

/* Seconds of one check, and the most that may be asked for. */
#define SECONDS 60
#define SECONDS_MAX 3600

const struct cli_option cedar_prove_options[] = {
    {"against", 0, "DIR",  AT(against), true,  "Policies in use, as `bundle pull` writes them"},
    {"prover",  0, "FILE", AT(prover),  false,
     "Program of contrib/cedar-prove (default: " PROVER " on PATH)"                           },
    {"schema",  0, "FILE", AT(schema),  false,
     "Schema of Cedar (default: " SCHEMA " in SVC_DATA_DIR)"                                  },
    {"seconds", 0, "N",    AT(seconds), false, "Limit of each check (default: 60)"            },
    {NULL,      0, NULL,   0,           false, NULL                                           },
};

/* Return a setting of the row in a directory, or its default. */
static const char *
setting_of(struct cli *cli, const struct bundle_dir *dir, const char *name, const char *standard)
{
    for (size_t i = 0; i < dir->data_rows; i++) {
        json_t *row = NULL;
        if (strcmp(dir->data[i].data_key, AUTHZEN_ROW) != 0
            || input_payload(cli, dir->data[i].payload, &row) != CLI_OK)
            continue;
        const char *value = json_string_value(json_object_get(row, name));
        return value != NULL ? value : standard;
    }
    return standard;
}

/* Read a directory with policies in Cedar. */
static int
read_set(struct cli *cli, const char *name, struct proof_set *ret)
{
    int status = bundle_read_dir(cli, name, &ret->dir);
    if (status != CLI_OK)
        return status;
    ret->mode = setting_of(cli, &ret->dir, "cedar_mode", "guard");
    ret->errors_deny = strcmp(setting_of(cli, &ret->dir, "cedar_errors", "skip"), "deny") == 0;
    struct jsonx_build files = {jsonx_own(cli->mem, json_object()), false};
    for (size_t i = 0; i < ret->dir.rules; i++) {
        const struct deploy_rule *rule = &ret->dir.rule[i];
        if (rule->enabled && strcmp(rule_kind(rule->path), "cedar") == 0)
            jsonx_set(&files, rule->path, json_string(rule->content));
    }
    ret->files = jsonx_built(&files);
    return ret->files != NULL ? CLI_OK : output_no_memory(cli);
}

/* Read a file by its name, or the one below SVC_DATA_DIR; NULL, with the error printed. */
static const char *
read_schema(struct cli *cli)
{
    size_t length;
    const char *name = cli->choice.schema;
    if (name == NULL) {
        struct problems problems = {NULL, 0};
        const struct settings *cfg = settings_load(cli->mem, AUTHZ_CONF, &problems);
        name = talloc_asprintf(cli->mem, "%s/" SCHEMA, cfg != NULL ? cfg->data_dir : "");
    }
    return name != NULL ? input_read_file(cli, name, SCHEMA_MAX, "1 MiB",
                                          "name a schema of Cedar with --schema", &length)
                        : NULL;
}

/* Return the seconds of each check; 0 after printing an error. */
static long
read_seconds(const struct cli *cli)
{
    const char *text = cli->choice.seconds;
    char *end = NULL;
    long seconds = text == NULL                     ? SECONDS
                   : isdigit((unsigned char) *text) ? strtol(text, &end, 10)
                                                    : 0;
    if (text == NULL || (end != NULL && *end == '\0' && seconds >= 1 && seconds <= SECONDS_MAX))
        return seconds;
    output_error("%s: --seconds: expected 1 to %d, found '%s'", cli->path, SECONDS_MAX, text);
    return 0;
}

/* Write the question for the program. */
static bool
put_question(const struct proof *proof, const struct temp_dir *place, const char *schema,
             long seconds)
{
    TALLOC_CTX *mem = proof->cli->mem;
    json_t *question = jsonx_own(mem, json_pack("{s:s,s:O,s:O,s:b,s:I}", "schema", schema, "new",
                                                proof->now.files, "old", proof->before.files,
                                                "guard", strcmp(proof->now.mode, "guard") == 0,
                                                "seconds", (json_int_t) seconds));
    const char *text = jsonx_dump(mem, question);
    if (text == NULL) {
        output_no_memory(proof->cli);
        return false;
    }
    return temp_dir_put(place, "question.json", text, strlen(text));
}

/* Ask the program, and take its results. */
static int
ask_prover(struct proof *proof, const char *program, const char *schema, long seconds)
{
    static const char *const arguments[] = {"question.json", NULL};
    struct temp_dir place = {.root = -1};
    sigset_t before;
    size_t length;
    int signal = 0;
    char *text = NULL;
    opa_hold_signals(&before);
    if (temp_dir_make(proof->cli, &place) && put_question(proof, &place, schema, seconds)) {
        struct opa_call call = {.program = program,
                                .dir = place.path,
                                .arguments = arguments,
                                .remedy = "build contrib/cedar-prove, and name it with --prover"};
        text = opa_run_read(proof->cli, &call, place.root, RESULTS_MAX, "the prover failed",
                            &length, &signal);
    }
    temp_dir_remove(&place);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (signal != 0)
        raise(signal);
    return text == NULL ? CLI_UNAVAILABLE : proof_take(proof, text) ? CLI_OK : CLI_FAILED;
}

/* Refuse what a proof says nothing about. */
static int
check_sets(const struct proof *proof)
{
    const struct proof_set *now = &proof->now, *before = &proof->before;
    if (strcmp(now->mode, before->mode) == 0 && strcmp(now->mode, "off") != 0)
        return CLI_OK;
    output_error("%s: cedar_mode of " AUTHZEN_ROW " is %s in %s and %s in %s; a proof needs the "
                 "same in both, guard or source",
                 proof->cli->path, now->mode, now->dir.name, before->mode, before->dir.name);
    return CLI_FAILED;
}

int
cedar_prove_run(struct cli *cli)
{
    struct proof proof = {.cli = cli, .results = jsonx_own(cli->mem, json_array())};
    long seconds = read_seconds(cli);
    if (seconds == 0)
        return CLI_USAGE;
    const char *program = opa_program(cli->mem, cli->choice.prover, PROVER);
    if (program == NULL) {
        output_error("%s: no program " PROVER
                     " found; build contrib/cedar-prove, put it on PATH or "
                     "name it with --prover FILE",
                     cli->path);
        return CLI_UNAVAILABLE;
    }
    const char *schema = read_schema(cli);
    int status = schema != NULL ? read_set(cli, cli->args[0], &proof.now) : CLI_FAILED;
    if (status == CLI_OK)
        status = read_set(cli, cli->choice.against, &proof.before);
    if (status == CLI_OK)
        status = check_sets(&proof);
    if (status == CLI_OK)
        status = ask_prover(&proof, program, schema, seconds);
    return status == CLI_OK ? proof_report(&proof) : status;
}
