#include "config.h"

#include "base/buf.h"

#include <stdint.h>
#include <string.h>

#include "tap.h"

static void
test_append(TALLOC_CTX *mem)
{
    BUF_AUTO buf;
    size_t len = 0;

    buf_init(&buf, mem, 100);
    is_int(buf_append(&buf, "ab", 2), AZ_OK, "append octets");
    is_int(buf_append_text(&buf, "cd"), AZ_OK, "append text");
    is_int(buf_append_char(&buf, 'e'), AZ_OK, "append a character");
    is_int(buf_append_format(&buf, "%d-%s", 12, "x"), AZ_OK, "append by format");
    is_int(buf_append(&buf, NULL, 0), AZ_OK, "append nothing");
    is_str(buf.data, "abcde12-x", "content is NUL-terminated while it grows");
    char *text = buf_take(&buf, &len);
    is_str(text, "abcde12-x", "take hands the content over");
    is_int((int64_t) len, 9, "... with its length");
    ok(talloc_parent(text) == mem, "... on the buffer's context");
    is_str(buf_take(&buf, NULL), "", "a taken buffer is empty and usable");
}

static void
test_limit(TALLOC_CTX *mem, size_t max)
{
    BUF_AUTO at;
    BUF_AUTO past;
    BUF_AUTO format;
    char *fill = talloc_zero_size(mem, max + 2);

    memset(fill, 'x', max + 1);
    buf_init(&at, mem, max);
    buf_init(&past, mem, max);
    buf_init(&format, mem, max);
    is_int(buf_append(&at, fill, max), AZ_OK, "maximum %zu: at the limit", max);
    is_int(buf_append_char(&at, 'y'), AZ_INVALID, "maximum %zu: one past, in a second step", max);
    is_int(buf_append(&past, fill, max + 1), AZ_INVALID, "maximum %zu: one past at once", max);
    ok(past.data == NULL && past.len == 0, "... frees the content");
    is_int(buf_append(&past, "", 0), AZ_INVALID, "... and sticks");
    ok(buf_take(&past, NULL) == NULL, "... and there is nothing to take");
    is_int(buf_append_format(&format, "%.*s", (int) max, fill), AZ_OK,
           "maximum %zu: format at the limit", max);
    is_int(buf_append_format(&format, "%s", "z"), AZ_INVALID, "maximum %zu: format one past", max);
    is_int(buf_append_format(&format, "%s", ""), AZ_INVALID, "... and sticks");
    talloc_free(fill);
}

static void
test_growth(TALLOC_CTX *mem)
{
    BUF_AUTO buf;
    unsigned wrong = 0;

    buf_init_secret(&buf, mem, 100000);
    for (int i = 0; i < 100000; i++)
        wrong += buf_append_char(&buf, (char) ('a' + i % 26)) != AZ_OK;
    for (int i = 0; i < 100000; i++)
        wrong += buf.data[i] != 'a' + i % 26;
    is_int(wrong, 0, "100000 single characters keep their places");
    ok(buf.size <= buf.max + 1, "memory stays within the maximum and the NUL");
}

static void
test_huge_length(TALLOC_CTX *mem)
{
    BUF_AUTO buf;

    buf_init(&buf, mem, 10);
    buf_append_text(&buf, "12345");
    is_int(buf_append(&buf, "x", SIZE_MAX), AZ_INVALID, "a length that would wrap is refused");
}

/* talloc gives out no more than 256 MiB at once. */
static void
test_out_of_memory(TALLOC_CTX *mem)
{
    BUF_AUTO buf;

    buf_init(&buf, mem, 1 << 30);
    is_int(buf_append_text(&buf, "ok"), AZ_OK, "memory is there");
    is_int(buf_append_format(&buf, "%*s", 1 << 28, ""), AZ_SERVER_ERROR,
           "out of memory is our failure");
    is_int(buf_append_text(&buf, "y"), AZ_SERVER_ERROR, "... and sticks");
    ok(buf.data == NULL && buf_take(&buf, NULL) == NULL, "... and nothing is left to take");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);

    plan(0);
    test_append(mem);
    test_limit(mem, 1);
    test_limit(mem, 255);
    test_limit(mem, 256);
    test_limit(mem, 257);
    test_limit(mem, 5000);
    talloc_free_children(mem);
    size_t blocks = talloc_total_blocks(mem);
    test_growth(mem);
    test_huge_length(mem);
    is_int((int64_t) talloc_total_blocks(mem), (int64_t) blocks, "buf_done frees everything");
    test_out_of_memory(mem);
    talloc_free(mem);
    return done();
}
