/* The head of an upstream's answer: what is refused, dropped and passed on. */
#include "config.h"

#include "gateway/upstream/head.h"

#include <stdio.h>
#include <string.h>
#include <talloc.h>

#include "tap.h"

static TALLOC_CTX *mem;

/* Read lines that "|" separates after a status line and before an empty line; return the head. */
static struct upstream_head
read_lines(const char *status, const char *lines)
{
    char line[512];
    struct upstream_head head = {.mem = mem, .answer = talloc_zero(mem, struct upstream_answer)};
    snprintf(line, sizeof(line), "%s\r\n", status);
    bool more = upstream_head_line(&head, line, strlen(line));
    while (more && *lines != '\0') {
        size_t length = strcspn(lines, "|");
        snprintf(line, sizeof(line), "%.*s\r\n", (int) length, lines);
        more = upstream_head_line(&head, line, strlen(line));
        lines += length + (lines[length] == '|');
    }
    if (more)
        upstream_head_line(&head, "\r\n", 2);
    return head;
}

static const char *
field(const struct upstream_head *head, const char *name)
{
    for (size_t i = 0; i < head->answer->fields; i++)
        if (strcmp(head->answer->field[i].name, name) == 0)
            return head->answer->field[i].value;
    return NULL;
}

/* clang-format off */
static const struct {
    const char *status, *lines, *name;
} refused[] = {
    {"HTTP/1.1 200 OK", "X: a\rSet-Cookie: b", "a bare CR in a value (response splitting)"},
    {"HTTP/1.1 200 OK", "X: a\x01", "a control character in a value"},
    {"HTTP/1.1 200 OK", "X: a\x7f", "DEL in a value"},
    {"HTTP/1.1 200 OK", " folded", "a folded line at the beginning (RFC 9112 5.2)"},
    {"HTTP/1.1 200 OK", "X: a| b", "a folded line (RFC 9112 5.2)"},
    {"HTTP/1.1 200 OK", "X: a|\tb", "... with a tab"},
    {"HTTP/1.1 200 OK", "X : a", "a space before the colon (RFC 9112 5.1)"},
    {"HTTP/1.1 200 OK", ": a", "a field without a name"},
    {"HTTP/1.1 200 OK", "no colon", "a line without a colon"},
    {"HTTP/1.1 200 OK", "X\xc3\xa4: a", "a name that is no token"},
    {"HTTP/1.1 200 OK", "Content-Length: 1|Content-Length: 2", "two lengths that differ (RFC 9112 6.3)"},
    {"HTTP/1.1 200 OK", "Content-Length: 1, 1", "a list of lengths"},
    {"HTTP/1.1 200 OK", "Content-Length: +1", "a length with a sign"},
    {"HTTP/1.1 200 OK", "Content-Length: 0x1", "a length in hexadecimal"},
    {"HTTP/1.1 200 OK", "Content-Length:", "an empty length"},
    {"HTTP/1.1 200 OK", "Content-Length: 5|Transfer-Encoding: chunked", "a length beside Transfer-Encoding (RFC 9112 6.3)"},
    {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked|Content-Length: 5", "... in the other order"},
    {"HTTP/1.1 200 OK", "Transfer-Encoding: gzip, chunked", "another transfer coding"},
    {"HTTP/1.1 200 OK", "Transfer-Encoding: xchunked", "an unknown transfer coding"},
    {"HTTP/1.1 200 OK", "Transfer-Encoding: chunked|Transfer-Encoding: chunked", "chunked twice"},
    {"HTTP/1.0 200 OK", "Transfer-Encoding: chunked", "chunked in HTTP/1.0 (RFC 9112 6.1)"},
    {"HTTP/1.1 200 OK", "Content-Type: text/plain|Content-Type: text/html", "two content types"},
    {"HTTP/1.1 200 OK", "Content-Type: text plain,text/html", "a content type that is two"},
    {"HTTP/1.1 101 Switching Protocols", "", "an upgrade that nobody asked for"},
    {"HTTP/1.1 099 Low", "", "a status below 100"},
    {"HTTP/1.1 600 High", "", "a status above 599"},
    {"HTTP/1.1 20 Short", "", "a status of two digits"},
    {"HTTP/1.1 2000 Long", "", "a status of four digits"},
    {"HTTP/2 200", "", "another version"},
    {"ICY 200 OK 1234", "", "another protocol"},
};

static const char *const dropped[] = {
    "Set-Cookie", "set-cookie", "Set-Cookie2", "WWW-Authenticate", "Proxy-Authenticate",
    "Authentication-Info", "Strict-Transport-Security", "Alt-Svc", "Connection", "Keep-Alive",
    "Upgrade", "Trailer", "TE", "Status", "X-Sendfile", "X-Accel-Redirect", "X-LIGHTTPD-send-file",
    "Access-Control-Allow-Origin", "Clear-Site-Data", "Service-Worker-Allowed", "Cache-Control",
    "X-Request-ID", "Content-Security-Policy", "X-Upstream-Failed", "DPoP-Nonce", "Set-Login",
    "Use-As-Dictionary", "Refresh", "Secure-Session-Registration",
};
/* clang-format on */

static void
test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct upstream_head head = read_lines(refused[i].status, refused[i].lines);
        ok(head.fault != NULL && !head.complete, "refused: %s", refused[i].name);
    }
    struct upstream_head head = {.mem = mem, .answer = talloc_zero(mem, struct upstream_answer)};
    upstream_head_line(&head, "HTTP/1.1 200 OK\r\n", 17);
    ok(!upstream_head_line(&head, "X: a\0b\r\n", 8), "refused: NUL in a value");
    head = (struct upstream_head){.mem = mem, .answer = talloc_zero(mem, struct upstream_answer)};
    upstream_head_line(&head, "HTTP/1.1 200 OK\r\n", 17);
    ok(!upstream_head_line(&head, "X\0Y: a\r\n", 8), "refused: NUL in a name");
    ok(!upstream_head_line(&head, "\r\n", 2), "a head that was refused stays so");
}

static void
test_passed(void)
{
    struct upstream_head head = read_lines(
        "HTTP/1.1 200 OK", "Content-Type: Text/HTML; charset=utf-8|Content-Length: 5|"
                           "Content-Length: 5|ETag: \"x\"|X-A:  <a>;\trel=b  |Location: /x");
    ok(head.complete && head.fault == NULL, "a plain head is complete");
    is_int(head.answer->status, 200, "... with its status");
    is_str(head.answer->content_type, "text/html", "... the media type in lower case");
    is_str(head.answer->content_type_line, "Text/HTML; charset=utf-8", "... and as it was sent");
    is_int(head.answer->announced, 5, "... the length, also if it is repeated (RFC 9110 8.6)");
    is_str(field(&head, "ETag"), "\"x\"", "... other fields");
    is_str(field(&head, "X-A"), "<a>; rel=b", "... without white space around them and tabs");
    ok(field(&head, "Location") == NULL,
       "Location of a 200 is dropped: a web server would follow it itself (RFC 3875 6.2.2)");
    head = read_lines("HTTP/1.1 302 Found", "Location: /x");
    is_str(field(&head, "Location"), "/x", "... that of a redirect is passed on");
    head = read_lines("HTTP/1.1 201 Created", "Location: /x");
    is_str(field(&head, "Location"), "/x", "... and that of a 201");
    head = read_lines("HTTP/1.1 200", "Transfer-Encoding: Chunked");
    ok(head.complete && head.answer->announced == -1, "chunked has no length; no reason is needed");
}

static void
test_dropped(void)
{
    char line[128];
    for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++) {
        snprintf(line, sizeof(line), "%s: a|X-Other: b", dropped[i]);
        struct upstream_head head = read_lines("HTTP/1.1 200 OK", line);
        ok(head.complete && head.answer->fields == 1 && field(&head, "X-Other") != NULL,
           "%s is dropped", dropped[i]);
    }
    struct upstream_head head = read_lines(
        "HTTP/1.1 200 OK", "X-Hop: a|Connection: close, x-HOP ,x-two|X-Two: b|X-Twos: c");
    ok(field(&head, "X-Hop") == NULL && field(&head, "X-Two") == NULL,
       "fields that Connection names are dropped (RFC 9110 7.6.1), in any order and case");
    is_str(field(&head, "X-Twos"), "c", "... one with a longer name is not");
}

static void
test_interim(void)
{
    struct upstream_head head = read_lines("HTTP/1.1 103 Early Hints", "Link: <a>|X-Early: b");
    ok(!head.complete && head.fault == NULL, "an interim answer is not the answer");
    upstream_head_line(&head, "HTTP/1.1 404 Not Found\r\n", 24);
    upstream_head_line(&head, "\r\n", 2);
    ok(head.complete && head.answer->status == 404 && head.answer->fields == 0,
       "... and its fields are not those of the answer (RFC 9110 15.2)");
    upstream_head_line(&head, "Set-Cookie: late\r\n", 18);
    upstream_head_line(&head, "X-Late: b\r\n", 11);
    is_int((int64_t) head.answer->fields, 0, "a trailer is ignored (RFC 9110 6.5.1)");
}

static void
test_limits(void)
{
    char line[32];
    for (int count = UPSTREAM_FIELDS_MAX; count <= UPSTREAM_FIELDS_MAX + 1; count++) {
        struct upstream_head head = read_lines("HTTP/1.1 100 Continue", "");
        upstream_head_line(&head, "HTTP/1.1 200 OK\r\n", 17);
        for (int i = 0; i < count; i++) {
            snprintf(line, sizeof(line), "X-%d: a\r\n", i);
            upstream_head_line(&head, line, strlen(line));
        }
        upstream_head_line(&head, "\r\n", 2);
        ok(head.complete == (count == UPSTREAM_FIELDS_MAX), "%d fields are %s", count,
           count == UPSTREAM_FIELDS_MAX ? "passed on" : "refused");
    }
    static char filler[UPSTREAM_HEAD_MAX];
    memset(filler, 'x', sizeof(filler));
    memcpy(filler, "Set-Cookie: ", 12);
    for (size_t over = 0; over < 2; over++) {
        struct upstream_head head = read_lines("HTTP/1.1 100 Continue", "");
        upstream_head_line(&head, "HTTP/1.1 200 OK\r\n", 17);
        size_t left = UPSTREAM_HEAD_MAX - head.octets;
        ok(upstream_head_line(&head, filler, left + over) == (over == 0),
           "%d octets of head are %s", UPSTREAM_HEAD_MAX + (int) over,
           over == 0 ? "read" : "refused");
    }
    struct upstream_head head = {.mem = mem, .answer = talloc_zero(mem, struct upstream_answer)};
    int answers = 0;
    while (answers < UPSTREAM_HEAD_MAX && upstream_head_line(&head, "HTTP/1.1 100 Go\r\n", 17)
           && upstream_head_line(&head, "\r\n", 2))
        answers++;
    ok(head.fault != NULL && answers <= UPSTREAM_HEAD_MAX / 19 + 1,
       "interim answers do not go on for ever");
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_refused();
    test_passed();
    test_dropped();
    test_interim();
    test_limits();
    talloc_free(mem);
    return done();
}
