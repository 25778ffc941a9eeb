/*
 * Unified diffs: what diff -u writes and patch applies (base/text_diff.h). The same pairs go
 * through a strict model, and a part of them through the two programs.
 */
#include "config.h"

#include "base/text_diff.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "policy/patch_model.h"
#include "tap.h"

#define PLENTY 100000000

static TALLOC_CTX *mem;

static char *
diff_in(const char *name, const char *from, const char *to, struct text_diff_room *room)
{
    const struct text_diff_pair pair = {name, from, to};
    char *text = NULL;
    if (text_diff(mem, &pair, room, &text) != AZ_OK)
        return NULL;
    return text;
}

static char *
diff_of(const char *from, const char *to)
{
    struct text_diff_room room = {PLENTY, PLENTY};
    return diff_in("r.rego", from, to, &room);
}

#define HEAD "--- a/r.rego\n+++ b/r.rego\n"

/* Diffs as `diff -u` (GNU diffutils 3.8) writes them, without the times. */
static const struct {
    const char *name, *from, *to, *diff;
} cases[] = {
    {"equal texts have none",                      "a\nb\n",                      "a\nb\n",                      ""                                                              },
    {"two empty texts have none",                  "",                            "",                            ""                                                              },
    {"a line changed",                             "a\nb\nc\n",                   "a\nX\nc\n",                   HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n"                        },
    {"a line added to nothing: -0,0",              "",                            "a\n",                         HEAD "@@ -0,0 +1 @@\n+a\n"                                      },
    {"all removed: +0,0",                          "a\nb\n",                      "",                            HEAD "@@ -1,2 +0,0 @@\n-a\n-b\n"                                },
    {"one line for one: counts of 1 are left out", "a\n",                         "b\n",                         HEAD "@@ -1 +1 @@\n-a\n+b\n"                                    },
    {"a line added in front",                      "b\n",                         "a\nb\n",                      HEAD "@@ -1 +1,2 @@\n+a\n b\n"                                  },
    {"the line feed at the end lost",              "a\n",                         "a",
     HEAD "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"                                                                                                                  },
    {"the line feed at the end gained",            "a\nb",                        "a\nb\n",
     HEAD "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"                                                                                                          },
    {"no line feed at either end, in context",     "a\nb",                        "X\nb",
     HEAD "@@ -1,2 +1,2 @@\n-a\n+X\n b\n\\ No newline at end of file\n"                                                                                                          },
    {"three lines of context and no more",         "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
     "1\n2\n3\n4\nX\n6\n7\n8\n9\n",                                                                              HEAD "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n"        },
    {"six lines between two changes: one hunk",    "a\n1\n2\n3\n4\n5\n6\nb\n",
     "A\n1\n2\n3\n4\n5\n6\nB\n",                                                                                 HEAD "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
    {"seven: two hunks",                           "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
     HEAD "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"                                                                                           },
    {"CR is a part of the line",                   "a\r\n",                       "a\n",                         HEAD "@@ -1 +1 @@\n-a\r\n+a\n"                                  },
    {"a line like a header of a diff is a line",   "-- a\n",                      "++ b\n",
     HEAD "@@ -1 +1 @@\n--- a\n+++ b\n"                                                                                                                                          },
};

/* ---- generated pairs: xorshift, the same in every run ---- */

static uint32_t seed = 2463534242;

static uint32_t
below(uint32_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % bound;
}

/* Lines out of few words, so that they repeat, and blank ones. */
static void
add_line(char *text, uint32_t words)
{
    uint32_t word = below(words);
    if (word == 0)
        strcat(text, "\n");
    else
        sprintf(text + strlen(text), "line %u\n", word);
}

static void
cut_line_feed(char *text)
{
    size_t length = strlen(text);
    if (length > 0 && below(5) == 0)
        text[length - 1] = '\0';
}

/* A text of up to 40 lines, and what becomes of it when lines are dropped, added, and replaced. */
static void
make_pair(char *from, char *to)
{
    uint32_t words = 2 + below(30), odds = 2 + below(20), lines = below(40);
    *from = *to = '\0';
    for (uint32_t i = 0; i < lines; i++) {
        size_t at = strlen(from);
        add_line(from, words);
        uint32_t what = below(odds * 3);
        if (what == 0)
            continue;
        if (what == 1 || what == 2)
            add_line(to, words);
        if (what != 2)
            strcat(to, from + at);
    }
    cut_line_feed(from);
    cut_line_feed(to);
}

/* ---- the length of a shortest diff, by dynamic programming over all pairs of lines ---- */

static size_t
split(const char *text, const char **line, size_t *length)
{
    size_t count = 0;
    for (; *text != '\0'; text += length[count++]) {
        line[count] = text;
        length[count] = patch_model_line(text);
    }
    return count;
}

static size_t
shortest(const char *from, const char *to)
{
    static const char *a[256], *b[256];
    static size_t al[256], bl[256], cost[256][256];
    size_t n = split(from, a, al), m = split(to, b, bl);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            size_t best = i == 0 ? j : j == 0 ? i : SIZE_MAX;
            if (i > 0 && j > 0) {
                best = (cost[i - 1][j] < cost[i][j - 1] ? cost[i - 1][j] : cost[i][j - 1]) + 1;
                if (al[i - 1] == bl[j - 1] && memcmp(a[i - 1], b[j - 1], al[i - 1]) == 0
                    && cost[i - 1][j - 1] < best)
                    best = cost[i - 1][j - 1];
            }
            cost[i][j] = best;
        }
    return cost[n][m];
}

/* ---- the programs ---- */

static char directory[] = "/tmp/text_diff.XXXXXX";

static void
write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    if (file != NULL) {
        fwrite(text, 1, strlen(text), file);
        fclose(file);
    }
}

static int
shell(const char *command)
{
    char line[512];
    snprintf(line, sizeof(line), "cd %s && %s", directory, command);
    return system(line);
}

static void
test_programs(void)
{
    static char from[4096], to[4096];
    unsigned applied = 0, alike = 0, pairs = 0;
    if (mkdtemp(directory) == NULL) {
        ok(false, "a temporary directory");
        return;
    }
    while (pairs < 120) {
        make_pair(from, to);
        char *diff = diff_of(from, to);
        if (diff == NULL) {
            ok(false, "a diff");
            return;
        }
        if (*diff == '\0')
            continue;
        pairs++;
        write_file("r.rego", from);
        write_file("to", to);
        write_file("our.diff", diff);
        /* -F0: the context must fit; -f: asks nothing. cmp against what it should be. */
        applied += shell("cp r.rego t && patch -s -f -F0 t <our.diff && cmp -s t to") == 0;
        /* The diff must be as long as the shortest one that diff itself finds. */
        alike += shell("test \"$(diff -d -u r.rego to | grep -c '^[-+]')\" = "
                       "\"$(grep -c '^[-+]' our.diff)\"")
                 == 0;
        talloc_free(diff);
    }
    is_int(applied, pairs, "generated pairs: patch makes the new text of the old one");
    is_int(alike, pairs, "generated pairs: no longer than diff -d -u writes");
    shell("rm -f r.rego to t t.orig t.rej our.diff");
    rmdir(directory);
}

static void
test_model(void)
{
    static char from[4096], to[4096];
    struct patch_model model;
    unsigned pairs, good = 0, shortest_ones = 0;
    for (pairs = 0; pairs < 3000; pairs++) {
        make_pair(from, to);
        char *diff = diff_of(from, to);
        patch_model_apply(&model, from, diff);
        good += model.fault == NULL && strcmp(model.to, to) == 0;
        shortest_ones += model.removed + model.added == shortest(from, to);
        free(model.to);
        talloc_free(diff);
    }
    is_int(good, pairs, "generated pairs: each diff is exact to its last number");
    is_int(shortest_ones, pairs, "generated pairs: each is a shortest one (Myers)");
}

/* ---- limits ---- */

/* `count` lines that differ from those of another letter. */
static char *
lines_of(char letter, size_t count)
{
    char *text = talloc_size(mem, count * 10 + 1), *at = text;
    *text = '\0';
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%c%07zu\n", letter, i);
    return text;
}

static void
seen_by_model(const char *from, const char *to, const char *diff, size_t removed, const char *name)
{
    struct patch_model model;
    patch_model_apply(&model, from, diff != NULL ? diff : "");
    ok(diff != NULL && model.fault == NULL && strcmp(model.to, to) == 0, "%s: it is exact", name);
    is_int((int64_t) model.removed, (int64_t) removed, "%s: lines removed", name);
    free(model.to);
}

/* "a0..an x" against "b0..bn x y": n removed, n added, x kept. In the whole replacement x goes
 * too. */
static void
test_edits(void)
{
    const size_t half = TEXT_DIFF_EDITS_MAX / 2;
    for (size_t more = 0; more < 2; more++) {
        char *from = talloc_asprintf(mem, "%sx\n%sz\n", lines_of('a', half - 1 + more),
                                     lines_of('c', 1)),
             *to = talloc_asprintf(mem, "%sx\n%sz\n", lines_of('b', half - 1 + more),
                                   lines_of('d', 1));
        seen_by_model(from, to, diff_of(from, to), half + more + (more > 0 ? 1 : 0),
                      more == 0 ? "as many edits as are looked for: the line between is kept"
                                : "one pair more: removed and added whole");
    }
}

static void
test_lines(void)
{
    const size_t half = TEXT_DIFF_LINES_MAX / 2;
    for (size_t more = 0; more < 2; more++) {
        char *same = lines_of('a', half - 2),
             *from = talloc_asprintf(mem, "head\n1\n%s2\ntail\n", same),
             *to = talloc_asprintf(mem, "head\n3\n%s4\n%stail\n", same, more > 0 ? "5\n" : "");
        seen_by_model(from, to, diff_of(from, to), more == 0 ? 2 : half,
                      more == 0 ? "as many lines as are looked at: two changes"
                                : "one more: all but the common beginning and end is replaced");
    }
}

static void
test_room(void)
{
    const char *from = "a\nb\nc\nd\n", *to = "a\nB\nc\nD\n";
    size_t needed = strlen(diff_of(from, to));
    struct text_diff_room room = {PLENTY, needed};
    char *diff = diff_in("r.rego", from, to, &room);
    ok(diff != NULL, "room for the octets of a diff: it is made");
    is_int((int64_t) room.octets, 0, "... and takes them");
    ok(room.steps < PLENTY, "... and its steps");
    room = (struct text_diff_room){PLENTY, needed - 1};
    ok(diff_in("r.rego", from, to, &room) == NULL, "one octet less: there is none");
    is_int((int64_t) room.octets, (int64_t) needed - 1, "... and the room for others stays");
    room = (struct text_diff_room){0, PLENTY};
    seen_by_model(from, to, diff_in("r.rego", from, to, &room), 3, "without any steps");
    room = (struct text_diff_room){PLENTY, 0};
    is_str(diff_in("r.rego", from, from, &room), "", "equal texts need no room");
    for (size_t steps = 0; steps < 200; steps++) {
        struct patch_model model;
        room = (struct text_diff_room){steps, PLENTY};
        diff = diff_in("r.rego", from, to, &room);
        patch_model_apply(&model, from, diff);
        bool exact = model.fault == NULL && strcmp(model.to, to) == 0;
        free(model.to);
        if (!exact || room.steps > steps) {
            ok(false, "with %zu steps the diff is exact", steps);
            return;
        }
    }
    ok(true, "with any number of steps the diff is exact");
}

/* The worst there is: no line in common and as many as are looked at; and lines that all equal. */
static void
test_time(void)
{
    const size_t half = TEXT_DIFF_LINES_MAX / 2;
    char *alike = talloc_zero_size(mem, half * 2 + 1), *other = lines_of('b', half);
    memset(alike, '\n', half);
    int64_t started = clock_monotonic_ms();
    ok(diff_of(lines_of('a', half), other) != NULL, "no line in common: there is a diff");
    char *longer = talloc_asprintf(mem, "x\n%sy\n", alike);
    alike[half - 1000] = '\0';
    ok(diff_of(longer, alike) != NULL, "lines that are all alike: there is a diff");
    int64_t took = clock_monotonic_ms() - started;
    ok(took < 10000, "both within ten seconds, sanitizers and all: %lld ms", (long long) took);
}

int
main(void)
{
    mem = talloc_new(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(diff_of(cases[i].from, cases[i].to), cases[i].diff, "%s", cases[i].name);
    struct text_diff_room room = {PLENTY, PLENTY};
    is_str(diff_in("two words", "a\n", "", &room),
           "--- a/two words\t\n+++ b/two words\t\n@@ -1 +0,0 @@\n-a\n",
           "a tab ends a name with a blank, as diff -u writes it");
    test_model();
    test_programs();
    test_edits();
    test_lines();
    test_room();
    test_time();
    talloc_free(mem);
    return done();
}
