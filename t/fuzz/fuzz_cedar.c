/* Policies in Cedar. What is taken has a canonical text, which is taken and has the same one; and
 * the evaluator has an answer. */
#include "config.h"

#include <string.h>

#include "cedar/json.h"
#include "cedar/parse.h"
#include "cli/cedar/authorize.h"
#include "cli/cedar/format.h"
#include "fuzz/fuzz.h"

static void
check_policies(TALLOC_CTX *mem, const struct cedar_file *file)
{
    const struct cedar_value nobody = {
        .type = CEDAR_ENTITY, .uid = {CEDAR_TEXT("User"), CEDAR_TEXT("alice")}
    };
    const struct cedar_value nothing = {.type = CEDAR_RECORD};
    const struct cedar_entities entities = {NULL, 0};
    const struct cedar_request request = {
        {nobody, nobody, nobody, nothing}
    };
    struct cedar_answer answer;
    struct cedar_fault fault;
    const char *text = cedar_format(mem, file);
    MUST(text != NULL);
    const struct cedar_file *again = cedar_parse(mem, text, strlen(text), &fault);
    /* The canonical text can be longer than a file may be. */
    MUST(again != NULL || strlen(text) > CEDAR_FILE_MAX);
    if (again != NULL) {
        const char *same = cedar_format(mem, again);
        MUST(same != NULL && strcmp(same, text) == 0);
    }
    MUST(cedar_authorize(mem, file, &entities, &request, &answer));
    MUST(!answer.allow || answer.reason.count > 0);
    MUST(answer.reason.count + answer.errors.count <= file->policies);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct cedar_fault fault;
    struct cedar_json json;
    const char *text = size > 0 ? (const char *) data : "";
    const struct cedar_file *file = cedar_parse(mem, text, size, &fault);
    MUST((file == NULL) == (fault.place.line > 0));
    if (file != NULL)
        check_policies(mem, file);
    MUST(cedar_json_parse(mem, text, size, &json, &fault) || fault.place.line > 0);
    talloc_free(mem);
    return 0;
}
