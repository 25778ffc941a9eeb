/* The header fields of a request to an upstream. */
#include "config.h"

#include "gateway/upstream/fields.h"

#include <stdio.h>
#include <string.h>
#include <talloc.h>

#include "http/fake_io.h"
#include "http/request.h"
#include "tap.h"

static TALLOC_CTX *mem;

/* clang-format off */
static const char *const never[] = {
    "Authorization", "authorization", "Proxy-Authorization", "Cookie", "DPoP", "X-Admin-API-Key",
    "X-Bundle-API-Key", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via",
    "Host", "Connection", "Keep-Alive", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
    "Content-Length", "Expect", "Proxy-Connection", "Accept-Encoding", "X-HTTP-Method-Override",
    "X-Original-URL", "Sec-Fetch-Site", "X_Forwarded_For", "x_admin_API-Key", "Content_Length",
    "Proxy", "", "X Y", "X:Y", "X\r\nY", "X\xc3\xa4",
};
static const char *const may[] = {
    "Accept", "Idempotency-Key", "X-GitHub-Api-Version", "PRIVATE-TOKEN", "X-Forwarder", "Hosts", "X_Team",
};
/* clang-format on */

static const char *
value_of(const struct upstream_field_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->field[i].name, name) == 0)
            return list->field[i].value;
    return NULL;
}

static void
test_names(void)
{
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        ok(!upstream_field_may_be_sent(never[i]), "never sent: %s", never[i]);
    for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++)
        ok(upstream_field_may_be_sent(may[i]), "may be sent: %s", may[i]);
}

static void
test_list(void)
{
    struct upstream_field_list list = {.count = 0};
    upstream_field_set(&list, "Accept", "a");
    upstream_field_set(&list, "ACCEPT", "b");
    ok(list.count == 1 && strcmp(list.field[0].value, "b") == 0,
       "a later field replaces an earlier one, in any case");
    upstream_field_set(&list, "Cookie", "a=b");
    upstream_field_set(&list, "X", "a\r\nSet: b");
    upstream_field_set(&list, "X", "a\x7f");
    is_int((int64_t) list.count, 1, "a refused name and a line end add nothing");
    upstream_field_force(&list, "Authorization", "Bearer x");
    is_str(value_of(&list, "Authorization"), "Bearer x", "the credential may have any name");
    upstream_field_force(&list, "Accept", "c\nd");
    is_str(value_of(&list, "ACCEPT"), "b", "... but no line end");
    upstream_field_set(&list, "X_Key", "caller");
    upstream_field_force(&list, "X-Key", "credential");
    ok(value_of(&list, "X_Key") == NULL && value_of(&list, "X-Key") != NULL,
       "a field with underscores is the same at an upstream behind CGI (RFC 3875 4.1.18)");
    char name[UPSTREAM_REQUEST_FIELDS_MAX][16];
    for (int i = 0; i < UPSTREAM_REQUEST_FIELDS_MAX - 3; i++) {
        snprintf(name[i], sizeof(name[i]), "X-%d", i);
        upstream_field_set(&list, name[i], "a");
    }
    ok(list.count == UPSTREAM_REQUEST_FIELDS_MAX && !list.full, "the largest list");
    upstream_field_set(&list, "X-More", "a");
    ok(list.full, "... one more is noticed");
}

static void
test_pass(void)
{
    static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    static const char *const set[] = {"HTTP_ACCEPT",
                                      "text/html",
                                      "CONTENT_TYPE",
                                      "application/json",
                                      "HTTP_IF_NONE_MATCH",
                                      "\"1\"",
                                      "HTTP_RANGE",
                                      "",
                                      "HTTP_COOKIE",
                                      "a=b",
                                      "HTTP_AUTHORIZATION",
                                      "Bearer at_x",
                                      "HTTP_DPOP",
                                      "x",
                                      "HTTP_X_FORWARDED_FOR",
                                      "192.0.2.1",
                                      "HTTP_IDEMPOTENCY_KEY",
                                      "k1",
                                      "HTTP_X_OTHER",
                                      "o",
                                      "HTTP_TRACEPARENT",
                                      trace,
                                      "HTTP_TRACESTATE",
                                      "a=1",
                                      NULL};
    struct fake *fake = fake_new(mem, set, NULL);
    struct request *req = talloc_zero(mem, struct request);
    struct upstream_field_list list = {.count = 0};
    req->io = &fake->io;
    upstream_fields_pass(req, &list);
    is_int((int64_t) list.count, 5, "only the fields of the list pass (gateway-admin.md 3.2)");
    is_str(value_of(&list, "Content-Type"), "application/json", "... Content-Type");
    is_str(value_of(&list, "If-None-Match"), "\"1\"", "... conditions");
    is_str(value_of(&list, "traceparent"), trace, "... traceparent");
    is_str(value_of(&list, "tracestate"), "a=1", "... tracestate");
    upstream_field_forward(req, "Idempotency-Key", &list);
    is_str(value_of(&list, "Idempotency-Key"), "k1", "forwardHeaders adds one");
    upstream_field_forward(req, "Authorization", &list);
    upstream_field_forward(req, "dpop", &list);
    upstream_field_forward(req, "X-Missing", &list);
    is_int((int64_t) list.count, 6, "... none that is never sent, and none that was not sent");
}

int
main(void)
{
    mem = talloc_new(NULL);
    plan(0);
    test_names();
    test_list();
    test_pass();
    talloc_free(mem);
    return done();
}
