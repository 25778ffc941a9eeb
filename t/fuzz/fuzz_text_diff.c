/*
 * Unified diffs of texts that policy writers choose. An input is one octet for the room (a small
 * letter: all there is; else so few steps and octets), the old text, a NUL and the new one.
 */
#include "config.h"

#include <talloc.h>

#include "base/text_diff.h"
#include "fuzz/fuzz.h"
#include "policy/patch_model.h"

#define PLENTY 1000000

/* Lines, as the diff counts them. */
static size_t
lines_of(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text += patch_model_line(text))
        count++;
    return count;
}

static void
check(TALLOC_CTX *mem, const char *from, const char *to, size_t room)
{
    const struct text_diff_pair pair = {"r.rego", from, to};
    struct text_diff_room left = {room, room};
    struct patch_model model;
    char *diff = NULL;
    enum az_status st = text_diff(mem, &pair, &left, &diff);
    MUST(left.steps <= room);
    MUST(st == AZ_OK || (st == AZ_INVALID && left.octets == room && room < PLENTY));
    if (st != AZ_OK)
        return;
    MUST(left.octets + strlen(diff) == room);
    patch_model_apply(&model, from, diff);
    MUST(model.fault == NULL);
    MUST(strcmp(model.to, to) == 0);
    MUST((*diff == '\0') == (strcmp(from, to) == 0));
    MUST(model.removed <= lines_of(from) && model.added <= lines_of(to));
    free(model.to);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    if (size > 0) {
        size_t room = data[0] >= 'a' && data[0] <= 'z' ? PLENTY : (size_t) data[0] * 2;
        const char *from = talloc_strndup(mem, (const char *) data + 1, size - 1);
        size_t length = strlen(from);
        const char *to = length + 1 < size ? talloc_strndup(mem, (const char *) data + length + 2,
                                                            size - length - 2)
                                           : "";
        check(mem, from, to, room);
        check(mem, to, from, room);
        check(mem, from, from, room);
    }
    talloc_free(mem);
    return 0;
}
