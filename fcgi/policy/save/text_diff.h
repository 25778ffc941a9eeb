/* What differs between two texts, as a unified diff: what `diff -u` writes and `patch` reads. */
#ifndef AZ_POLICY_SAVE_TEXT_DIFF_H
#define AZ_POLICY_SAVE_TEXT_DIFF_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Unchanged lines shown around a change. */
#define TEXT_DIFF_CONTEXT 3

/*
 * Up to these bounds the diff is a shortest one. Beyond them, what lies between the lines that both
 * texts begin and end with is removed and added whole: longer, but still exact.
 *
 * LINES: of the two texts together, their common beginning and end not counted; all are sorted.
 * EDITS: removed and added lines; memory grows with their square, 2 octets * EDITS_MAX^2.
 */
#define TEXT_DIFF_LINES_MAX 100000
#define TEXT_DIFF_EDITS_MAX 2000

/* What several diffs of one answer may cost together; each takes its part away. */
struct text_diff_room {
    size_t steps;  /* lines compared; without any left, diffs are the longer ones */
    size_t octets; /* of the diffs */
};

/* Two texts; the name is in both header lines, after a/ and b/. */
struct text_diff_pair {
    const char *name, *from, *to;
};

/*
 * The diff, "" for equal texts; belongs to mem. AZ_INVALID: room->octets do not suffice, and are
 * left as they were. AZ_SERVER_ERROR: out of memory.
 */
enum az_status text_diff(TALLOC_CTX *mem, const struct text_diff_pair *pair,
                         struct text_diff_room *room, char **ret);

#endif
