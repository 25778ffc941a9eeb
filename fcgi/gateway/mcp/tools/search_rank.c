#include "config.h"

#include "gateway/mcp/tools/search_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/schema/schema_value.h"

/* Octets of a word; the rest of a longer one is not compared. */
#define WORD_OCTETS_MAX 48
/* Least letters of a word that matches the beginning of a longer word. */
#define PREFIX_OCTETS_MIN 3
/* The two constants of BM25, as they are in common use. */
#define BM25_K1 1.2
#define BM25_B 0.75

/* The words of a query. */
struct rank_query {
    char term[RANK_TERMS_MAX][WORD_OCTETS_MAX + 1];
    size_t terms;
};

/* The number of times that a tool has each word of the query, and its length; both weighted by
 * fields. */
struct rank_counts {
    double times[RANK_TERMS_MAX];
    double length;
};

/* ---- words */

typedef void word_fn(void *arg, const char *word);

static bool
is_word_octet(unsigned char c)
{
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool
is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* End a word: take the s of a plural from it, and pass it on. */
static void
end_word(char *word, size_t length, word_fn *take, void *arg)
{
    if (length == 0)
        return;
    if (length > 3 && word[length - 1] == 's' && word[length - 2] != 's')
        length--;
    word[length] = '\0';
    take(arg, word);
}

/* Pass the words of a text on, in lower case. A capital behind a small letter begins a new one. */
static void
each_word(const char *text, word_fn *take, void *arg)
{
    char word[WORD_OCTETS_MAX + 1];
    size_t length = 0;
    for (const char *c = text != NULL ? text : ""; *c != '\0'; c++) {
        bool camel = c > text && is_upper(*c) && !is_upper(c[-1]);
        if (!is_word_octet((unsigned char) *c) || camel) {
            end_word(word, length, take, arg);
            length = 0;
        }
        if (is_word_octet((unsigned char) *c) && length < WORD_OCTETS_MAX)
            word[length++] = (char) (is_upper(*c) ? *c - 'A' + 'a' : *c);
    }
    end_word(word, length, take, arg);
}

/* ---- the query */

static void
take_term(void *arg, const char *word)
{
    struct rank_query *query = arg;
    for (size_t i = 0; i < query->terms; i++)
        if (strcmp(query->term[i], word) == 0)
            return;
    if (query->terms < RANK_TERMS_MAX)
        memcpy(query->term[query->terms++], word, strlen(word) + 1);
}

/* ---- the tools */

/* A field that is being counted. */
struct rank_field {
    const struct rank_query *query;
    struct rank_counts *counts;
    double weight;
};

static void
count_word(void *arg, const char *word)
{
    struct rank_field *field = arg;
    field->counts->length += field->weight;
    for (size_t i = 0; i < field->query->terms; i++) {
        const char *term = field->query->term[i];
        size_t length = strlen(term);
        if (strcmp(word, term) == 0)
            field->counts->times[i] += field->weight;
        else if (length >= PREFIX_OCTETS_MIN && strncmp(word, term, length) == 0)
            field->counts->times[i] += field->weight / 2;
    }
}

static void
count_tool(const struct rank_query *query, const struct mcp_tool *tool, struct rank_counts *ret)
{
    const struct {
        const char *text;
        double weight;
    } fields[] = {
        {tool->row->name,        4},
        {tool->row->title,       3},
        {tool->resource->name,   2},
        {tool->row->description, 1},
    };
    struct rank_field field = {.query = query, .counts = ret};
    const char *name;
    json_t *property;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        field.weight = fields[i].weight;
        each_word(fields[i].text, count_word, &field);
    }
    field.weight = 1;
    json_object_foreach (schema_plain(json_object_get(tool->row->input_schema, "properties")), name,
                         property)
        each_word(name, count_word, &field);
}

/* ---- the scores */

/* Return the logarithm to base 2 of a number that is not less than 1, as a line between the powers
 * of two: an order of tools needs no more. */
static double
rough_log2(double x)
{
    double log = 0;
    for (; x >= 2; x /= 2)
        log++;
    return log + x - 1;
}

/* Return the score of a tool. have: the number of tools that have each word. */
static double
score_of(const struct rank_query *query, const struct rank_counts *counts, const size_t *have,
         size_t tools, double average)
{
    double score = 0;
    for (size_t i = 0; i < query->terms; i++) {
        double times = counts->times[i], n = (double) have[i];
        double rare = rough_log2(1 + ((double) tools - n + 0.5) / (n + 0.5));
        double size = BM25_K1 * (1 - BM25_B + BM25_B * counts->length / average);
        score += times > 0 ? rare * times * (BM25_K1 + 1) / (times + size) : 0;
    }
    return score;
}

static int
compare_hits(const void *a, const void *b)
{
    const struct rank_hit *left = a, *right = b;
    if (left->score < right->score || left->score > right->score)
        return left->score < right->score ? 1 : -1;
    return left->tool < right->tool ? -1 : left->tool > right->tool;
}

size_t
rank_tools(TALLOC_CTX *mem, const char *query, const struct mcp_tool *const *tools, size_t count,
           struct rank_hit **ret)
{
    struct rank_query words = {.terms = 0};
    size_t have[RANK_TERMS_MAX] = {0}, hits = 0;
    double length = 0;
    struct rank_counts *counts = talloc_zero_array(mem, struct rank_counts, (unsigned) count + 1);
    *ret = talloc_array(mem, struct rank_hit, (unsigned) count + 1);
    if (counts == NULL || *ret == NULL) {
        *ret = NULL;
        return 0;
    }
    each_word(query, take_term, &words);
    for (size_t i = 0; i < count; i++) {
        count_tool(&words, tools[i], &counts[i]);
        length += counts[i].length;
        for (size_t j = 0; j < words.terms; j++)
            have[j] += counts[i].times[j] > 0;
    }
    for (size_t i = 0; i < count; i++) {
        double score = score_of(&words, &counts[i], have, count, length / (double) count);
        if (score > 0)
            (*ret)[hits++] = (struct rank_hit){tools[i], score};
    }
    qsort(*ret, hits, sizeof(**ret), compare_hits);
    talloc_free(counts);
    return hits;
}
