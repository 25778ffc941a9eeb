/* The head of an upstream's answer. An input is its lines. Whatever an upstream sends, a head that
 * is passed on has no line end and no field that sets something for our origin. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "gateway/upstream/head.h"
#include "managed/headers.h"

static void
check_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        MUST((unsigned char) *c >= 0x20 && *c != 0x7f);
}

static void
check_complete(const struct upstream_head *head)
{
    const struct upstream_answer *answer = head->answer;
    MUST(answer->status >= 200 && answer->status <= 599 && answer->fields <= UPSTREAM_FIELDS_MAX);
    MUST(!head->coded || answer->announced < 0);
    for (size_t i = 0; i < answer->fields; i++) {
        MUST(*answer->field[i].name != '\0' && strpbrk(answer->field[i].name, ": \t") == NULL);
        MUST(header_may_be(answer->field[i].name, HEADER_PASSED_BACK));
        check_text(answer->field[i].name);
        check_text(answer->field[i].value);
    }
    check_text(answer->content_type);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct upstream_head head = {.mem = mem, .answer = talloc_zero(mem, struct upstream_answer)};
    const char *text = (const char *) data;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t) (end - text) + 1 - at : size - at;
        /* In memory of its own, so that a sanitizer sees a read past the end. */
        char *line = malloc(length);
        MUST(line != NULL);
        memcpy(line, text + at, length);
        bool taken = upstream_head_line(&head, line, length);
        free(line);
        MUST(taken == (head.fault == NULL) && head.octets <= UPSTREAM_HEAD_MAX);
        if (!taken)
            break;
        if (head.complete)
            check_complete(&head);
        at += length;
    }
    talloc_free(mem);
    return 0;
}
