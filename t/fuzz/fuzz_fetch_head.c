/* The head of a foreign server's answer. An input is its lines. */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "http/fetch/fetch_head.h"

/* The max_age of an answer whose Cache-Control is `first`, then the input. */
static int64_t
age_of(const char *first, const char *value, size_t length)
{
    static const char name[] = "Cache-Control: ";
    struct fetch_head head = {.open = true, .max_age = -1};
    size_t before = strlen(name) + strlen(first);
    char *field = malloc(before + length + 1);
    MUST(field != NULL);
    sprintf(field, "%s%s", name, first);
    if (length > 0)
        memcpy(field + before, value, length);
    MUST(fetch_head_line(&head, field, before + length));
    free(field);
    return head.max_age;
}

static void
check_age(const char *value, size_t length)
{
    if (length > FETCH_HEAD_MAX / 2)
        return;
    int64_t age = age_of("", value, length);
    MUST(age >= -1 && age <= INT32_MAX);
    /* A directive in front only ever shortens. */
    MUST(age_of("no-store,", value, length) == 0);
    MUST(age_of("max-age=7,", value, length) == (age < 0 || age > 7 ? 7 : age));
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
