/* The search for a credential in an answer: cuts between reads make no difference, the length
 * stays, and the credential is not in what is passed on. Input: the credential, a line feed, the
 * body. */
#include "config.h"

#include <string.h>
#include <talloc.h>

#include "base/buf.h"
#include "fuzz/fuzz.h"
#include "gateway/upstream/echo.h"

static bool
take_masked(void *arg, const void *octets, size_t length)
{
    MUST(length > 0);
    MUST(buf_append(arg, octets, length) == AZ_OK);
    return true;
}

static void
mask_in_steps(TALLOC_CTX *mem, const char *value, const uint8_t *body, size_t size, size_t step,
              struct buf *out)
{
    struct echo *echo;
    const struct upstream_sink sink = {.take = take_masked, .arg = out};
    buf_init(out, mem, size + 1);
    MUST(echo_make(mem, value, NULL, &echo));
    if (echo == NULL)
        return;
    for (size_t at = 0; at < size; at += step)
        MUST(echo_feed(echo, &sink, body + at, step < size - at ? step : size - at));
    MUST(echo_end(echo, &sink));
    MUST(out->len == size);
    for (size_t i = 0; i < echo->texts && size > 0; i++)
        if (memchr(echo->text[i], '*', echo->length[i]) == NULL)
            MUST(memmem(out->data, out->len, echo->text[i], echo->length[i]) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    if (line == NULL || memchr(data, '\0', (size_t) (line - data)) != NULL)
        return 0;
    TALLOC_CTX *mem = talloc_new(NULL);
    char *value = talloc_strndup(mem, (const char *) data, (size_t) (line - data));
    size_t length = size - (size_t) (line + 1 - data);
    for (size_t step = 1; step < 40; step += 12) {
        struct buf out;
        mask_in_steps(mem, value, line + 1, length, step, &out);
        buf_done(&out);
    }
    struct buf whole;
    mask_in_steps(mem, value, line + 1, length, length + 1, &whole);
    buf_done(&whole);
    talloc_free(mem);
    return 0;
}
