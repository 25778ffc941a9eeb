/* Runs plans for conformance.t: the first argument is a file with a plan; each line of standard
 * input is an object {entrypoint, input?, data?, now_ns?}, and each line of standard output the
 * outcome. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "rego/builtin/builtin.h"
#include "rego/machine.h"

#define OCTETS_MAX (1024L << 20)

static const char *const outcome_words[] = {
    [REGO_DONE] = "done",
    [REGO_GIVE_UP] = "give_up",
    [REGO_CONFLICT] = "conflict",
    [REGO_EXCEEDED] = "exceeded",
};

/* Print the outcome of one evaluation. */
static void
run_line(TALLOC_CTX *mem, const struct rego_plan *plan, const char *line, size_t length)
{
    struct rego_arena arena;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_value *asked = rego_parse(&arena, line, length), *value = NULL, *data, *name;
    struct rego_bounds bounds = {.statements = 50000000, .octets = OCTETS_MAX};
    char why[REGO_WHY_SIZE] = "";
    if (asked == NULL || (name = rego_get_text(asked, "entrypoint")) == NULL) {
        printf("{\"outcome\":\"unreadable\"}\n");
        return;
    }
    data = rego_get_text(asked, "data");
    struct rego_question question = {
        .plan = plan,
        .entrypoint = rego_plan_entrypoint(plan, name->text),
        .input = rego_get_text(asked, "input"),
        .data = data != NULL ? data : rego_object(&arena, 0),
        .now_ns = 1700000000000000000,
    };
    if (question.entrypoint == NULL) {
        printf("{\"outcome\":\"no such entrypoint\"}\n");
        return;
    }
    enum rego_outcome outcome = rego_evaluate(&arena, &question, &bounds, &value, why);
    BUF_AUTO text;
    buf_init(&text, mem, OCTETS_MAX);
    if (value != NULL && !rego_write(&text, value))
        buf_append_text(&text, "\"unwritable\"");
    for (char *c = why; *c != '\0'; c++)
        *c = *c == '"' || *c == '\\' || (unsigned char) *c < 0x20 ? '\'' : *c;
    printf("{\"outcome\":\"%s\",\"why\":\"%s\"%s%s}\n", outcome_words[outcome], why,
           value != NULL ? ",\"value\":" : "", value != NULL && text.data != NULL ? text.data : "");
}

/* Return what a file holds; NULL: it cannot be read. */
static char *
read_file(TALLOC_CTX *mem, const char *path)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    char *text = file != NULL && fstat(fileno(file), &about) == 0
                     ? talloc_zero_size(mem, (size_t) about.st_size + 1)
                     : NULL;
    if (text != NULL && fread(text, 1, (size_t) about.st_size, file) != (size_t) about.st_size)
        text = NULL;
    if (file != NULL)
        fclose(file);
    return text;
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    const char *why;
    char *text = argc > 1 ? read_file(mem, argv[1]) : NULL;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    const struct rego_plan *plan =
        text != NULL ? rego_plan_read(&arena, text, strlen(text), &why) : NULL;
    if (plan == NULL) {
        fprintf(stderr, "plans: %s\n", text != NULL ? why : "no plan");
        return 1;
    }
    for (uint32_t i = 0; i < plan->lackings; i++)
        fprintf(stderr, "lacks %s\n", plan->lacking[i]);
    char *line = NULL;
    size_t size = 0;
    for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
        TALLOC_CTX *one = talloc_new(mem);
        run_line(one, plan, line, (size_t) length);
        talloc_free(one);
        fflush(stdout);
    }
    free(line);
    talloc_free(mem);
    return 0;
}
