#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "http/fake_io.h"
#include "http/form.h"
#include "scarce.h"
#include "tap.h"

/* clang-format off */
static const struct { const char *text; size_t length; bool form; const char *wanted, *name; } decodes[] = {
    {"", 0, true, "", "nothing"},
    {"a+b", 3, true, "a b", "+ is a space in a form"},
    {"a+b", 3, false, "a+b", "... and itself in a path"},
    {"%41%7a%2F", 9, false, "Az/", "escapes"},
    {"%c3%A4", 6, true, "\xc3\xa4", "escapes of UTF-8, digits of either case"},
    {"\xc3\xa4", 2, true, "\xc3\xa4", "UTF-8 as it is"},
    {"%25%32%30", 9, true, "%20", "decoded once, not twice"},
    {"%0d%0a", 6, true, "\r\n", "control characters are the reader's matter"},
    {"%", 1, true, NULL, "a lone %"},
    {"%4", 2, true, NULL, "a % with one digit"},
    {"a%", 2, true, NULL, "a % at the end"},
    {"%4g", 3, true, NULL, "a % with no digit in second place"},
    {"%g4", 3, true, NULL, "a % with no digit in first place"},
    {"%-1", 3, true, NULL, "a sign is no digit"},
    {"% 1", 3, true, NULL, "a blank is no digit"},
    {"%00", 3, true, NULL, "an escaped NUL"},
    {"a%00b", 5, true, NULL, "... inside"},
    {"a\0b", 3, true, NULL, "a NUL"},
    {"%ff", 3, true, NULL, "an octet that is no UTF-8"},
    {"%c0%af", 6, true, NULL, "an overlong slash"},
    {"%ed%a0%80", 9, true, NULL, "a surrogate"},
    {"%c3", 3, true, NULL, "a cut sequence"},
    {"\xff", 1, false, NULL, "an octet that is no UTF-8, as it is"},
    {"%41", 2, true, NULL, "no digit is taken from past the length"},
    {"%c3%a4", 5, true, NULL, "... in the last place either"},
};
/* clang-format on */

static void
test_decode(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(decodes) / sizeof(decodes[0]); i++) {
        /* In memory of its own, so that a sanitizer detects a read past the end. */
        char *copy = malloc(decodes[i].length + 1);
        char *exact = realloc(copy, decodes[i].length > 0 ? decodes[i].length : 1);
        memcpy(exact, decodes[i].text, decodes[i].length);
        size_t before = talloc_total_blocks(mem);
        char *out;
        enum az_status st =
            request_url_decode(mem, exact, decodes[i].length, decodes[i].form, &out);
        is_str(out, decodes[i].wanted, "url decode: %s", decodes[i].name);
        is_int(st, out != NULL ? AZ_OK : AZ_INVALID, "... and the status says so");
        if (out == NULL)
            is_int((int64_t) talloc_total_blocks(mem), (int64_t) before, "... keeps no memory");
        free(exact);
    }
}

static const struct route_param params[] = {
    {.name = "scope"   },
    {.name = "client"  },
    {.name = "resource", .repeatable = true},
    {.name = NULL                 }
};

/* Return what was read from a form: "name=value;...", or the public text of the refusal. */
static const char *
parse(TALLOC_CTX *mem, const char *text, size_t length)
{
    struct request *req = fake_request(mem, NULL, params);
    enum az_status st = request_parse_form(req, text, length);
    char *out = talloc_strdup(mem, "");
    if (st != AZ_OK)
        return st == AZ_INVALID_REQUEST ? req->op.fault.public_text : "another status";
    for (size_t i = 0; i < req->params; i++)
        out = talloc_asprintf_append(out, "%s=%s;", req->param[i].name, req->param[i].value);
    return out;
}

#define BROKEN "A parameter is not form-encoded or not valid UTF-8"

/* clang-format off */
static const struct { const char *text, *wanted, *name; } forms[] = {
    {"", "", "no body is no parameters (oauth.md C2)"},
    {"scope=a", "scope=a;", "one parameter"},
    {"scope=a&client=b", "scope=a;client=b;", "two"},
    {"scope=a+b%20c", "scope=a b c;", "spaces in both spellings"},
    {"%73cope=a", "scope=a;", "an escaped name is the name"},
    {"scope=a=b", "scope=a=b;", "the first = separates"},
    {"&&scope=a&", "scope=a;", "empty pairs are nothing"},
    {"scope=", "", "an empty value counts as absent (oauth.md C4)"},
    {"scope", "", "... and so does a name alone"},
    {"scope=&scope=a", "scope=a;", "an empty one beside a full one is no repetition"},
    {"scope=a&scope=", "scope=a;", "... in either order"},
    {"other=1&other=2&scope=a", "scope=a;", "unknown parameters are ignored, repeated too (oauth.md C5)"},
    {"Scope=a", "", "names are compared exactly"},
    {"scope%00=a", BROKEN, "a NUL in a name (oauth.md C6)"},
    {"scope=a&scope=a", "The parameter scope is repeated", "the same twice (RFC 6749 3.2)"},
    {"scope=a&client=b&%73cope=c", "The parameter scope is repeated", "... when one is escaped"},
    {"resource=a&resource=b", "resource=a;resource=b;", "resource may be repeated (RFC 8707 2)"},
    {"scope=%00", BROKEN, "NUL (oauth.md C6)"},
    {"scope=%", BROKEN, "a lone %"},
    {"scope=%zz", BROKEN, "a % without digits"},
    {"scope=%ff", BROKEN, "a value that is no UTF-8"},
    {"other=%ff", BROKEN, "... also of an unknown parameter"},
    {"%ff=a", BROKEN, "a name that is no UTF-8"},
    {"=a", "", "no name"},
    {"scope=a;client=b", "scope=a;client=b;", "; separates nothing"},
};
/* clang-format on */

static char *
repeat(TALLOC_CTX *mem, const char *pair, size_t count)
{
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; i < count; i++)
        text = talloc_asprintf_append_buffer(text, "%s%s", i > 0 ? "&" : "", pair);
    return text;
}

static void
test_form(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        is_str(parse(mem, forms[i].text, strlen(forms[i].text)), forms[i].wanted, "form: %s",
               forms[i].name);
    is_str(parse(mem, "scope=a\0b", 9), BROKEN, "form: a raw NUL (oauth.md C6)");
    const char *at = repeat(mem, "resource=a", HTTP_PARAMS_MAX);
    is_int((int64_t) strlen(parse(mem, at, strlen(at))), HTTP_PARAMS_MAX * 11,
           "%d parameters are read", HTTP_PARAMS_MAX);
    const char *past = repeat(mem, "resource=a", HTTP_PARAMS_MAX + 1);
    is_str(parse(mem, past, strlen(past)), "The request has too many parameters",
           "... one more is refused");
    past = repeat(mem, "x", HTTP_PARAMS_MAX + 1);
    is_str(parse(mem, past, strlen(past)), "The request has too many parameters",
           "... unknown ones count too");
    char *ampersands = talloc_zero_size(mem, HTTP_TOKEN_BODY_MAX + 1);
    memset(ampersands, '&', HTTP_TOKEN_BODY_MAX);
    is_str(parse(mem, ampersands, HTTP_TOKEN_BODY_MAX), "", "... empty pairs do not");
}

/* Return what a route that keeps faults reads: "name=value;..." without either value of a repeated
 * parameter, then "repeated NAME" and the fault. */
static const char *
parse_keeping(TALLOC_CTX *mem, const char *text)
{
    struct request *req = fake_request(mem, NULL, params);
    ((struct route *) (uintptr_t) req->route)->body = BODY_QUERY_FAULTS;
    req->query = text;
    char *out = talloc_strdup(mem, "");
    if (request_read_body(req) != AZ_OK || req->op.fault.status != AZ_OK)
        return "a refusal";
    for (size_t i = 0; i < req->params; i++) {
        const char *name = req->param[i].name, *value = request_param(req, name);
        if (request_param_repeated(req, name) != (value == NULL))
            return "repeated, and yet a value";
        out = talloc_asprintf_append(out, "%s=%s;", name,
                                     value != NULL ? req->param[i].value : "(repeated)");
    }
    if (req->repeated != NULL)
        out = talloc_asprintf_append(out, " repeated %s", req->repeated);
    return req->param_fault != NULL ? talloc_asprintf_append(out, " %s", req->param_fault) : out;
}

/* clang-format off */
static const struct { const char *text, *wanted, *name; } kept[] = {
    {"scope=a&client=b", "scope=a;client=b;", "nothing is wrong"},
    {"scope=a&client=b&scope=c", "scope=(repeated);client=b; repeated scope", "of two values neither is taken, the rest is read (oauth.md 3.2)"},
    {"scope=a&scope=a", "scope=(repeated); repeated scope", "... also when they are equal"},
    {"scope=a&scope=b&scope=c", "scope=(repeated); repeated scope", "... nor the third"},
    {"scope=a&client=b&client=c&scope=d", "scope=(repeated);client=(repeated); repeated client", "both that are repeated are known; the first is named"},
    {"scope=a&scope=", "scope=a;", "an empty one is no repetition (oauth.md C4)"},
    {"scope=a&%73cope=b", "scope=(repeated); repeated scope", "... an escaped name is"},
    {"other=a&other=b", "", "... an unknown one is not"},
    {"resource=a&resource=b", "resource=a;resource=b;", "resource may be repeated"},
    {"scope=%ff&client=b", "client=b; " BROKEN, "what cannot be read is left out, the rest is read"},
    {"scope=a&scope=%ff", "scope=a; " BROKEN, "... and told"},
    {"other=%&client=b", "client=b; " BROKEN, "... of unknown parameters too"},
    {"scope=%&client=b&client=c", "client=(repeated); repeated client " BROKEN, "both kinds of fault"},
};
/* clang-format on */

static void
test_kept(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        is_str(parse_keeping(mem, kept[i].text), kept[i].wanted, "faults are kept: %s",
               kept[i].name);
    const char *at = talloc_asprintf(mem, "%s&scope=a", repeat(mem, "x", HTTP_PARAMS_MAX - 1));
    is_str(parse_keeping(mem, at), "scope=a;", "faults are kept: %d parameters are read",
           HTTP_PARAMS_MAX);
    const char *past =
        talloc_asprintf(mem, "client=b&%s&scope=a", repeat(mem, "x", HTTP_PARAMS_MAX - 1));
    is_str(parse_keeping(mem, past), "client=b; The request has too many parameters",
           "... what comes behind them is not");
}

static struct request *
with_body(TALLOC_CTX *mem, enum route_body kind, size_t max, const char *type, const char *length,
          const char *body)
{
    const char **set = talloc_zero_array(mem, const char *, 5);
    size_t used = 0;
    if (type != NULL)
        set[used++] = "CONTENT_TYPE", set[used++] = type;
    if (length != NULL)
        set[used++] = "CONTENT_LENGTH", set[used++] = length;
    struct fake *fake = fake_new(mem, set, body);
    struct request *req = fake_request(mem, fake, params);
    struct route *route = (struct route *) (uintptr_t) req->route;
    route->body = kind;
    route->body_max = max;
    return req;
}

static enum az_status
read_body(TALLOC_CTX *mem, enum route_body kind, size_t max, const char *type, const char *length,
          const char *body, struct request **ret)
{
    *ret = with_body(mem, kind, max, type, length, body);
    return request_read_body(*ret);
}

#define FORM_TYPE "application/x-www-form-urlencoded"

/* clang-format off */
static const struct {
    enum route_body kind;
    const char *type, *length, *body;
    enum az_status wanted;
    const char *name;
} bodies[] = {
    {BODY_FORM, FORM_TYPE, "7", "scope=a", AZ_OK, "a form"},
    {BODY_FORM, "Application/X-WWW-Form-URLEncoded; charset=utf-8", "7", "scope=a", AZ_OK, "a form with a charset (oauth.md C2)"},
    {BODY_FORM, "application/json", "7", "scope=a", AZ_INVALID_REQUEST, "another content type (oauth.md C2)"},
    {BODY_FORM, FORM_TYPE "x", "7", "scope=a", AZ_INVALID_REQUEST, "a longer content type"},
    {BODY_FORM, NULL, "7", "scope=a", AZ_INVALID_REQUEST, "no content type"},
    {BODY_FORM, NULL, "0", "", AZ_OK, "no body needs no content type"},
    {BODY_FORM, NULL, NULL, "", AZ_OK, "no length and no body"},
    {BODY_FORM, FORM_TYPE, "20", "scope=a&client=aaaaa", AZ_OK, "a body at the limit"},
    {BODY_FORM, FORM_TYPE, "7", "scope=a&client=b", AZ_INVALID_REQUEST, "a body longer than announced"},
    {BODY_FORM, FORM_TYPE, "21", "scope=a&client=aaaaaaa", AZ_TOO_LARGE, "a body one past the limit"},
    {BODY_FORM, FORM_TYPE, NULL, "scope=a&client=aaaaa", AZ_OK, "a body without length, at the limit"},
    {BODY_FORM, FORM_TYPE, NULL, "scope=a&client=aaaaaa", AZ_TOO_LARGE, "... one past it"},
    {BODY_FORM, FORM_TYPE, "-1", "scope=a", AZ_INVALID_REQUEST, "a negative length (RFC 9110 8.6)"},
    {BODY_FORM, FORM_TYPE, "+7", "scope=a", AZ_INVALID_REQUEST, "a length with a sign"},
    {BODY_FORM, FORM_TYPE, " 7", "scope=a", AZ_INVALID_REQUEST, "a length after a space"},
    {BODY_FORM, FORM_TYPE, "7, 7", "scope=a", AZ_INVALID_REQUEST, "two lengths in one header"},
    {BODY_FORM, FORM_TYPE, "0x7", "scope=a", AZ_INVALID_REQUEST, "a hexadecimal length"},
    {BODY_FORM, FORM_TYPE, "7x", "scope=a", AZ_INVALID_REQUEST, "a length with a letter"},
    {BODY_FORM, FORM_TYPE, "007", "scope=a", AZ_OK, "a length with leading zeros"},
    {BODY_FORM, FORM_TYPE, "18446744073709551623", "scope=a", AZ_TOO_LARGE, "a length of 2^64 + 7"},
    {BODY_FORM, FORM_TYPE, "99999999999999999999", "scope=a", AZ_TOO_LARGE, "a length beyond 64 bits"},
    {BODY_FORM, FORM_TYPE, "8", "scope=a", AZ_INVALID_REQUEST, "a body that ends too soon"},
    {BODY_FORM, FORM_TYPE, "15", "scope=a&scope=b", AZ_INVALID_REQUEST, "a repeated parameter"},
    {BODY_FORM_LENIENT, FORM_TYPE, "15", "scope=a&scope=b", AZ_OK, "/revoke: a repeated parameter is no fault (decisions.md \"/revoke\")"},
    {BODY_FORM_LENIENT, "text/plain", "7", "scope=a", AZ_OK, "/revoke: another content type is no fault"},
    {BODY_FORM_LENIENT, FORM_TYPE, "21", "scope=a&client=aaaaaaa", AZ_TOO_LARGE, "/revoke: too large is (decisions.md \"/revoke\")"},
    {BODY_FORM_FAULTS, FORM_TYPE, "15", "scope=a&scope=b", AZ_OK, "faults are kept: a repeated parameter is the handler's matter"},
    {BODY_FORM_FAULTS, "text/plain", "7", "scope=a", AZ_INVALID_REQUEST, "... another content type is not: nothing can be read"},
    {BODY_FORM_FAULTS, FORM_TYPE, "8", "scope=a", AZ_INVALID_REQUEST, "... nor a body that ends too soon"},
    {BODY_FORM_FAULTS, FORM_TYPE, "21", "scope=a&client=aaaaaaa", AZ_TOO_LARGE, "... nor one that is too large"},
    {BODY_JSON, "application/json", "2", "{}", AZ_OK, "JSON"},
    {BODY_JSON, "application/merge-patch+json; charset=utf-8", "2", "{}", AZ_OK, "a +json type (oauth.md C2)"},
    {BODY_JSON, FORM_TYPE, "2", "{}", AZ_MEDIA_TYPE, "a form for JSON (oauth.md C2)"},
    {BODY_JSON, "+json", "2", "{}", AZ_MEDIA_TYPE, "a suffix alone is no type"},
    {BODY_JSON, NULL, "2", "{}", AZ_MEDIA_TYPE, "no content type for JSON"},
    {BODY_JSON, "application/json", "2", "[]", AZ_INVALID_FIELDS, "an array"},
    {BODY_JSON, "application/json", "13", "{\"a\":1,\"a\":2}", AZ_INVALID_FIELDS, "a member twice"},
    {BODY_JSON, "application/json", "0", "", AZ_INVALID_FIELDS, "no body where one is needed"},
    {BODY_JSON_OPTIONAL, NULL, "0", "", AZ_OK, "no body where none is needed"},
    {BODY_NONE, NULL, "99", "x", AZ_OK, "the body of a route without parameters is not read"},
};
/* clang-format on */

/* clang-format off */
static const struct {
    const char *length, *body;
    enum az_status opened, read;
    const char *name;
} streams[] = {
    {"7", "scope=a", AZ_OK, AZ_OK, "a body of the announced length"},
    {NULL, "scope=a", AZ_OK, AZ_OK, "a body without length (chunked)"},
    {NULL, "", AZ_OK, AZ_OK, "no body"},
    {"0", "", AZ_OK, AZ_OK, "an announced empty body"},
    {"20", "scope=a&client=aaaaa", AZ_OK, AZ_OK, "a body at the limit"},
    {"21", "scope=a&client=aaaaaa", AZ_TOO_LARGE, AZ_OK, "... one past it, before anything is read"},
    {NULL, "scope=a&client=aaaaa", AZ_OK, AZ_OK, "a body without length, at the limit"},
    {NULL, "scope=a&client=aaaaaa", AZ_OK, AZ_TOO_LARGE, "... one past it"},
    {"8", "scope=a", AZ_OK, AZ_INVALID_REQUEST, "a body that ends too soon is no whole body"},
    {"6", "scope=a", AZ_OK, AZ_INVALID_REQUEST, "a body longer than announced"},
    {"-1", "scope=a", AZ_INVALID_REQUEST, AZ_OK, "a negative length (RFC 9110 8.6)"},
    {"7, 7", "scope=a", AZ_INVALID_REQUEST, AZ_OK, "two lengths in one header"},
};
/* clang-format on */

static void
test_streams(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        struct request *req;
        struct body_stream body;
        is_int(
            read_body(mem, BODY_STREAM, 0, "text/plain", streams[i].length, streams[i].body, &req),
            AZ_OK, "stream: %s: the body is left unread", streams[i].name);
        is_str(req->body, NULL, "... and not in memory");
        enum az_status st = request_open_body(req, 20, &body);
        is_int(st, streams[i].opened, "... opened");
        char piece[4], all[64] = "";
        size_t got = 0;
        while (st == AZ_OK
               && (st = request_read_piece(req, &body, piece, sizeof(piece) - 1, &got)) == AZ_OK
               && got > 0) {
            piece[got] = '\0';
            strcat(all, piece);
        }
        if (streams[i].opened == AZ_OK)
            is_int(st, streams[i].read, "... read");
        if (st == AZ_OK)
            is_str(all, streams[i].body, "... whole");
    }
}

static void
test_bodies(TALLOC_CTX *mem)
{
    struct request *req;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        enum az_status st = read_body(mem, bodies[i].kind, 20, bodies[i].type, bodies[i].length,
                                      bodies[i].body, &req);
        is_int(st, bodies[i].wanted, "body: %s", bodies[i].name);
        ok((st == AZ_OK) == (req->op.fault.status == AZ_OK), "... the fault says the same");
        if (bodies[i].kind == BODY_FORM_LENIENT)
            is_int((int64_t) req->params, 0, "... and no parameter is left");
    }
    char *deep = talloc_strdup(mem, "{\"a\":");
    for (int i = 1; i < HTTP_JSON_DEPTH_MAX; i++)
        deep = talloc_strdup_append(deep, "[");
    for (int i = 1; i < HTTP_JSON_DEPTH_MAX; i++)
        deep = talloc_strdup_append(deep, "]");
    deep = talloc_strdup_append(deep, "}");
    is_int(read_body(mem, BODY_JSON, 1000, "application/json",
                     talloc_asprintf(mem, "%zu", strlen(deep)), deep, &req),
           AZ_OK, "JSON nested %d deep", HTTP_JSON_DEPTH_MAX);
    deep = talloc_asprintf(mem, "{\"a\":%s}", deep);
    is_int(read_body(mem, BODY_JSON, 1000, "application/json",
                     talloc_asprintf(mem, "%zu", strlen(deep)), deep, &req),
           AZ_INVALID_FIELDS, "... one deeper");
    for (int i = HTTP_JSON_DEPTH_MAX + 1; i <= HTTP_JSON_ENVELOPE_MAX + 1; i++) {
        is_int(read_body(mem, BODY_JSON_ENVELOPE, 1000, "application/json",
                         talloc_asprintf(mem, "%zu", strlen(deep)), deep, &req),
               i <= HTTP_JSON_ENVELOPE_MAX ? AZ_OK : AZ_INVALID_FIELDS,
               "... around payloads of rows: %d deep", i);
        deep = talloc_asprintf(mem, "{\"a\":%s}", deep);
    }
    struct request *query = fake_request(mem, NULL, params);
    ((struct route *) (uintptr_t) query->route)->body = BODY_QUERY;
    query->query = "scope=a&x=y";
    is_int(request_read_body(query), AZ_OK, "parameters of a query");
    is_str(request_param(query, "scope"), "a", "... are read by the same rules");
}

/* Read a form with the faults of /revoke ignored. */
static enum scarce_outcome
read_lenient_once(TALLOC_CTX *mem, void *arg)
{
    TALLOC_CTX *own = talloc_new(NULL);
    struct request *req = with_body(own, BODY_FORM_LENIENT, 30, FORM_TYPE, "20", arg);
    req->op.mem = mem;
    enum az_status st = request_read_body(req);
    bool whole = st == AZ_OK && req->params == 2;
    talloc_free(own);
    return whole ? SCARCE_WHOLE : st == AZ_SERVER_ERROR ? SCARCE_FAILED : SCARCE_WRONG;
}

static enum scarce_outcome
read_json_once(TALLOC_CTX *mem, void *arg)
{
    struct request *req = with_body(mem, BODY_JSON, 30, "application/json", "13", arg);
    enum az_status st = request_read_body(req);
    return st == AZ_OK ? SCARCE_WHOLE : st == AZ_SERVER_ERROR ? SCARCE_FAILED : SCARCE_WRONG;
}

/* /revoke answers 200 to what it cannot read. */
static void
test_without_memory(void)
{
    char form[] = "scope=a&client=aaaaa", json[] = "{\"a\":[\"b\",1]}";
    struct scarce_count count = scarce_talloc(read_lenient_once, form, 2000, 8);
    scarce_is_seen(&count, "/revoke: a form is no malformed one without memory "
                           "(performance.md R7)");
    count = scarce_jansson(read_json_once, json);
    scarce_is_seen(&count, "JSON is no malformed one without memory");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_decode(mem);
    test_form(mem);
    test_kept(mem);
    test_bodies(mem);
    test_streams(mem);
    test_without_memory();
    talloc_free(mem);
    return done();
}
