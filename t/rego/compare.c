/* Compares the machine with OPA for differential.t: compare PLAN QUESTIONS ANSWERS.
 *
 * QUESTIONS is {"data": {...}, "asked": [{"name", "entrypoint", "inputs"?}], "inputs": [...]}: each
 * entrypoint is asked with each of its own inputs, or of all. ANSWERS is OPA's {"result": {NAME:
 * [[VALUE] | [] | null]}}: a value, undefined, or an error. Each line of standard output is a
 * difference, and the last one the counts.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/clock.h"
#include "rego/machine.h"

#define OCTETS_MAX (1024L << 20)
/* Bounds of one evaluation: what takes longer is left out. */
#define EVALUATION_OCTETS (64L << 20)
#define STATEMENTS_MAX 2000000
#define EVALUATION_US 3000000
/* Nesting of answers: OPA's json.unmarshal() reads 10,000 levels. */
#define DEPTH_MAX 10100
/* Differences that are printed, and reasons to give up that are counted apart. */
#define SHOWN_MAX 20
#define REASONS_MAX 200

struct counts {
    unsigned long same, undefined, ambiguous, failed, different;
    struct {
        char why[REGO_WHY_SIZE];
        unsigned long count;
    } reason[REASONS_MAX];
    size_t reasons;
};

/* Write U+0001 for NUL, which no text that is read here may have. */
static void
replace_nul(char *json, size_t length)
{
    for (size_t i = 0; i + 5 < length; i++)
        if (json[i] == '\\') {
            if (memcmp(&json[i + 1], "u0000", 5) == 0)
                memcpy(&json[i + 1], "u0001", 5);
            i++;
        }
}

/* Return the JSON value of a file on the arena; exit if it has none. */
static const struct rego_value *
read_json(struct rego_arena *arena, const char *path, const char **ret_text)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    char *text = file != NULL && fstat(fileno(file), &about) == 0
                     ? talloc_zero_size(arena->mem, (size_t) about.st_size + 1)
                     : NULL;
    if (text == NULL || fread(text, 1, (size_t) about.st_size, file) != (size_t) about.st_size) {
        fprintf(stderr, "compare: %s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    if (ret_text != NULL) {
        *ret_text = text;
        return NULL;
    }
    replace_nul(text, (size_t) about.st_size);
    const struct rego_value *value =
        rego_parse_nested(arena, text, (size_t) about.st_size, DEPTH_MAX);
    if (value == NULL) {
        fprintf(stderr, "compare: %s is no JSON that is read here\n", path);
        exit(1);
    }
    return value;
}

static void
count_reason(struct counts *counts, const char *why)
{
    size_t i = 0;
    while (i < counts->reasons && strcmp(counts->reason[i].why, why) != 0)
        i++;
    if (i == REASONS_MAX)
        return;
    if (i == counts->reasons) {
        counts->reasons++;
        snprintf(counts->reason[i].why, sizeof(counts->reason[i].why), "%s", why);
    }
    counts->reason[i].count++;
}

static bool is_same(struct rego_arena *arena, const struct rego_value *a,
                    const struct rego_value *b);

/* True if two names of members stand for one key: OPA writes keys that are no strings as JSON in
 * another order and with other spaces. Numbers in them differ by their text, so that "[1]" and
 * "[1.0]" of one object are two keys. */
static bool
is_same_key(struct rego_arena *arena, const struct rego_value *a, const struct rego_value *b)
{
    if (rego_compare(a, b) == 0)
        return true;
    const struct rego_value *x = rego_parse(arena, a->text, a->count);
    const struct rego_value *y = x != NULL ? rego_parse(arena, b->text, b->count) : NULL;
    return y != NULL && x->type >= REGO_ARRAY && is_same(arena, x, y);
}

/* True if two values of JSON are the same, numbers by their text. */
static bool
is_same(struct rego_arena *arena, const struct rego_value *a, const struct rego_value *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == REGO_NUMBER)
        return a->decimal == b->decimal
               && (a->decimal ? strcmp(a->text, b->text) == 0 : a->integer == b->integer);
    if (a->type < REGO_ARRAY)
        return rego_compare(a, b) == 0;
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->type == REGO_ARRAY) {
            if (!is_same(arena, a->item[i], b->item[i]))
                return false;
            continue;
        }
        uint32_t k = 0;
        while (k < b->count && !is_same_key(arena, a->member[i].key, b->member[k].key))
            k++;
        if (k == b->count || !is_same(arena, a->member[i].value, b->member[k].value))
            return false;
    }
    return true;
}

/* Return the JSON of a value as it is read, or NULL: two keys of one object have the same name. */
static const struct rego_value *
read_again(struct rego_arena *arena, const struct rego_value *value, struct buf *text)
{
    if (!rego_write(text, value))
        return NULL;
    replace_nul(text->data, text->len);
    return rego_parse(arena, text->data, text->len);
}

/* True if each object within the keys of a value has names that differ: OPA keeps one of two
 * members when it writes such a key. */
static bool
keys_are_unique(struct rego_arena *arena, const struct rego_value *value)
{
    for (uint32_t i = 0; value->type >= REGO_ARRAY && i < value->count; i++) {
        if (value->type != REGO_OBJECT) {
            if (!keys_are_unique(arena, value->item[i]))
                return false;
            continue;
        }
        const struct rego_value *key = value->member[i].key;
        BUF_AUTO text;
        buf_init(&text, NULL, OCTETS_MAX);
        if ((key->type >= REGO_ARRAY
             && (read_again(arena, key, &text) == NULL || !keys_are_unique(arena, key)))
            || !keys_are_unique(arena, value->member[i].value))
            return false;
    }
    return true;
}

/* Return the value as JSON has it, or NULL: two keys have the same name. */
static const struct rego_value *
as_json(struct rego_arena *arena, const struct rego_value *value, struct buf *text)
{
    const struct rego_value *json = read_again(arena, value, text);
    return json != NULL && keys_are_unique(arena, value) ? json : NULL;
}

/* Print a text as JSON. */
static void
print_text(TALLOC_CTX *mem, const char *text)
{
    BUF_AUTO buf;
    buf_init(&buf, mem, OCTETS_MAX);
    rego_write(&buf, &(struct rego_value){
                         .type = REGO_STRING, .count = (uint32_t) strlen(text), .text = text});
    printf("%.*s", (int) buf.len, buf.data);
}

struct asked {
    const struct rego_plan *plan;
    const char *name;
    const struct rego_function *entrypoint;
    const struct rego_value *data;
};

static void
print_difference(TALLOC_CTX *mem, const struct asked *asked, uint32_t number, const struct buf *got,
                 const struct rego_value *want)
{
    printf("{\"rule\":\"%s\",\"question\":%u,\"got\":", asked->name, number);
    if (got->data != NULL)
        printf("%.*s", (int) got->len, got->data);
    else
        print_text(mem, "undefined");
    BUF_AUTO text;
    buf_init(&text, mem, OCTETS_MAX);
    rego_write(&text, want);
    printf(",\"want\":%.*s}\n", (int) text.len, text.data);
}

/* Ask one question and compare the answer. */
static void
ask(struct counts *counts, const struct asked *asked, uint32_t number,
    const struct rego_value *input, const struct rego_value *want)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    rego_arena_init(&arena, mem, EVALUATION_OCTETS);
    struct rego_bounds bounds = {.statements = STATEMENTS_MAX,
                                 .octets = EVALUATION_OCTETS,
                                 .deadline_us = clock_monotonic_us() + EVALUATION_US};
    const struct rego_question question = {.plan = asked->plan,
                                           .entrypoint = asked->entrypoint,
                                           .input = input,
                                           .data = asked->data,
                                           .now_ns = 1700000000000000000};
    const struct rego_value *value = NULL, *got = NULL;
    char why[REGO_WHY_SIZE] = "";
    struct buf text; /* on mem */
    buf_init(&text, mem, OCTETS_MAX);
    enum rego_outcome outcome = rego_evaluate(&arena, &question, &bounds, &value, why);
    bool wanted = want->type == REGO_ARRAY && want->count == 1;
    if (outcome == REGO_GIVE_UP || outcome == REGO_EXCEEDED) {
        count_reason(counts, why);
    } else if (outcome == REGO_CONFLICT ? want->type == REGO_NULL
                                        : value == NULL && want->type == REGO_ARRAY && !wanted) {
        counts->failed += outcome == REGO_CONFLICT;
        counts->undefined += outcome == REGO_DONE;
    } else {
        if (value != NULL)
            got = as_json(&arena, value, &text);
        else if (outcome == REGO_CONFLICT)
            buf_append_text(&text, "\"a conflict\"");
        bool ambiguous = value != NULL && got == NULL && wanted;
        bool same = wanted && got != NULL && is_same(&arena, got, want->item[0]);
        counts->same += same;
        counts->ambiguous += ambiguous;
        if (!same && !ambiguous && counts->different++ < SHOWN_MAX)
            print_difference(mem, asked, number, &text, want);
    }
    talloc_free(mem);
}

static void
print_counts(TALLOC_CTX *mem, const struct counts *counts)
{
    printf("{\"same\":%lu,\"undefined\":%lu,\"ambiguous\":%lu,\"failed\":%lu,\"different\":%lu,"
           "\"left\":{",
           counts->same, counts->undefined, counts->ambiguous, counts->failed, counts->different);
    for (size_t i = 0; i < counts->reasons; i++) {
        printf("%s", i > 0 ? "," : "");
        print_text(mem, counts->reason[i].why);
        printf(":%lu", counts->reason[i].count);
    }
    printf("}}\n");
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct rego_arena arena;
    struct counts *counts = talloc_zero(mem, struct counts);
    const char *text = NULL, *why = "";
    if (argc != 4)
        return 2;
    rego_arena_init(&arena, mem, OCTETS_MAX);
    read_json(&arena, argv[1], &text);
    const struct rego_plan *plan = rego_plan_read(&arena, text, strlen(text), &why);
    if (plan == NULL) {
        fprintf(stderr, "compare: %s\n", why);
        return 1;
    }
    const struct rego_value *questions = read_json(&arena, argv[2], NULL);
    const struct rego_value *answers = rego_get_text(read_json(&arena, argv[3], NULL), "result");
    const struct rego_value *all = rego_get_text(questions, "asked");
    for (uint32_t i = 0; i < all->count; i++) {
        const struct rego_value *row = all->item[i], *inputs = rego_get_text(row, "inputs");
        struct asked asked = {plan, rego_get_text(row, "name")->text,
                              rego_plan_entrypoint(plan, rego_get_text(row, "entrypoint")->text),
                              rego_get_text(questions, "data")};
        const struct rego_value *want = rego_get_text(answers, asked.name);
        inputs = inputs != NULL ? inputs : rego_get_text(questions, "inputs");
        if (asked.entrypoint == NULL || want == NULL) {
            fprintf(stderr, "compare: %s has no entrypoint or no answers\n", asked.name);
            return 1;
        }
        for (uint32_t k = 0; k < inputs->count && k < want->count; k++)
            ask(counts, &asked, k, inputs->item[k], want->item[k]);
    }
    print_counts(mem, counts);
    talloc_free(mem);
    return 0;
}
