/* The head of another server's answer. */
#include "config.h"

#include "http/fetch/fetch_head.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct {
    const char *value;
    int64_t age;
    const char *name;
} ages[] = {
    {"",                            -1, "empty: it does not say"},
    {"public",                      -1, "other directives do not say how long"},
    {"max-age=60",                  60, "max-age (RFC 9111 5.2.2.1)"},
    {"MAX-AGE=60",                  60, "in any case"},
    {"public, max-age=60",          60, "among others"},
    {"public ,\tmax-age=60 , x",    60, "with blanks"},
    {"max-age=\"60\"",              60, "quoted (RFC 9111 5.2)"},
    {"max-age=0",                   0,  "no time at all"},
    {"max-age=60, max-age=30",      30, "the least of several"},
    {"max-age=30, max-age=60",      30, "in any order"},
    {"no-store",                    0,  "no-store (RFC 9111 5.2.2.5)"},
    {"no-cache",                    0,  "no-cache (RFC 9111 5.2.2.4)"},
    {"no-cache=\"Set-Cookie\"",     0,  "no-cache of some fields: all the same"},
    {"max-age=60, no-store",        0,  "no-store wins"},
    {"no-store, max-age=60",        0,  "in any order"},
    {"max-age",                     0,  "max-age without a number is stale (RFC 9111 4.2.1)"},
    {"max-age=",                    0,  "empty"},
    {"max-age=-1",                  0,  "negative"},
    {"max-age=1x",                  0,  "no number"},
    {"max-age= 60",                 0,  "a blank is none either"},
    {"max-age=\"60",                0,  "an open quote"},
    {"max-age=99999999999999999999999", INT32_MAX, "beyond all numbers: as long as can be"},
    {"x-max-age=60",                -1, "another name"},
    {"max-age2=60",                 -1, "a longer name"},
    {"s-maxage=60",                 -1, "s-maxage is for shared caches of others"},
    {"ext=\"no-store, max-age=60\"", -1, "in quotes it is no directive (RFC 9110 5.6.4)"},
    {"ext=\"a\\\", no-store\"",     -1, "an escaped quote does not end them"},
    {"ext=\"open, no-store",        -1, "nor does the end"},
    {",,,max-age=60,,",             60, "empty members"},
};

static const struct {
    const char *value, *type;
    bool json;
    const char *name;
} types[] = {
    {"application/json",                "application/json", true, "JSON"},
    {"Application/JSON;charset=utf-8",  "application/json", true, "in any case, with a parameter (RFC 9110 8.3.1)"},
    {" application/json ; a=\"b;c\" ",  "application/json", true, "with blanks"},
    {"application/jwk-set+json",        "application/jwk-set+json", true, "a suffix (RFC 6839)"},
    {"application/+json",               "application/+json", false, "a suffix of nothing"},
    {"application/a/b+json",            "application/a/b+json", false, "two slashes"},
    {"text/json",                       "text/json", false, "no registered type"},
    {"text/html",                       "text/html", false, "a page"},
    {"image/svg+json",                  "image/svg+json", false, "no application"},
    {"application/jsonp",               "application/jsonp", false, "a longer name"},
    {"application/json, text/html",     "", false, "two types in a field"},
    {"application/json\x01",            "", false, "a control"},
    {"",                                "", false, "an empty field"},
};
/* clang-format on */

static bool
line(struct fetch_head *head, const char *text)
{
    return fetch_head_line(head, text, strlen(text));
}

static struct fetch_head
begin(void)
{
    struct fetch_head head = {.max_age = -1};
    line(&head, "HTTP/1.1 200 OK\r\n");
    return head;
}

static void
test_type(void)
{
    char text[400];
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct fetch_head head = begin();
        snprintf(text, sizeof(text), "content-TYPE:%s\r\n", types[i].value);
        line(&head, text);
        is_str(head.content_type, types[i].type, "media type: %s", types[i].name);
        ok(fetch_type_is_json(head.content_type) == types[i].json, "... %s",
           types[i].json ? "is JSON" : "is not JSON");
    }
    for (int length = FETCH_TYPE_SIZE - 1; length <= FETCH_TYPE_SIZE; length++) {
        struct fetch_head head = begin();
        snprintf(text, sizeof(text), "Content-Type: %0*d\r\n", length, 7);
        line(&head, text);
        is_int((int64_t) strlen(head.content_type), length < FETCH_TYPE_SIZE ? length : 0,
               "a type of %d octets is %s", length, length < FETCH_TYPE_SIZE ? "read" : "none");
    }
    struct fetch_head head = begin();
    line(&head, "Content-Type: application/json\r\n");
    line(&head, "Content-Type: application/json\r\n");
    is_str(head.content_type, "", "of two fields none counts");
    line(&head, "Content-Type: application/json\r\n");
    is_str(head.content_type, "", "of three neither");
}

static void
test_lines(void)
{
    struct fetch_head head = begin();
    line(&head, "Cache-Control: max-age=60\r\n");
    line(&head, "cache-control: max-age=30\r\n");
    is_int(head.max_age, 30, "several Cache-Control fields are one list (RFC 9110 5.3)");
    line(&head, "Cache-Control : no-store\r\n");
    is_int(head.max_age, 30, "a blank before the colon makes another name (RFC 9112 5.1)");
    line(&head, "\r\n");
    line(&head, "Cache-Control: no-store\r\nContent-Type: text/html\r\n");
    line(&head, "Content-Type: text/html\r\n");
    is_int(head.max_age, 30, "a trailer's Cache-Control is not the head's (RFC 9110 6.5.1)");
    is_str(head.content_type, "", "nor its type");

    head = (struct fetch_head){.max_age = -1};
    line(&head, "HTTP/1.1 103 Early Hints\r\n");
    line(&head, "Content-Type: application/json\r\n");
    line(&head, "Cache-Control: no-store\r\n");
    line(&head, "\r\n");
    line(&head, "HTTP/1.1 200 OK\r\n");
    is_str(head.content_type, "", "an interim answer's type is not the answer's (RFC 9110 15.2)");
    is_int(head.max_age, -1, "nor is its Cache-Control");
    line(&head, "Content-Type: application/json\r\n");
    is_str(head.content_type, "application/json", "the answer's own is read");
    line(&head, "no field at all\r\n");
    ok(line(&head, ":\r\n"), "a line without a name is nothing");
}

static void
test_limit(void)
{
    static char filler[FETCH_HEAD_MAX];
    memset(filler, 'x', sizeof(filler));
    struct fetch_head head = begin();
    size_t left = FETCH_HEAD_MAX - head.octets;
    ok(fetch_head_line(&head, filler, left), "%d octets of head are read", FETCH_HEAD_MAX);
    ok(!line(&head, "x"), "one more is refused");
    head = begin();
    ok(!fetch_head_line(&head, filler, left + 1), "also in one line");
    head = begin();
    bool more = true;
    int answers = 0;
    while (more && answers < FETCH_HEAD_MAX) {
        more = line(&head, "HTTP/1.1 100 Continue\r\n") && line(&head, "\r\n");
        answers++;
    }
    ok(!more && answers <= FETCH_HEAD_MAX / 25 + 1, "interim answers do not go on for ever");
}

static void
test_age(void)
{
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        char field[128];
        struct fetch_head head = begin();
        snprintf(field, sizeof(field), "Cache-Control: %s\r\n", ages[i].value);
        line(&head, field);
        is_int(head.max_age, ages[i].age, "Cache-Control: %s", ages[i].name);
    }
}

/* Retry-After counts in seconds alone (RFC 9110 10.2.3). */
static void
test_retry(void)
{
    static const struct {
        const char *value;
        int64_t seconds;
    } rows[] = {
        {"120",                           120      },
        {"0",                             0        },
        {" 7 ",                           7        },
        {"-1",                            0        },
        {"1.5",                           0        },
        {"",                              0        },
        {"Fri, 31 Dec 2027 23:59:59 GMT", 0        },
        {"99999999999999999999",          INT32_MAX},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char field[128];
        struct fetch_head head = begin();
        snprintf(field, sizeof(field), "Retry-After: %s\r\n", rows[i].value);
        line(&head, field);
        is_int(head.retry_after, rows[i].seconds, "Retry-After: %s", rows[i].value);
    }
}

int
main(void)
{
    plan(0);
    test_age();
    test_retry();
    test_type();
    test_lines();
    test_limit();
    return done();
}
