/* The head of a foreign server's answer. An input is its lines. */
#include "config.h"

#include <ctype.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "http/fetch/fetch_head.h"

static void
check_age(const char *value, size_t length)
{
    char *more = malloc(length + 16);
    int64_t age = fetch_max_age(value, length);
    MUST(age >= -1 && age <= INT32_MAX);
    MUST(more != NULL);
    /* What is added in front only ever shortens. */
    memcpy(more, "no-store,", 9);
    if (length > 0)
        memcpy(more + 9, value, length);
    MUST(fetch_max_age(more, length + 9) == 0);
    memcpy(more, "max-age=7", 9);
    more[9] = ',';
    if (length > 0)
        memcpy(more + 10, value, length);
    int64_t both = fetch_max_age(more, length + 10);
    MUST(both == (age < 0 || age > 7 ? 7 : age));
    free(more);
}

static void
check_head(const struct fetch_head *head)
{
    size_t length = strlen(head->content_type);
    MUST(head->octets <= FETCH_HEAD_MAX && length < FETCH_TYPE_SIZE && head->max_age >= -1);
    for (size_t i = 0; i < length; i++)
        MUST(head->content_type[i] > ' ' && head->content_type[i] < 127
             && !isupper((unsigned char) head->content_type[i]));
    MUST(!fetch_type_is_json(head->content_type) || head->typed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fetch_head head = {.max_age = -1};
    const char *text = (const char *) data;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end != NULL ? (size_t) (end - text) + 1 - at : size - at;
        size_t before = head.octets;
        if (!fetch_head_line(&head, text + at, length)) {
            MUST(before + length > FETCH_HEAD_MAX);
            break;
        }
        check_head(&head);
        at += length;
    }
    check_age(text, size);
    return 0;
}
