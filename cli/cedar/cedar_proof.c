#include "config.h"

#include "cli/cedar/cedar_proof.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cedar/authorize.h"
#include "cedar/parse.h"
#include "cedar/read.h"
#include "cli/lib/output.h"

/* Deepest result: a counterexample has entities with nested records. */
#define RESULT_DEPTH_MAX 64

/* A request and the entities that it is about. */
struct example {
    struct cedar_request request;
    struct cedar_entities entities;
};

static bool
read_example(TALLOC_CTX *mem, const json_t *found, struct example *ret)
{
    struct cedar_reader reader = {.mem = mem};
    struct cedar_fault fault;
    struct cedar_json json[2];
    static const char *const names[] = {"entities", "request"};
    for (size_t i = 0; i < 2; i++) {
        char *text = jsonx_dump(mem, json_object_get(found, names[i]));
        if (text == NULL || !cedar_json_parse(mem, text, strlen(text), &json[i], &fault))
            return false;
    }
    return cedar_read_entities(&reader, &json[0], &ret->entities)
           && cedar_read_request(&reader, &json[1], &ret->request);
}

/* Decide an example by the policies of a directory. False: one of them cannot be evaluated. */
static bool
decide(TALLOC_CTX *mem, const struct proof_set *set, const struct example *example, bool *ret_allow)
{
    bool permitted = strcmp(set->mode, "guard") == 0, forbidden = false;
    const char *path;
    json_t *text;
    json_object_foreach (set->files, path, text) {
        struct cedar_fault fault;
        struct cedar_answer answer;
        struct cedar_file *file =
            cedar_parse(mem, json_string_value(text), json_string_length(text), &fault);
        if (file == NULL
            || !cedar_authorize(mem, file, &example->entities, &example->request, &answer))
            return false;
        permitted = permitted || answer.allow;
        forbidden = forbidden || (!answer.allow && answer.reason.count > 0);
    }
    *ret_allow = permitted && !forbidden;
    return true;
}

/* True if our evaluator agrees that the new policies allow an example and the old ones did not. */
static bool
is_confirmed(const struct proof *proof, const json_t *found)
{
    TALLOC_CTX *mem = talloc_new(proof->cli->mem);
    struct example example;
    bool now = false, before = true;
    bool known = mem != NULL && read_example(mem, found, &example)
                 && decide(mem, &proof->now, &example, &now)
                 && decide(mem, &proof->before, &example, &before);
    talloc_free(mem);
    return known && now && !before;
}

static const char *
member(const json_t *line, const char *name)
{
    const char *text = json_string_value(json_object_get(line, name));
    return text != NULL ? text : "";
}

/* Print the counterexample of a request environment. */
static void
print_example(const struct proof *proof, const json_t *line)
{
    const json_t *found = json_object_get(line, "found");
    const char *word = "newly allowed";
    output_line(proof->cli, "%s  %s, %s, %s", word, member(line, "action"),
                member(line, "principal"), member(line, "resource"));
    static const char *const names[] = {"request", "entities"};
    for (size_t i = 0; i < 2; i++) {
        char *text = jsonx_dump(proof->cli->mem, json_object_get(found, names[i]));
        output_line(proof->cli, "    %s %s", names[i], text != NULL ? text : "");
    }
}

/* Count the answer to the question whether what the new policies allow was allowed before. */
static void
take_implies(struct proof *proof, const json_t *line)
{
    const char *result = member(line, "result");
    if (strcmp(result, "proved") == 0) {
        proof->proved++;
    } else if (strcmp(result, "counterexample") != 0) {
        proof->open++;
        output_line(proof->cli, "not proved     %s, %s, %s: %s", member(line, "action"),
                    member(line, "principal"), member(line, "resource"), member(line, "why"));
    } else if (is_confirmed(proof, json_object_get(line, "found"))) {
        proof->found++;
        print_example(proof, line);
    } else {
        proof->open++;
        proof->wrong = true;
        output_line(proof->cli,
                    "not proved     %s, %s, %s: the evaluator of this program decides the "
                    "counterexample in another way",
                    member(line, "action"), member(line, "principal"), member(line, "resource"));
    }
}

/* Note a policy that is not proved to be without errors. */
static void
take_errors(struct proof *proof, const json_t *line)
{
    if (strcmp(member(line, "result"), "proved") == 0)
        return;
    proof->errors = true;
    output_line(proof->cli, "may have an error  %s: %s, %s, %s%s%s", member(line, "policy"),
                member(line, "action"), member(line, "principal"), member(line, "resource"),
                *member(line, "why") != '\0' ? ": " : "", member(line, "why"));
}

bool
proof_take(struct proof *proof, char *lines)
{
    char *rest = NULL;
    for (char *text = strtok_r(lines, "\n", &rest); text != NULL;
         text = strtok_r(NULL, "\n", &rest)) {
        json_t *line = NULL;
        if (jsonx_parse(proof->cli->mem, text, strlen(text), RESULT_DEPTH_MAX, &line, NULL) != AZ_OK
            || json_array_append(proof->results, line) != 0) {
            output_error("%s: the prover printed no result: %.200s", proof->cli->path, text);
            return false;
        }
        if (strcmp(member(line, "check"), "implies") == 0)
            take_implies(proof, line);
        else
            take_errors(proof, line);
    }
    return true;
}

int
proof_report(struct proof *proof)
{
    const struct cli *cli = proof->cli;
    bool denied = proof->now.errors_deny || proof->before.errors_deny;
    if (cli->choice.json)
        output_json(proof->results);
    output_line(cli,
                "%zu kinds of requests: in %zu nothing is newly allowed, %zu not proved, in %zu "
                "something is newly allowed",
                proof->proved + proof->open + proof->found, proof->proved, proof->open,
                proof->found);
    if (denied && proof->errors)
        output_line(cli, "cedar_errors is deny, and a policy may have an error: not proved");
    output_line(cli,
                "For all entities of the schema. Rules in Rego, data rows and entitlements are "
                "not part of the proof.");
    return proof->found > 0                                                     ? CLI_NOTABLE
           : proof->open > 0 || (denied && proof->errors) || proof->proved == 0 ? CLI_FAILED
                                                                                : CLI_OK;
}
