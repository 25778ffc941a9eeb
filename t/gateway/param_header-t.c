#include "config.h"

#include "gateway/mcp/message/param_header.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* MCP 2026-07-28, transports: the rules for x-mcp-header, each broken once. */
/* clang-format off */
static const struct {
    const char *schema;
    bool sound;
    const char *name;
} schemas[] = {
    {"{'type':'object'}", true, "none"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'A'},'b':{'type':'integer','x-mcp-header':'B'},'c':{'type':'boolean','x-mcp-header':'C'}}}", true, "each type that it may have"},
    {"{'properties':{'a':{'type':'object','properties':{'b':{'type':'string','x-mcp-header':'B'}}}}}", true, "an inner property"},
    {"{'properties':{'x-mcp-header':{'type':'string'}}}", true, "a property of that name"},
    {"{'properties':{'a':{'enum':[{'x-mcp-header':''}],'default':{'x-mcp-header':7}}}}", true, "a value that looks like it"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':''}}}", false, "an empty name"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':7}}}", false, "a name that is no text"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'My Region'}}}", false, "a blank"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'A:B'}}}", false, "a colon"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'A\\r\\nHost'}}}", false, "a line end"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'R\xc3\xa9gion'}}}", false, "a letter outside ASCII"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'A'},'b':{'type':'string','x-mcp-header':'a'}}}", false, "a name twice, in another case"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-Ant'},'b':{'type':'string','x-mcp-header':'Ten.Ant'}}}", false, "... Ten.Ant beside Ten-Ant: one variable of CGI"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-Ant'},'b':{'type':'string','x-mcp-header':'Ten_Ant'}}}", false, "... Ten_Ant beside Ten-Ant: one variable of CGI"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-Ant'},'b':{'type':'string','x-mcp-header':'ten~ant'}}}", false, "... ten~ant beside Ten-Ant: one variable of CGI"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-Ant'},'b':{'type':'string','x-mcp-header':'TEN!ANT'}}}", false, "... TEN!ANT beside Ten-Ant: one variable of CGI"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-Ant'},'b':{'type':'string','x-mcp-header':'TenAnt'}}}", true, "... TenAnt is another"},
    {"{'properties':{'a':{'type':'string','x-mcp-header':'Ten-'},'b':{'type':'string','x-mcp-header':'Ten'}}}", true, "... and so is a shorter one"},
    {"{'properties':{'a':{'type':'number','x-mcp-header':'A'}}}", false, "a number"},
    {"{'properties':{'a':{'type':'object','x-mcp-header':'A'}}}", false, "an object"},
    {"{'properties':{'a':{'type':'array','x-mcp-header':'A'}}}", false, "a list"},
    {"{'properties':{'a':{'type':'null','x-mcp-header':'A'}}}", false, "null"},
    {"{'properties':{'a':{'type':['string','null'],'x-mcp-header':'A'}}}", false, "several types"},
    {"{'properties':{'a':{'x-mcp-header':'A'}}}", false, "no type"},
    {"{'type':'string','x-mcp-header':'A'}", false, "the root"},
    {"{'properties':{'a':{'items':{'type':'string','x-mcp-header':'A'}}}}", false, "items"},
    {"{'properties':{'a':{'items':{'properties':{'b':{'type':'string','x-mcp-header':'A'}}}}}}", false, "a property of items"},
    {"{'additionalProperties':{'type':'string','x-mcp-header':'A'}}", false, "other properties"},
    {"{'patternProperties':{'a':{'type':'string','x-mcp-header':'A'}}}", false, "properties by pattern"},
    {"{'anyOf':[{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}]}", false, "a branch"},
    {"{'if':{'properties':{'a':{'type':'string','x-mcp-header':'A'}}}}", false, "a condition"},
    {"{'$defs':{'a':{'type':'string','x-mcp-header':'A'}}}", false, "a definition"},
};
/* clang-format on */

static void
test_schemas(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++)
        is_int(param_headers_sound(env_json(mem, schemas[i].schema)), schemas[i].sound, "%s",
               schemas[i].name);
}

/* Return a schema with `count` fields, the last with a name of `length` octets. */
static json_t *
many(TALLOC_CTX *mem, size_t count, size_t length)
{
    json_t *properties = jsonx_own(mem, json_object());
    char *longest = talloc_zero_array(mem, char, length + 1);
    memset(longest, 'n', length);
    for (size_t i = 0; i < count; i++) {
        const char *name = i + 1 == count ? longest : talloc_asprintf(mem, "f%zu", i);
        json_object_set_new(properties, name,
                            json_pack("{s:s,s:s}", "type", "string", "x-mcp-header", name));
    }
    return jsonx_own(mem, json_pack("{s:O}", "properties", properties));
}

static void
test_limits(TALLOC_CTX *mem)
{
    ok(param_headers_sound(many(mem, PARAM_HEADERS_MAX, 1)), "the most fields");
    ok(!param_headers_sound(many(mem, PARAM_HEADERS_MAX + 1, 1)), "one more");
    ok(param_headers_sound(many(mem, 1, PARAM_HEADER_NAME_MAX)), "the longest name");
    ok(!param_headers_sound(many(mem, 1, PARAM_HEADER_NAME_MAX + 1)), "one octet more");
}

/* clang-format off */
static const struct {
    const char *argument, *field;
    bool same;
    const char *name;
} values[] = {
    {"'eu'", "eu", true, "a text"},
    {"'eu'", "EU", false, "... in another case"},
    {"'eu'", NULL, false, "... without a field"},
    {"'eu'", "=?base64?ZXU=?=", true, "... in base64"},
    {"'eu'", "=?base64?ZXU?=", false, "... without its padding"},
    {"'eu'", "=?base64?Z!U=?=", false, "... with another character"},
    {"'eu'", "ZXU=", false, "... without the marks"},
    {"'\xc3\xa9'", "=?base64?w6k=?=", true, "a letter outside ASCII"},
    {"'\xc3\xa9'", "=?base64?6Q==?=", false, "... in another encoding"},
    {"''", "=?base64?" "?=", true, "an empty text"},
    {"'true'", "true", true, "a text that looks like another value"},
    {"true", "true", true, "true"},
    {"true", "True", false, "... in another case"},
    {"false", "true", false, "false"},
    {"42", "42", true, "a number"},
    {"42", "42.0", true, "... with a fraction of zeros"},
    {"42", "42.5", false, "... with another one"},
    {"42", "42.", false, "... with half of one"},
    {"42", "4.2e1", false, "... with an exponent"},
    {"42", "43", false, "another number"},
    {"42", " 42", false, "a blank before it"},
    {"-1", "-1", true, "a negative number"},
    {"1", "18446744073709551617", false, "a number that does not fit"},
    {"5.0", "5", true, "a number with a fraction of zeros"},
    {"5.0", "6", false, "... another one"},
    {"5.5", "5", false, "... a fraction"},
    {"1e300", "1", false, "... that is no integer of JSON"},
};
/* clang-format on */

static void
test_values(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const json_t *argument =
            json_array_get(env_json(mem, talloc_asprintf(mem, "[%s]", values[i].argument)), 0);
        is_int(param_header_says(mem, values[i].field, argument), values[i].same, "%s",
               values[i].name);
        if (values[i].same)
            ok(param_header_says(mem, param_header_value(mem, argument), argument),
               "... and what we send says it");
    }
    ok(param_header_carries(env_json(mem, "9007199254740991")), "the largest integer");
    ok(!param_header_carries(env_json(mem, "9007199254740992")), "one more has no field");
    ok(!param_header_carries(env_json(mem, "[1]")), "a list has none");
    ok(!param_header_carries(env_json(mem, "1.5")), "a fraction has none");
}

static bool
count_field(void *arg, const char *name, const json_t *value)
{
    (void) name;
    (void) value;
    *(size_t *) arg += 1;
    return false;
}

static bool
take_absent(void *arg, const char *name, const json_t *value)
{
    (void) name;
    *(size_t *) arg += 1;
    return value == NULL;
}

static void
test_each(TALLOC_CTX *mem)
{
    size_t calls = 0;
    const json_t *schema = env_json(mem, "{'properties':{'a':{'type':'string','x-mcp-header':'A'},"
                                         "'b':{'type':'string','x-mcp-header':'B'}}}");
    ok(!param_headers_each(schema, env_json(mem, "{'a':'x','b':'y'}"), count_field, &calls),
       "the walk ends");
    is_int((int64_t) calls, 1, "... at the first false");
    calls = 0;
    ok(param_headers_each(schema, env_json(mem, "{'a':null,'c':1}"), take_absent, &calls),
       "null and what is absent have fields too");
    is_int((int64_t) calls, 2, "... without a value: the fields must be absent");
    calls = 0;
    schema = env_json(mem, "{'properties':{'a':{'type':'object','properties':{"
                           "'b':{'type':'string','x-mcp-header':'B'}}}}}");
    ok(param_headers_each(schema, env_json(mem, "{}"), take_absent, &calls) && calls == 1,
       "... also below an object that is absent");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_schemas(mem);
    test_limits(mem);
    test_values(mem);
    test_each(mem);
    talloc_free(mem);
    return done();
}
