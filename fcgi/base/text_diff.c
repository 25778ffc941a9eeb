/*
 * E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986): the
 * greedy algorithm of section 4. Administrators choose the texts, so each limit on time and memory
 * has a fallback that is still an exact diff.
 */
#include "config.h"

#include "base/text_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* One line with its line feed, which the last one may lack. */
struct diff_line {
    const char *text;
    size_t length;
};

struct side {
    struct diff_line *line;
    size_t lines;
    uint32_t *number; /* of each middle line: equal lines have equal numbers */
    bool *changed;    /* removed from the old text, added in the new one */
};

struct diff {
    TALLOC_CTX *mem;      /* of this diff alone */
    struct side from, to; /* the two texts */
    size_t head;          /* equal lines at the beginning */
    size_t middle_from;   /* lines between them */
    size_t middle_to;     /* the same of the new text */
    size_t *steps;        /* steps left */
    uint32_t **row;       /* row[d][i]: lines of the old text that d edits reach on diagonal
                             2i - d */
};

static bool
split_lines(TALLOC_CTX *mem, const char *text, struct side *side)
{
    size_t count = 0, length = strlen(text), at = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == '\n' || i + 1 == length;
    side->line = talloc_size(mem, (count + 1) * sizeof(struct diff_line));
    side->changed = talloc_zero_size(mem, count + 1);
    if (side->line == NULL || side->changed == NULL)
        return false;
    for (side->lines = 0; at < length; side->lines++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t octets = end != NULL ? (size_t) (end - text) - at + 1 : length - at;
        side->line[side->lines] = (struct diff_line){text + at, octets};
        at += octets;
    }
    return true;
}

static int
compare_lines(const struct diff_line *a, const struct diff_line *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static void
trim_equal_ends(struct diff *diff)
{
    size_t from = diff->from.lines, to = diff->to.lines;
    while (diff->head < from && diff->head < to
           && compare_lines(&diff->from.line[diff->head], &diff->to.line[diff->head]) == 0)
        diff->head++;
    while (from > diff->head && to > diff->head
           && compare_lines(&diff->from.line[from - 1], &diff->to.line[to - 1]) == 0) {
        from--;
        to--;
    }
    diff->middle_from = from - diff->head;
    diff->middle_to = to - diff->head;
}

/* ---- numbers for lines, because the walk compares each line many times ---- */

struct numbered {
    struct diff_line line;
    uint32_t *number; /* receives its number */
};

static int
compare_numbered(const void *a, const void *b)
{
    return compare_lines(&((const struct numbered *) a)->line,
                         &((const struct numbered *) b)->line);
}

static void
collect_lines(const struct diff *diff, struct side *side, size_t lines, struct numbered *ret)
{
    for (size_t i = 0; i < lines; i++)
        ret[i] = (struct numbered){side->line[diff->head + i], &side->number[i]};
}

static bool
number_lines(struct diff *diff)
{
    size_t count = diff->middle_from + diff->middle_to;
    uint32_t number = 0;
    struct numbered *all = talloc_size(diff->mem, (count + 1) * sizeof(*all));
    diff->from.number = talloc_size(diff->mem, (diff->middle_from + 1) * sizeof(uint32_t));
    diff->to.number = talloc_size(diff->mem, (diff->middle_to + 1) * sizeof(uint32_t));
    if (all == NULL || diff->from.number == NULL || diff->to.number == NULL)
        return false;
    collect_lines(diff, &diff->from, diff->middle_from, all);
    collect_lines(diff, &diff->to, diff->middle_to, all + diff->middle_from);
    qsort(all, count, sizeof(*all), compare_numbered);
    for (size_t i = 0; i < count; i++) {
        number += i > 0 && compare_numbered(&all[i - 1], &all[i]) != 0;
        *all[i].number = number;
    }
    talloc_free(all);
    return true;
}

/* ---- the shortest path (Myers, figure 2) ---- */

/* True if the path of d edits to diagonal i ends with a line added; otherwise with one removed. */
static bool
came_down(const uint32_t *before, size_t d, size_t i)
{
    return i == 0 || (i < d && before[i - 1] < before[i]);
}

/* Follow equal lines as far as they go. False: no steps are left. */
static bool
follow(struct diff *diff, size_t *x, size_t y)
{
    while (*x < diff->middle_from && y < diff->middle_to
           && diff->from.number[*x] == diff->to.number[y]) {
        if (*diff->steps == 0)
            return false;
        (*diff->steps)--;
        (*x)++;
        y++;
    }
    return true;
}

/* Make one more edit on all diagonals. *ret_end: the diagonal on which the end was reached. */
static bool
walk_row(struct diff *diff, size_t d, bool *ret_done, size_t *ret_end)
{
    const uint32_t *before = d > 0 ? diff->row[d - 1] : NULL;
    uint32_t *row = diff->row[d];
    if (*diff->steps < d + 1)
        return false;
    *diff->steps -= d + 1;
    for (size_t i = 0; i <= d; i++) {
        size_t x = d == 0 ? 0 : came_down(before, d, i) ? before[i] : before[i - 1] + (size_t) 1;
        if (!follow(diff, &x, x + d - 2 * i))
            return false;
        row[i] = (uint32_t) x;
        if (x == diff->middle_from && x + d - 2 * i == diff->middle_to) {
            *ret_done = true;
            *ret_end = i;
            return true;
        }
    }
    return true;
}

/* Walk back from the end and mark each edit: one line removed or added. */
static void
mark_path(struct diff *diff, size_t d, size_t i)
{
    for (; d > 0; d--) {
        const uint32_t *before = diff->row[d - 1];
        if (came_down(before, d, i)) {
            diff->to.changed[diff->head + before[i] + (d - 1) - 2 * i] = true;
        } else {
            i--;
            diff->from.changed[diff->head + before[i]] = true;
        }
    }
}

static void
mark_all(struct diff *diff)
{
    memset(diff->from.changed + diff->head, true, diff->middle_from);
    memset(diff->to.changed + diff->head, true, diff->middle_to);
}

/* Find the shortest path. False: there is none within the limits, or no memory. */
static bool
find_shortest(struct diff *diff)
{
    size_t most = diff->middle_from + diff->middle_to, end = 0;
    bool found = false;
    most = most < TEXT_DIFF_EDITS_MAX ? most : TEXT_DIFF_EDITS_MAX;
    diff->row = talloc_size(diff->mem, (most + 1) * sizeof(*diff->row));
    if (diff->row == NULL)
        return false;
    for (size_t d = 0; d <= most; d++) {
        diff->row[d] = talloc_size(diff->mem, (d + 1) * sizeof(uint32_t));
        if (diff->row[d] == NULL || !walk_row(diff, d, &found, &end))
            return false;
        if (!found)
            continue;
        mark_path(diff, d, end);
        return true;
    }
    return false;
}

/* Comparisons of each line in sorting: log2 of TEXT_DIFF_LINES_MAX. */
#define SORT_STEPS 17

static void
mark(struct diff *diff)
{
    size_t count = diff->middle_from + diff->middle_to,
           apart = diff->middle_from > diff->middle_to ? diff->middle_from - diff->middle_to
                                                       : diff->middle_to - diff->middle_from;
    bool worth = diff->middle_from > 0 && diff->middle_to > 0 && count <= TEXT_DIFF_LINES_MAX
                 && apart <= TEXT_DIFF_EDITS_MAX && *diff->steps >= count * SORT_STEPS;
    if (worth)
        *diff->steps -= count * SORT_STEPS;
    if (!worth || !number_lines(diff) || !find_shortest(diff))
        mark_all(diff);
}

/* ---- writing ---- */

/* A place in both texts. */
struct diff_place {
    size_t from, to;
};

static bool
unchanged(const struct diff *diff, struct diff_place at)
{
    return at.from < diff->from.lines && at.to < diff->to.lines && !diff->from.changed[at.from]
           && !diff->to.changed[at.to];
}

static struct diff_place
skip_unchanged(const struct diff *diff, struct diff_place at)
{
    while (unchanged(diff, at))
        at = (struct diff_place){at.from + 1, at.to + 1};
    return at;
}

static struct diff_place
skip_changed(const struct diff *diff, struct diff_place at)
{
    while (at.from < diff->from.lines && diff->from.changed[at.from])
        at.from++;
    while (at.to < diff->to.lines && diff->to.changed[at.to])
        at.to++;
    return at;
}

static bool
at_end(const struct diff *diff, struct diff_place at)
{
    return at.from == diff->from.lines && at.to == diff->to.lines;
}

/* Return the end of the hunk whose first change is at `at`. Changes that share context are one
 * hunk. */
static struct diff_place
hunk_end(const struct diff *diff, struct diff_place at)
{
    for (;;) {
        at = skip_changed(diff, at);
        struct diff_place next = skip_unchanged(diff, at);
        size_t gap = next.from - at.from;
        if (at_end(diff, next) || gap > 2 * TEXT_DIFF_CONTEXT) {
            gap = gap < TEXT_DIFF_CONTEXT ? gap : TEXT_DIFF_CONTEXT;
            return (struct diff_place){at.from + gap, at.to + gap};
        }
        at = next;
    }
}

/* Write "line,count". A count of 1 is left out; a range without lines names the line before. */
static void
write_range(struct buf *out, char sign, size_t start, size_t end)
{
    size_t count = end - start;
    buf_append_format(out, "%c%zu", sign, count > 0 ? start + 1 : start);
    if (count != 1)
        buf_append_format(out, ",%zu", count);
}

static void
write_line(struct buf *out, char sign, const struct diff_line *line)
{
    buf_append_char(out, sign);
    buf_append(out, line->text, line->length);
    if (line->text[line->length - 1] != '\n')
        buf_append_text(out, "\n\\ No newline at end of file\n");
}

static void
write_hunk(struct buf *out, const struct diff *diff, struct diff_place at, struct diff_place end)
{
    buf_append_text(out, "@@ ");
    write_range(out, '-', at.from, end.from);
    buf_append_char(out, ' ');
    write_range(out, '+', at.to, end.to);
    buf_append_text(out, " @@\n");
    while ((at.from < end.from || at.to < end.to) && out->status == AZ_OK) {
        struct diff_place next = skip_changed(diff, at);
        for (; at.from < next.from; at.from++)
            write_line(out, '-', &diff->from.line[at.from]);
        for (; at.to < next.to; at.to++)
            write_line(out, '+', &diff->to.line[at.to]);
        if (at.from < end.from)
            write_line(out, ' ', &diff->from.line[at.from]);
        at = (struct diff_place){at.from + (at.from < end.from), at.to + (at.to < end.to)};
    }
}

static void
write_diff(struct buf *out, const struct diff *diff, const char *name)
{
    /* A tab ends a name that contains blanks. */
    const char *end = strchr(name, ' ') != NULL ? "\t" : "";
    struct diff_place at = skip_unchanged(diff, (struct diff_place){0, 0});
    buf_append_format(out, "--- a/%s%s\n+++ b/%s%s\n", name, end, name, end);
    while (!at_end(diff, at) && out->status == AZ_OK) {
        size_t context = at.from < at.to ? at.from : at.to;
        context = context < TEXT_DIFF_CONTEXT ? context : TEXT_DIFF_CONTEXT;
        struct diff_place end_of_hunk = hunk_end(diff, at);
        write_hunk(out, diff, (struct diff_place){at.from - context, at.to - context}, end_of_hunk);
        at = skip_unchanged(diff, end_of_hunk);
    }
}

enum az_status
text_diff(TALLOC_CTX *mem, const struct text_diff_pair *pair, struct text_diff_room *room,
          char **ret)
{
    struct buf out;
    size_t length = 0;
    struct diff diff = {.mem = talloc_new(mem), .steps = &room->steps};
    if (diff.mem == NULL || !split_lines(diff.mem, pair->from, &diff.from)
        || !split_lines(diff.mem, pair->to, &diff.to)) {
        talloc_free(diff.mem);
        return AZ_SERVER_ERROR;
    }
    buf_init(&out, mem, room->octets);
    trim_equal_ends(&diff);
    if (diff.middle_from + diff.middle_to > 0) {
        mark(&diff);
        write_diff(&out, &diff, pair->name);
    } else {
        buf_append(&out, "", 0);
    }
    talloc_free(diff.mem);
    enum az_status st = out.status;
    char *text = st == AZ_OK ? buf_take(&out, &length) : NULL;
    if (st == AZ_OK && text == NULL)
        st = AZ_SERVER_ERROR;
    if (st != AZ_OK)
        return st;
    room->octets -= length;
    *ret = text;
    return AZ_OK;
}
