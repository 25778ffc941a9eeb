#include "config.h"

#include "gateway/mcp/peer/sse.h"

#include <string.h>

#include "tap.h"

#define MAX 16

/* The events that a reader was given: data of the events, each in brackets. */
struct seen {
    char *text;
    size_t want; /* events that are wanted; 0: all */
    size_t events;
};

static bool
note_event(void *arg, const char *data, size_t len)
{
    struct seen *seen = arg;
    seen->text = talloc_asprintf_append(seen->text, "[%.*s]", (int) len, data);
    return ++seen->events != seen->want;
}

/* clang-format off */
static const struct {
    const char *stream, *events;
    enum az_status wanted;
    const char *name;
} cases[] = {
    {"data: a\n\n", "[a]", AZ_OK, "one event (WHATWG HTML 9.2.6)"},
    {"data:a\n\n", "[a]", AZ_OK, "without a space"},
    {"data:  a \n\n", "[ a ]", AZ_OK, "only one space is taken away"},
    {"data: a\r\n\r\n", "[a]", AZ_OK, "CRLF"},
    {"data: a\r\r", "[a]", AZ_OK, "CR alone"},
    {"data: a\ndata: b\n\n", "[a\nb]", AZ_OK, "two lines of one event"},
    {"data: a\n\ndata: b\n\n", "[a][b]", AZ_OK, "two events"},
    {"\xef\xbb\xbf""data: a\n\n", "[a]", AZ_OK, "a byte order mark"},
    {"\xef\xbb\xbf\xef\xbb\xbf""data: a\n\n", "", AZ_OK, "... one of them"},
    {": keep-alive\n\n: more\n\ndata: a\n\n", "[a]", AZ_OK, "comments are no events"},
    {"event: message\nid: 7\nretry: 1\ndata: a\n\n", "[a]", AZ_OK, "other fields are passed over"},
    {"event: message\n\n", "", AZ_OK, "an event without data is none"},
    {"data\n\n", "[]", AZ_OK, "data without a value is empty"},
    {"data:\ndata:\n\n", "[\n]", AZ_OK, "two empty lines of data"},
    {"database: a\n\n", "", AZ_OK, "a field that begins like data"},
    {" data: a\n\n", "", AZ_OK, "a field with a space before it"},
    {"data: a\n", "", AZ_OK, "a stream that ends within an event"},
    {"data: 0123456789abcdef\n\n", "[0123456789abcdef]", AZ_OK, "the longest event"},
    {"data: 0123456789abcdefg\n\n", "", AZ_INVALID, "one octet more"},
    {"data: 01234567\ndata: abcdefg\n\n", "[01234567\nabcdefg]", AZ_OK, "the longest of two lines"},
    {"data: 01234567\ndata: abcdefgh\n\n", "", AZ_INVALID, "one octet more"},
    {": 0123456789abcdefghijklmn\n", "", AZ_INVALID, "a comment longer than any line"},
    {"0123456789abcdefghijklmnop", "", AZ_INVALID, "a line that does not end"},
};
static const struct {
    const char *stream, *id;
    int retry_ms;
    const char *name;
} marks[] = {
    {"id: 7\nretry: 500\ndata: a\n\n", "7", 500, "the id of an event, and the time to wait"},
    {"id: 7\ndata: a\n\ndata: b\n\n", "7", -1, "an id holds for the events behind it"},
    {"id: 7\ndata: a\n\nid: 8\n\n", "8", -1, "... until the next, also without data"},
    {"id: 7\ndata: a\n\nid: 8\ndata: b\n", "7", -1, "an event that is not whole has no part in it"},
    {"id: 7\ndata: a\n\nid\ndata: b\n\n", "", -1, "an empty id takes it away"},
    {"id: a b\ndata: a\n\n", "", -1, "an id that a header field cannot carry is none"},
    {"id: a\x01\ndata: a\n\n", "", -1, "... nor one with a control character"},
    {"retry: 5s\n\n", "", -1, "a time that is no number is none"},
    {"retry: \n\n", "", -1, "... nor an empty one"},
    {"retry: 30000\n\n", "", 30000, "the longest time"},
    {"retry: 30001\n\n", "", 30000, "a longer one is cut"},
    {"retry: 99999999999999\n\n", "", 30000, "... however long"},
};
/* clang-format on */

static void
test_marks(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct seen seen = {.text = talloc_strdup(mem, "")};
        struct sse sse;
        sse_init(&sse, mem, 64);
        sse_feed(&sse, marks[i].stream, strlen(marks[i].stream), note_event, &seen);
        is_str(sse.id, marks[i].id, "%s", marks[i].name);
        is_int(sse.retry_ms, marks[i].retry_ms, "... and the time");
        sse_done(&sse);
    }
}

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t step = 1; step < 4; step++) {
            TALLOC_CTX *once = talloc_new(mem);
            struct seen seen = {.text = talloc_strdup(once, "")};
            struct sse sse;
            enum az_status st = AZ_OK;
            size_t len = strlen(cases[i].stream);
            sse_init(&sse, once, MAX);
            for (size_t at = 0; st == AZ_OK && at < len; at += step)
                st = sse_feed(&sse, cases[i].stream + at, step < len - at ? step : len - at,
                              note_event, &seen);
            is_int(st, cases[i].wanted, "%s, %zu octets at a time", cases[i].name, step);
            is_str(seen.text, cases[i].events, "... its events");
            sse_done(&sse);
            talloc_free(once);
        }
}

static void
test_ends(TALLOC_CTX *mem)
{
    struct seen seen = {.text = talloc_strdup(mem, ""), .want = 2};
    struct sse sse;
    enum az_status st = AZ_OK;
    sse_init(&sse, mem, MAX);
    is_int(sse_feed(&sse, "data: a\n\ndata: b\n\ndata: c\n\n", 27, note_event, &seen), AZ_RETRY,
           "a reader that has what it wants stops");
    is_str(seen.text, "[a][b]", "... there");
    sse_done(&sse);
    seen = (struct seen){.text = talloc_strdup(mem, "")};
    sse_init(&sse, mem, MAX);
    for (size_t i = 0; st == AZ_OK && i < SSE_EVENTS_MAX; i++)
        st = sse_feed(&sse, "data\n\n", 6, note_event, &seen);
    is_int(st, AZ_OK, "the most events");
    is_int(sse_feed(&sse, "data\n\n", 6, note_event, &seen), AZ_INVALID, "one more");
    sse_done(&sse);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_marks(mem);
    test_ends(mem);
    talloc_free(mem);
    return done();
}
