/* Server-sent events of upstreams: cuts between reads make no difference, and no event is longer
 * than the limit. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "fuzz/fuzz.h"
#include "gateway/mcp/peer/sse.h"

/* Octets of the longest event here; small, so that inputs reach it. */
#define EVENT_MAX 24

struct seen {
    TALLOC_CTX *mem;
    struct buf text;
};

static bool
note_event(void *arg, const char *data, size_t len)
{
    struct seen *seen = arg;
    MUST(len <= EVENT_MAX && data[len] == '\0');
    MUST(memchr(data, '\r', len) == NULL);
    MUST(buf_append_char(&seen->text, '[') == AZ_OK);
    MUST(buf_append(&seen->text, data, len) == AZ_OK);
    return true;
}

static enum az_status
read_in_steps(TALLOC_CTX *mem, const char *data, size_t size, size_t step, struct seen *seen)
{
    struct sse sse;
    enum az_status st = AZ_OK;
    buf_init(&seen->text, mem, 4 * size + 16);
    sse_init(&sse, mem, EVENT_MAX);
    for (size_t at = 0; st == AZ_OK && at < size; at += step)
        st = sse_feed(&sse, data + at, step < size - at ? step : size - at, note_event, seen);
    sse_done(&sse);
    MUST(st == AZ_OK || st == AZ_INVALID);
    return st;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct seen whole = {.mem = mem}, parts = {.mem = mem};
    enum az_status st = read_in_steps(mem, (const char *) data, size, size + 1, &whole);
    for (size_t step = 1; step < 4; step++) {
        MUST(read_in_steps(mem, (const char *) data, size, step, &parts) == st);
        MUST(parts.text.len == whole.text.len
             && (whole.text.len == 0
                 || memcmp(parts.text.data, whole.text.data, whole.text.len) == 0));
    }
    talloc_free(mem);
    return 0;
}
