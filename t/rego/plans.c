/* Runs plans for the tests of this folder: the first argument is a file with a plan; each line of
 * standard input is an object {entrypoint, input?, data?}, and each line of standard output the
 * outcome. In the input, {"(hidden)": true} stands for a value that is not known. A second plan is
 * asked the same with the data `other`: `unreached` says whether rego_is_unreached() finds that the
 * two must answer alike, and `same` whether they do. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "rego/builtin/builtin.h"
#include "rego/machine.h"
#include "rego/reach.h"

#define OCTETS_MAX (1024L << 20)

static const char *const outcome_words[] = {
    [REGO_DONE] = "done",         [REGO_GIVE_UP] = "give_up", [REGO_CONFLICT] = "conflict",
    [REGO_EXCEEDED] = "exceeded", [REGO_TOUCHED] = "touched",
};

/* Return a value with the hidden ones in their places. */
static const struct rego_value *
hide(struct rego_arena *arena, const struct rego_value *value, bool *ret_hides)
{
    if (value == NULL || value->type < REGO_ARRAY)
        return value;
    if (value->type == REGO_OBJECT && rego_get_text(value, "(hidden)") != NULL) {
        *ret_hides = true;
        return &rego_hidden;
    }
    bool object = value->type == REGO_OBJECT;
    struct rego_value *copy =
        object ? rego_object(arena, value->count) : rego_array(arena, value->count);
    for (uint32_t i = 0; i < value->count; i++)
        if (object)
            rego_insert(arena, copy, value->member[i].key,
                        hide(arena, value->member[i].value, ret_hides));
        else
            rego_append(arena, copy, hide(arena, value->item[i], ret_hides));
    return copy;
}

/* Print what another plan makes of the question, beside the answer of the first. */
static void
print_other(TALLOC_CTX *mem, const struct rego_question *first, enum rego_outcome outcome,
            const struct rego_value *value, const struct rego_question *second)
{
    struct rego_arena arena;
    struct rego_bounds bounds = {.statements = 50000000, .octets = OCTETS_MAX};
    const struct rego_value *answer = NULL;
    char why[REGO_WHY_SIZE];
    rego_arena_init(&arena, mem, OCTETS_MAX);
    bool same =
        rego_evaluate(&arena, second, &bounds, &answer, why) == outcome
        && (value == NULL || answer == NULL
                ? value == answer
                : rego_compare(value, answer) == 0 && !rego_is_spelled_otherwise(value, answer));
    printf(",\"unreached\":%s,\"same\":%s",
           rego_is_unreached(mem, first, second) ? "true" : "false", same ? "true" : "false");
}

/* Print the outcome of one evaluation. */
static void
run_line(TALLOC_CTX *mem, const struct rego_plan *plan, const struct rego_plan *other,
         const char *line, size_t length)
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
    bool hides = false;
    data = rego_get_text(asked, "data");
    struct rego_question question = {
        .plan = plan,
        .entrypoint = rego_plan_entrypoint(plan, name->text),
        .input = hide(&arena, rego_get_text(asked, "input"), &hides),
        .data = data != NULL ? data : rego_object(&arena, 0),
        .now_ns = 1700000000000000000,
    };
    question.hides = hides;
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
    printf("{\"outcome\":\"%s\",\"why\":\"%s\"", outcome_words[outcome], why);
    if (other != NULL) {
        struct rego_question second = question;
        second.plan = other;
        second.entrypoint = rego_plan_entrypoint(other, name->text);
        second.data = rego_get_text(asked, "other");
        print_other(mem, &question, outcome, value, &second);
    }
    printf("%s%s}\n", value != NULL ? ",\"value\":" : "",
           value != NULL && text.data != NULL ? text.data : "");
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

/* Read a plan; what it lacks goes to standard error. NULL: it cannot be read. */
static const struct rego_plan *
read_plan(TALLOC_CTX *mem, struct rego_arena *arena, const char *path)
{
    const char *why = "";
    char *text = read_file(mem, path);
    rego_arena_init(arena, mem, OCTETS_MAX);
    const struct rego_plan *plan =
        text != NULL ? rego_plan_read(arena, text, strlen(text), &why) : NULL;
    if (plan == NULL)
        fprintf(stderr, "plans: %s: %s\n", path, text != NULL ? why : "no plan");
    for (uint32_t i = 0; plan != NULL && i < plan->lackings; i++)
        fprintf(stderr, "lacks %s\n", plan->lacking[i]);
    return plan;
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena[2];
    const struct rego_plan *plan[2] = {NULL, NULL};
    if (argc < 2)
        return 1;
    for (int i = 0; i + 1 < argc && i < 2; i++)
        if ((plan[i] = read_plan(mem, &arena[i], argv[i + 1])) == NULL)
            return 1;
    char *line = NULL;
    size_t size = 0;
    for (ssize_t length; (length = getline(&line, &size, stdin)) > 0;) {
        TALLOC_CTX *one = talloc_new(mem);
        run_line(one, plan[0], plan[1], line, (size_t) length);
        talloc_free(one);
        fflush(stdout);
    }
    free(line);
    talloc_free(mem);
    return 0;
}
