#include "config.h"

#include "oauth/parameters/parameters.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "env.h"
#include "tap.h"

/* A parser's value as JSON text, "NULL" for none, or the error code of its refusal. */
static const char *
outcome(struct op *op, enum az_status st, json_t *value, json_t *untouched)
{
    if (st != AZ_OK)
        return value != untouched       ? "an output beside the refusal"
               : op->fault.status != st ? "another fault than the status"
                                        : az_status_row(st)->error;
    return value != NULL ? jsonx_dump(op->mem, value) : "NULL";
}

typedef enum az_status (*parser)(struct op *op, const char *text, json_t **ret);

static const char *
parse(TALLOC_CTX *mem, parser with, const char *text)
{
    struct op op = env_op(mem, NULL);
    json_t *untouched = jsonx_own(mem, json_null()), *value = untouched;
    enum az_status st = with(&op, text, &value);
    return outcome(&op, st, value, untouched);
}

/* clang-format off */
static const struct { const char *text, *wanted, *name; } scopes[] = {
    {NULL, "[]", "absent"},
    {"", "[]", "empty"},
    {"a", "[\"a\"]", "one word"},
    {"a b", "[\"a\",\"b\"]", "two words in their order"},
    {"b a b", "[\"b\",\"a\"]", "a repeated word counts once"},
    {" a  b ", "[\"a\",\"b\"]", "blanks around and between"},
    {"a A", "[\"a\",\"A\"]", "words are told apart by case"},
    {"!#[]~", "[\"!#[]~\"]", "the ends of the allowed ranges"},
    {"https://r.example/x:read", "[\"https://r.example/x:read\"]", "a scope that is a URI"},
    {"a\tb", "invalid_scope", "a tab"},
    {"a\nb", "invalid_scope", "a line end"},
    {"a\x1f", "invalid_scope", "a control character"},
    {"a\x7f", "invalid_scope", "DEL"},
    {"a\"b", "invalid_scope", "a quote"},
    {"a\\b", "invalid_scope", "a backslash"},
    {"gr\xc3\xbc\xc3\x9f" "e", "invalid_scope", "UTF-8: a scope is ASCII"},
    {"a b \"", "invalid_scope", "one bad word among good ones"},
}, resources[] = {
    {"https://r.example", "OK", "a host"},
    {"https://r.example/", "OK", "a path"},
    {"https://r.example/a?b=c", "OK", "a query"},
    {"urn:r:orders", "OK", "a URN"},
    {"HTTPS://r.example", "OK", "a scheme in capitals"},
    {"a+b-c.d:x", "OK", "every character of a scheme"},
    {"https://r.example/%20", "OK", "an escape"},
    {"https://[2001:db8::1]/", "OK", "an IPv6 host"},
    {"", "invalid_target", "nothing"},
    {"orders", "invalid_target", "no scheme"},
    {"/orders", "invalid_target", "a path"},
    {"//r.example/a", "invalid_target", "a reference without scheme"},
    {":x", "invalid_target", "an empty scheme"},
    {"https:", "invalid_target", "a scheme alone"},
    {"1a:x", "invalid_target", "a scheme that begins with a digit"},
    {"a_b:x", "invalid_target", "a scheme with an underscore"},
    {"https://r.example/#a", "invalid_target", "a fragment (RFC 8707 2)"},
    {"https://r.example/#", "invalid_target", "... an empty one"},
    {"https://r.example/a b", "invalid_target", "a blank"},
    {" https://r.example", "invalid_target", "a blank in front"},
    {"https://r.example ", "invalid_target", "a blank behind"},
    {"https://r.example/\n", "invalid_target", "a line end"},
    {"https://r.example/\x7f", "invalid_target", "DEL"},
    {"https://r.example/\"", "invalid_target", "a quote"},
    {"https://r.example/<a>", "invalid_target", "angle brackets"},
    {"https://r.example/\\a", "invalid_target", "a backslash"},
    {"https://r.example/^`{|}", "invalid_target", "other characters no URI has (RFC 3986 2)"},
    {"https://r.example/\xc3\xbc", "invalid_target", "UTF-8"},
}, types[] = {
    {NULL, "NULL", "absent"},
    {"", "[]", "empty"},
    {"urn:t:1", "[\"urn:t:1\"]", "one"},
    {"urn:t:1 urn:t:2", "[\"urn:t:1\",\"urn:t:2\"]", "two"},
    {"urn:t:1  urn:t:1 ", "[\"urn:t:1\"]", "a repeated one counts once"},
    {"orders", "invalid_request", "no URI"},
    {"urn:t:1 orders", "invalid_request", "no URI among URIs"},
    {"urn:t:1,urn:t:2 x", "invalid_request", "a list with commas"},
    {"urn:t:1#a", "invalid_request", "a fragment"},
    {"urn:t:1\turn:t:2", "invalid_request", "a tab"},
    {"[\"urn:t:1\"]", "invalid_request", "JSON"},
}, details[] = {
    {NULL, "NULL", "absent"},
    {"[]", "NULL", "no entries: absent (decisions.md \"Details decide\")"},
    {"[{\"type\":\"pay\"}]", "[{\"type\":\"pay\"}]", "one entry (RFC 9396 2)"},
    {"[{\"type\":\"pay\",\"amount\":50},{\"type\":\"pay\"}]", "[{\"type\":\"pay\",\"amount\":50},{\"type\":\"pay\"}]", "two of one type"},
    {" [ ] ", "NULL", "blanks"},
    {"", "invalid_request", "no JSON at all"},
    {"x", "invalid_request", "not JSON (oauth.md C15)"},
    {"{\"type\":\"pay\"}", "invalid_request", "an object"},
    {"\"pay\"", "invalid_request", "a text"},
    {"null", "invalid_request", "null"},
    {"[", "invalid_request", "an open array"},
    {"[]]", "invalid_request", "text behind"},
    {"[{\"type\":\"pay\",\"type\":\"log\"}]", "invalid_request", "a member twice"},
    {"[{\"type\":\"\xff\"}]", "invalid_request", "octets that are no UTF-8"},
    {"[{\"type\":\"a\\u0000b\"}]", "invalid_request", "a NUL in a text"},
    {"[{\"type\":\"pay\"},{}]", "invalid_authorization_details", "an entry without type"},
    {"[{\"type\":\"\"}]", "invalid_authorization_details", "an empty type"},
    {"[{\"type\":7}]", "invalid_authorization_details", "a type that is a number"},
    {"[{\"type\":null}]", "invalid_authorization_details", "a type that is null"},
    {"[{\"type\":[\"pay\"]}]", "invalid_authorization_details", "a type that is an array"},
    {"[{\"Type\":\"pay\"}]", "invalid_authorization_details", "names are told apart by case"},
    {"[\"pay\"]", "invalid_authorization_details", "an entry that is a text"},
    {"[[{\"type\":\"pay\"}]]", "invalid_authorization_details", "an entry that is an array"},
    {"[null]", "invalid_authorization_details", "an entry that is null"},
    {"[{\"type\":\"pay\",\"actions\":[\"a\"],\"locations\":[],\"datatypes\":[\"d\"],\"privileges\":[\"p\"],\"identifier\":\"i\"}]", "[{\"type\":\"pay\",\"actions\":[\"a\"],\"locations\":[],\"datatypes\":[\"d\"],\"privileges\":[\"p\"],\"identifier\":\"i\"}]", "the members of RFC 9396 2.2"},
    {"[{\"type\":\"pay\",\"actions\":\"a\"}]", "invalid_authorization_details", "actions as text (RFC 9396 2.2)"},
    {"[{\"type\":\"pay\",\"actions\":[1]}]", "invalid_authorization_details", "an action that is a number"},
    {"[{\"type\":\"pay\",\"actions\":{\"a\":\"b\"}}]", "invalid_authorization_details", "actions as object"},
    {"[{\"type\":\"pay\",\"actions\":null}]", "invalid_authorization_details", "actions that are null"},
    {"[{\"type\":\"pay\",\"locations\":\"https://a\"}]", "invalid_authorization_details", "a location as text"},
    {"[{\"type\":\"pay\",\"locations\":[null]}]", "invalid_authorization_details", "a location that is null"},
    {"[{\"type\":\"pay\",\"datatypes\":true}]", "invalid_authorization_details", "datatypes as boolean"},
    {"[{\"type\":\"pay\",\"privileges\":[[\"a\"]]}]", "invalid_authorization_details", "a privilege that is an array"},
    {"[{\"type\":\"pay\",\"identifier\":7}]", "invalid_authorization_details", "an identifier that is a number"},
    {"[{\"type\":\"pay\",\"identifier\":null}]", "invalid_authorization_details", "an identifier that is null"},
};
/* clang-format on */

/* `count` different words with a separator between them. */
static char *
words(TALLOC_CTX *mem, const char *format, unsigned count)
{
    char *text = talloc_strdup(mem, ""), number[64];
    for (unsigned i = 0; i < count; i++) {
        snprintf(number, sizeof(number), "%u", i);
        text = talloc_asprintf_append_buffer(text, "%s%s%s", i > 0 ? " " : "", format, number);
    }
    return text;
}

/* `length` octets, the last of them a letter. */
static char *
padded(TALLOC_CTX *mem, const char *head, size_t length)
{
    char *text = talloc_zero_size(mem, length + 1);
    memset(text, 'a', length);
    memcpy(text, head, strlen(head));
    return text;
}

static void
test_scopes(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++)
        is_str(parse(mem, scope_parse, scopes[i].text), scopes[i].wanted,
               "scope (RFC 6749 3.3): %s", scopes[i].name);
    const char *good = parse(mem, scope_parse, padded(mem, "", SCOPE_TEXT_MAX));
    is_int((int64_t) strlen(good), SCOPE_TEXT_MAX + 4, "a scope of %d characters (specification 8)",
           SCOPE_TEXT_MAX);
    is_str(parse(mem, scope_parse, padded(mem, "", SCOPE_TEXT_MAX + 1)), "invalid_scope",
           "... one more is refused");
    is_str(parse(mem, scope_parse, padded(mem, "a a a a ", SCOPE_TEXT_MAX + 1)), "invalid_scope",
           "... also of words that repeat");
    struct op op = env_op(mem, NULL);
    json_t *list = NULL;
    is_int(scope_parse(&op, words(mem, "s", SCOPE_WORDS_MAX), &list), AZ_OK, "%d scopes",
           SCOPE_WORDS_MAX);
    is_int((int64_t) json_array_size(list), SCOPE_WORDS_MAX, "... are all read");
    is_str(parse(mem, scope_parse, words(mem, "s", SCOPE_WORDS_MAX + 1)), "invalid_scope",
           "... one more is refused");
}

static const char *
check_resource(TALLOC_CTX *mem, const char *text)
{
    struct op op = env_op(mem, NULL);
    enum az_status st = resource_check(&op, text);
    return st == AZ_OK ? "OK" : az_status_row(st)->error;
}

static void
test_resources(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++)
        is_str(check_resource(mem, resources[i].text), resources[i].wanted,
               "resource (RFC 8707 2): %s", resources[i].name);
    is_str(check_resource(mem, padded(mem, "https://", RESOURCE_MAX)), "OK",
           "a resource of %d characters (specification 8)", RESOURCE_MAX);
    is_str(check_resource(mem, padded(mem, "https://", RESOURCE_MAX + 1)), "invalid_target",
           "... one more is refused");
}

static void
test_types(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        is_str(parse(mem, resource_types_parse, types[i].text), types[i].wanted,
               "resource_types: %s", types[i].name);
    struct op op = env_op(mem, NULL);
    json_t *list = NULL;
    is_int(resource_types_parse(&op, words(mem, "urn:t:", RESOURCE_TYPES_MAX), &list), AZ_OK,
           "%d types", RESOURCE_TYPES_MAX);
    is_int((int64_t) json_array_size(list), RESOURCE_TYPES_MAX, "... are all read");
    is_str(parse(mem, resource_types_parse, words(mem, "urn:t:", RESOURCE_TYPES_MAX + 1)),
           "invalid_request", "... one more is refused");
    is_int(resource_types_parse(&op, padded(mem, "urn:", RESOURCE_MAX), &list), AZ_OK,
           "a type of %d characters", RESOURCE_MAX);
    is_str(parse(mem, resource_types_parse, padded(mem, "urn:", RESOURCE_MAX + 1)),
           "invalid_request", "... one more is refused");
}

/* An array of one entry, as deep as asked: the array and the entry are two of the levels. */
static char *
deep_details(TALLOC_CTX *mem, unsigned depth)
{
    char *text = talloc_strdup(mem, "[{\"type\":\"a\",\"x\":");
    for (unsigned i = 2; i < depth; i++)
        text = talloc_strdup_append(text, "[");
    for (unsigned i = 2; i < depth; i++)
        text = talloc_strdup_append(text, "]");
    return talloc_strdup_append(text, depth == 2 ? "1}]" : "}]");
}

static void
test_details(TALLOC_CTX *mem)
{
    struct op op = env_op(mem, NULL);
    json_t *list = NULL;
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++)
        is_str(parse(mem, details_parse, details[i].text), details[i].wanted,
               "authorization_details: %s", details[i].name);
    char *most = talloc_strdup(mem, "[{\"type\":\"a\"}");
    for (int i = 1; i < DETAILS_MAX; i++)
        most = talloc_strdup_append(most, ",{\"type\":\"a\"}");
    char *past = talloc_asprintf(mem, "%s,{\"type\":\"a\"}]", most);
    is_int(details_parse(&op, talloc_strdup_append(most, "]"), &list), AZ_OK, "%d entries",
           DETAILS_MAX);
    is_str(parse(mem, details_parse, past), "invalid_authorization_details",
           "... one more is refused");
    is_int(details_parse(&op, deep_details(mem, DETAILS_DEPTH_MAX), &list), AZ_OK, "%d levels",
           DETAILS_DEPTH_MAX);
    is_str(parse(mem, details_parse, deep_details(mem, DETAILS_DEPTH_MAX + 1)), "invalid_request",
           "... one deeper is refused");
    az_fault_clear(&op.fault);
    details_parse(&op, "[{\"type\":\"a\"},{\"type\":\"pay\",\"actions\":1}]", &list);
    is_str(op.fault.public_text,
           "authorization_details[1] of type 'pay' has actions that are not an array of strings",
           "the fault names the entry");
    char *blanks = padded(mem, "[]", DETAILS_TEXT_MAX + 1);
    memset(blanks + 2, ' ', DETAILS_TEXT_MAX - 1);
    is_str(parse(mem, details_parse, blanks), "invalid_request", "one octet more than %d",
           DETAILS_TEXT_MAX);
    blanks[DETAILS_TEXT_MAX] = '\0';
    is_str(parse(mem, details_parse, blanks), "NULL", "... and so many");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_scopes(mem);
    test_resources(mem);
    test_types(mem);
    test_details(mem);
    talloc_free(mem);
    return done();
}
