#include "config.h"

#include "gateway/mcp/message/tool_schema.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

/* clang-format off */
static const struct {
    const char *schema, *arguments;
    const char *why; /* part of the fault; NULL: none */
    const char *name;
} cases[] = {
    {"{}", "{'a':1}", NULL, "a schema that says nothing"},
    {"{'type':'object','required':['a']}", "{}", "/a is required", "a required argument"},
    {"{'type':'object','properties':{'a':{'type':'string'}}}", "{'a':7}", "/a ", "a type"},
    {"{'type':'object','properties':{'a':{'enum':['x','y']}}}", "{'a':'z'}", "/a ", "an enum"},
    {"{'type':'object','properties':{'a':{}},'additionalProperties':false}", "{'b':1}", "/b ", "an argument that is not named"},
    {"{'properties':{'a':{'properties':{'b':{'maxLength':2}}}}}", "{'a':{'b':'xyz'}}", "/a/b ", "an inner argument"},
    {"{'properties':{'a':{'items':{'type':'integer'}}}}", "{'a':[1,'x']}", "/a/1 ", "an item"},
    {"{'properties':{'a':{'anyOf':[{'type':'string'},{'type':'null'}]}}}", "{'a':1}", "/a ", "anyOf"},
    {"{'properties':{'a':{'oneOf':[{'type':'string'},{'type':'null'}]}}}", "{'a':1}", "/a ", "oneOf needs one of them"},
    {"{'properties':{'a':{'oneOf':[{'type':'integer'},{'minimum':1}]}}}", "{'a':1}", NULL, "... and more than one is not refused"},
    {"{'$defs':{'n':{'type':'string'}},'properties':{'a':{'$ref':'#/$defs/n'}}}", "{'a':1}", "/a ", "a definition"},
    {"{'definitions':{'n':{'type':'string'}},'properties':{'a':{'$ref':'#/definitions/n'}}}", "{'a':1}", "/a ", "... under its older name"},
    {"{'$defs':{'n':{'type':'object','properties':{'in':{'$ref':'#/$defs/n'}}}},'properties':{'a':{'$ref':'#/$defs/n'}}}", "{'a':{'in':{'in':7}}}", NULL, "a definition that holds itself is checked at its first level"},
    {"{'$defs':{'n':{'type':'object','properties':{'in':{'$ref':'#/$defs/n'}}}},'properties':{'a':{'$ref':'#/$defs/n'}}}", "{'a':7}", "/a ", "... there"},
    {"{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}},'$ref':'#/$defs/a'}", "{'a':7}", NULL, "definitions that are each other"},
    {"{'properties':{'a':{'$ref':'https://schemas.example/a.json'}}}", "{'a':7}", NULL, "another document is not fetched"},
    {"{'properties':{'a':{'$ref':'#/properties/b'},'b':{'type':'string'}}}", "{'a':7}", NULL, "a reference to elsewhere is not followed"},
    {"{'properties':{'a':{'pattern':'^\\\\d+$'}}}", "{'a':'x'}", NULL, "patterns are not checked: theirs are not POSIX"},
    {"{'properties':{'a':{'type':'string','format':'uri'}}}", "{'a':'x'}", NULL, "nor formats"},
    {"{'prefixItems':[{}],'properties':{'a':{'items':{'type':'string'},'prefixItems':[{'type':'integer'}]}}}", "{'a':[1]}", NULL, "items after others are not checked, because those would fail"},
    {"{'patternProperties':{'^x-':{}},'additionalProperties':false}", "{'x-a':1}", NULL, "nor the rest beside patterns of names"},
    {"{'properties':{'a':{'not':{'type':'string'}}}}", "{'a':'x'}", NULL, "keywords that are not known are passed over"},
    {"{'type':7,'required':'a','properties':[],'minimum':'x'}", "{}", NULL, "keywords with a value that they do not have"},
    {"{'properties':{'a':{'type':['string','null'],'minLength':1}}}", "{'a':''}", "/a ", "several types"},
    {"false", "{}", "is not allowed here", "a schema that nothing matches"},
};
/* clang-format on */

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why = NULL;
        is_int(tool_schema_check(mem, env_json(mem, cases[i].schema),
                                 env_json(mem, cases[i].arguments), &why),
               cases[i].why == NULL ? AZ_OK : AZ_INVALID, "%s", cases[i].name);
        ok(cases[i].why == NULL ? why == NULL : why != NULL && strstr(why, cases[i].why) != NULL,
           "... %s", why != NULL ? why : "no fault");
    }
}

/* Models write null for what they leave out. */
/* clang-format off */
static const struct {
    const char *schema, *arguments, *kept;
    const char *name;
} nulls[] = {
    {"{'properties':{'a':{'type':'string'}}}", "{'a':null,'b':1}", "{\"b\":1}", "null of an optional argument is dropped"},
    {"{'properties':{'a':{'type':'string'}},'required':['a']}", "{'a':null}", "{\"a\":null}", "... of a required one is not"},
    {"{'properties':{'a':{'type':['string','null']}}}", "{'a':null}", "{\"a\":null}", "... of one that may be null"},
    {"{'properties':{'a':{}}}", "{'a':null}", "{\"a\":null}", "... of one that may be anything"},
    {"{'properties':{}}", "{'a':null}", "{\"a\":null}", "... of one that the schema does not name"},
    {"{'$defs':{'s':{'type':'string'}},'properties':{'a':{'$ref':'#/$defs/s'}}}", "{'a':null}", "{}", "... of a definition"},
    {"{'properties':{'a':{'properties':{'b':{'type':'string'}}}}}", "{'a':{'b':null}}", "{\"a\":{\"b\":null}}", "an inner null stays"},
};
/* clang-format on */

static void
test_nulls(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++) {
        json_t *arguments = env_json(mem, nulls[i].arguments);
        char *before = jsonx_dump(mem, arguments);
        is_str(
            jsonx_dump(mem, tool_schema_drop_nulls(mem, env_json(mem, nulls[i].schema), arguments)),
            nulls[i].kept, "%s", nulls[i].name);
        is_str(jsonx_dump(mem, arguments), before, "... and the message is as it was");
    }
}

/* Return a schema that holds `count` definitions beside each other. */
static json_t *
wide(TALLOC_CTX *mem, size_t count)
{
    json_t *schema = env_json(mem, "{'$defs':{}}");
    for (size_t i = 0; i < count; i++)
        json_object_set_new(json_object_get(schema, "$defs"), talloc_asprintf(mem, "d%zu", i),
                            json_object());
    return schema;
}

/* Return a schema of `depth` properties in each other. */
static json_t *
deep(TALLOC_CTX *mem, size_t depth, const char *innermost)
{
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; i < depth; i++)
        text = talloc_strdup_append_buffer(text, "{'properties':{'a':");
    text = talloc_strdup_append_buffer(text, innermost);
    for (size_t i = 0; i < depth; i++)
        text = talloc_strdup_append_buffer(text, "}}");
    return env_json(mem, text);
}

static void
test_limits(TALLOC_CTX *mem)
{
    const char *why;
    /* The schema and its $defs are two. */
    ok(tool_schema_fits(wide(mem, 2 * TOOL_SCHEMA_SIZE_MAX - 2)), "the most sub-schemas");
    ok(!tool_schema_fits(wide(mem, 2 * TOOL_SCHEMA_SIZE_MAX - 1)), "one more");
    ok(tool_schema_fits(deep(mem, TOOL_SCHEMA_DEPTH_MAX, "true")), "the deepest schema");
    ok(!tool_schema_fits(deep(mem, TOOL_SCHEMA_DEPTH_MAX, "{}")), "one level more");
    /* Eight definitions that each name the next one eight times: 8^8 schemas (a JSON bomb). */
    json_t *bomb = env_json(mem, "{'$defs':{},'$ref':'#/$defs/d0'}");
    for (size_t i = 0; i < 8; i++) {
        json_t *properties = json_object();
        for (size_t j = 0; j < 8; j++)
            json_object_set_new(
                properties, talloc_asprintf(mem, "p%zu", j),
                json_pack("{s:s}", "$ref", talloc_asprintf(mem, "#/$defs/d%zu", i + 1)));
        json_object_set_new(json_object_get(bomb, "$defs"), talloc_asprintf(mem, "d%zu", i),
                            json_pack("{s:s,s:o}", "type", "object", "properties", properties));
    }
    is_int(tool_schema_check(mem, bomb, env_json(mem, "{}"), &why), AZ_OK,
           "definitions that multiply end at the limit");
    is_int(tool_schema_check(mem, bomb, env_json(mem, "7"), &why), AZ_INVALID,
           "... and are checked up to there");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_nulls(mem);
    test_limits(mem);
    talloc_free(mem);
    return done();
}
