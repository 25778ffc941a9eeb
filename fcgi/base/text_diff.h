/* The difference between two texts, as a unified diff that `patch` reads. */
#ifndef AZ_BASE_TEXT_DIFF_H
#define AZ_BASE_TEXT_DIFF_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

/* Unchanged lines shown around a change. */
#define TEXT_DIFF_CONTEXT 3

/*
 * Up to these limits the diff is a shortest one. Beyond them, everything between the lines with
 * which both texts begin and end is removed and added as a whole: longer, but still exact.
 *
 * LINES: of both texts together, without their common beginning and end; all are sorted.
 * EDITS: removed and added lines; memory grows with their square, 2 octets * EDITS_MAX^2.
 */
#define TEXT_DIFF_LINES_MAX 100000
#define TEXT_DIFF_EDITS_MAX 2000

/* Resources that the diffs of one answer share; each diff takes its part away. */
struct text_diff_room {
    size_t steps;  /* lines compared; with none left, diffs are the longer ones */
    size_t octets; /* of the diffs */
};

/* Two texts; the name is in both header lines, after a/ and b/. */
struct text_diff_pair {
    const char *name, *from, *to;
};

/*
 * Write the diff, "" for equal texts; it belongs to mem. AZ_INVALID: the diff is longer than
 * room->octets, which stay as they were. AZ_SERVER_ERROR: no memory.
 */
enum az_status text_diff(TALLOC_CTX *mem, const struct text_diff_pair *pair,
                         struct text_diff_room *room, char **ret);

#endif
