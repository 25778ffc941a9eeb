#include "config.h"

#include "gateway/mcp/ask/question.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "gateway/mcp/ask/answer.h"
#include "gateway/mcp/ask/form.h"
#include "tap.h"

static const struct managed_interaction all = {
    .form = true, .url = true, .sampling = true, .roots = true};

#define ALL "{'elicitation':{'form':{},'url':{}},'sampling':{},'roots':{}}"

static void
test_capabilities(TALLOC_CTX *mem)
{
    static const struct managed_interaction off = {.form = false};
    static const struct managed_interaction forms = {.form = true};
    const struct {
        const char *of_client;
        const struct managed_interaction *may;
        bool person;
        const char *told, *name;
    } cases[] = {
        {ALL,                                             &off,   true,  "{}",                                                                      "a resource without interaction: none"},
        {ALL,                                             &all,   true,  "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{},\"roots\":{}}",
         "all"                                                                                                                                                                            },
        {ALL,                                             &all,   false, "{\"sampling\":{},\"roots\":{}}",
         "a token without a person: no elicitation"                                                                                                                                       },
        {ALL,                                             &forms, true,  "{\"elicitation\":{\"form\":{}}}",                                         "forms alone"                         },
        {"{}",                                            &all,   true,  "{}",                                                                      "a client without capabilities: none" },
        {"{'elicitation':{}}",                            &all,   true,  "{\"elicitation\":{\"form\":{}}}",
         "elicitation without modes has forms"                                                                                                                                            },
        {"{'elicitation':{'url':{}}}",                    &forms, true,  "{}",                                                                      "... one with another mode has none"  },
        {"{'elicitation':true,'sampling':1,'roots':'x'}", &all,   true,  "{}",
         "members that are no objects"                                                                                                                                                    },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_str(jsonx_dump(mem, question_capabilities(mem, env_json(mem, cases[i].of_client),
                                                     cases[i].may, cases[i].person)),
               cases[i].told, "%s", cases[i].name);
}

/* Read one question `{'k': ...}` of an upstream that was told all capabilities. */
static enum az_status
read_one(TALLOC_CTX *mem, const char *request, struct asked_questions *ret, const char **ret_why)
{
    static const char *const hosts[] = {"login.example", NULL};
    const struct question_rules rules = {
        .name = "Shop",
        .capabilities = question_capabilities(mem, env_json(mem, ALL), &all, true),
        .host = "shop.example",
        .hosts = hosts,
        .issuer_host = "as.example",
    };
    *ret_why = NULL;
    return questions_read(mem, &rules, env_json(mem, talloc_asprintf(mem, "{'k':%s}", request)),
                          ret, ret_why);
}

static void
refuses(TALLOC_CTX *mem, enum az_status st, const char *why, const char *request, const char *name)
{
    struct asked_questions read;
    const char *said;
    enum az_status seen = read_one(mem, request, &read, &said);
    ok(seen == st && (why == NULL || (said != NULL && strcmp(said, why) == 0)), "%s", name);
}

#define FORM(property)                                                                             \
    "{'method':'elicitation/create','params':{'message':'m','requestedSchema':{'type':'object',"   \
    "'properties':{" property "}}}}"
#define URL(url)                                                                                   \
    "{'method':'elicitation/create','params':{'mode':'url','message':'m','url':'" url "'}}"
#define SAMPLE(more)                                                                               \
    "{'method':'sampling/createMessage','params':{'messages':[{'role':'user','content':{'type':"   \
    "'text','text':'t'}}],'maxTokens':9" more "}}"

static void
test_passes(TALLOC_CTX *mem)
{
    struct asked_questions read;
    const char *why;
    ok(read_one(
           mem,
           "{'method':'elicitation/create','params':{'message':'Which\\u202e\\none?','stolen':1,"
           "'requestedSchema':{'type':'object','required':['a'],'more':1,'properties':{'a':"
           "{'type':'string','title':'A\\n','oneOf':[{'const':'x','title':'X'}],'default':'x',"
           "'evil':{}},'b':{'type':'array','items':{'type':'string','enum':['p','q']},"
           "'minItems':1}}}}}",
           &read, &why)
           == AZ_OK,
       "a form");
    is_str(
        jsonx_dump(mem, read.item[0].request),
        "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"Shop: "
        "Which\\none?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
        "\"string\",\"default\":\"x\",\"oneOf\":[{\"const\":\"x\",\"title\":\"X\"}],\"title\":"
        "\"A\"},\"b\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\",\"enum\":"
        "[\"p\",\"q\"]}}},\"required\":[\"a\"]}}}",
        "... as the client gets it: the members of MCP, and the name of who asks");
    is_str(jsonx_dump(mem, read.item[0].seen),
           "{\"message\":\"Shop: Which\\none?\",\"fields\":[\"a\",\"b\"]}",
           "... as policy sees it");
    is_str(read.item[0].kind, "elicitation", "... its kind");
    is_str(read.item[0].name, "form", "... and name");
    ok(read_one(mem,
                FORM("'a':{'type':'string','default':'x\\u202ey\\nz\\udb40\\udc41','evil':1},"
                     "'b':{'type':'array','items':{'type':'string','enum':['p']},'default':[]}"),
                &read, &why)
           == AZ_OK,
       "a form with defaults");
    is_str(jsonx_dump(
               mem, json_object_get(json_object_get(json_object_get(read.item[0].request, "params"),
                                                    "requestedSchema"),
                                    "properties")),
           "{\"a\":{\"type\":\"string\",\"default\":\"xy\\nz\"},\"b\":{\"type\":\"array\","
           "\"default\":[],\"items\":{\"type\":\"string\",\"enum\":[\"p\"]}}}",
           "... which the person sees as they are sent back");
    ok(read_one(mem, URL("https://shop.example/pay?x=1"), &read, &why) == AZ_OK,
       "an address of the upstream's host");
    is_str(jsonx_dump(mem, read.item[0].seen),
           "{\"message\":\"Shop: m\",\"url\":\"https://shop.example/pay?x=1\",\"host\":"
           "\"shop.example\"}",
           "... as policy sees it");
    ok(read_one(mem, URL("https://login.example:8443/"), &read, &why) == AZ_OK,
       "... and of a host that the operator names");
    ok(read_one(mem, SAMPLE(",'includeContext':'allServers','metadata':{},'temperature':0.5"),
                &read, &why)
           == AZ_OK,
       "a sampling");
    is_str(jsonx_dump(mem, json_object_get(read.item[0].request, "params")),
           "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"t\"}}],"
           "\"temperature\":0.5,\"maxTokens\":9}",
           "... without the context of others");
    ok(read_one(mem,
                "{'method':'sampling/createMessage','params':{'messages':[{'role':'user','extra':1,"
                "'content':[{'type':'text','text':'t','extra':1,'_meta':{'mcp.dev/x':1}}]}],"
                "'modelPreferences':{'a\\u202eb':1,'hints':[{'name':'n\\u202em','more':1},7],"
                "'costPriority':0.5,'speedPriority':'x'},'maxTokens':9}}",
                &read, &why)
           == AZ_OK,
       "a sampling with members that MCP does not have");
    is_str(jsonx_dump(mem, json_object_get(read.item[0].request, "params")),
           "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"t\"}]}],"
           "\"modelPreferences\":{\"hints\":[{\"name\":\"nm\"}],\"costPriority\":0.5},"
           "\"maxTokens\":9}",
           "... is built from those that MCP has");
    ok(read_one(mem,
                "{'method':'sampling/createMessage','params':{'messages':[{'role':'user','content':"
                "{'type':'text','text':'a\\udb40\\udc41b'}}],'systemPrompt':'c\\u202ed',"
                "'maxTokens':9}}",
                &read, &why)
           == AZ_OK,
       "a sampling with characters that people do not see");
    is_str(jsonx_dump(mem, json_object_get(read.item[0].request, "params")),
           "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"ab\"}}],"
           "\"systemPrompt\":\"cd\",\"maxTokens\":9}",
           "... has none of them for its model, and for policy");
    ok(read_one(mem, "{'method':'roots/list'}", &read, &why) == AZ_OK, "roots");
}

static void
test_refused(TALLOC_CTX *mem)
{
    refuses(mem, AZ_INVALID, NULL, "{'method':'tools/call'}", "another method");
    refuses(mem, AZ_INVALID, NULL, "7", "no request");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'type':'object'}"), "a field that is an object");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'$ref':'#'}"), "a reference");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'type':'array','items':{'type':'object'}}"),
            "a list of objects");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'type':'string','enum':[7]}"), "a choice of numbers");
    static const char *const hidden[] = {
        FORM("'a\\u202eb':{'type':'string'}"),
        FORM("'a':{'type':'string','enum':['x\\n']}"),
        FORM("'a':{'type':'string','enum':['x'],'enumNames':['X\\u0007']}"),
        FORM("'a':{'type':'string','oneOf':[{'const':'x','title':'X\\u202e'}]}"),
        FORM("'a':{'type':'string','oneOf':[{'const':'x\\u0001','title':'X'}]}"),
        FORM("'a':{'type':'array','items':{'type':'string','enum':['\\u2066x']}}"),
        FORM("'a':{'type':'array','items':{'anyOf':[{'const':'x','title':'\\u200fX'}]}}"),
    };
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        refuses(mem, AZ_INVALID, NULL, hidden[i],
                "a name or choice with a character that is not shown");
    refuses(mem, AZ_FORBIDDEN, "elicitation_sensitive", FORM("'password':{'type':'string'}"),
            "a password (MCP, client/elicitation)");
    refuses(mem, AZ_FORBIDDEN, "elicitation_sensitive",
            FORM("'a':{'type':'string','title':'Your API key'}"), "... by the title of a field");
    refuses(mem, AZ_FORBIDDEN, "elicitation_sensitive",
            FORM("'a':{'type':'string','format':'password'}"), "... by its format");
    refuses(mem, AZ_FORBIDDEN, "elicitation_url", URL("http://shop.example/"), "http");
    refuses(mem, AZ_FORBIDDEN, "elicitation_url", URL("https://evil.example/"), "another host");
    refuses(mem, AZ_FORBIDDEN, "elicitation_url", URL("https://shop.example.evil.example/"),
            "a host that begins alike");
    refuses(mem, AZ_FORBIDDEN, "elicitation_url", URL("https://a@shop.example/"), "a user");
    refuses(mem, AZ_FORBIDDEN, "elicitation_url", URL("https://as.example/gateway/link"),
            "a page of ours");
    refuses(mem, AZ_INVALID, NULL, URL("javascript:alert(1) "), "no address");
    refuses(mem, AZ_FORBIDDEN, "sampling_tools", SAMPLE(",'tools':[]"), "a sampling with tools");
    refuses(mem, AZ_INVALID, NULL,
            "{'method':'sampling/createMessage','params':{'messages':[],'maxTokens':9}}",
            "... without messages");
    static const char *const types[] = {
        ",'temperature':'hot'",   ",'systemPrompt':7",    ",'modelPreferences':'best'",
        ",'stopSequences':'end'", ",'stopSequences':[7]", ",'modelPreferences':[]",
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        refuses(mem, AZ_INVALID, NULL,
                talloc_asprintf(mem,
                                "{'method':'sampling/createMessage','params':{'messages':[{'role':"
                                "'user','content':{'type':'text','text':'t'}}],'maxTokens':9%s}}",
                                types[i]),
                "... with a member of another type");
    refuses(mem, AZ_INVALID, NULL,
            "{'method':'sampling/createMessage','params':{'messages':[{'role':'user','content':"
            "{'type':'text','text':'t'}}],'maxTokens':0}}",
            "... of no tokens");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'type':'string','pattern':'a\\u202eb'}"),
            "a pattern with a character that reorders text");
    refuses(mem, AZ_INVALID, NULL, FORM("'a':{'type':'string','format':'a\\u202eb'}"),
            "... a format");
    refuses(
        mem, AZ_INVALID, NULL,
        FORM("'a':{'type':'array','items':{'type':'string','enum':['p']},'default':['p\\u202e']}"),
        "... a choice by default");
    refuses(mem, AZ_INVALID, NULL,
            "{'method':'elicitation/create','params':{'mode':'url','message':'m','url':"
            "'https://shop.example/','elicitationId':'a\\u202eb'}}",
            "... the id of a visit");
    static const char *const names[] = {"password", "user_passwd", "API_KEY",     "apiKey",
                                        "api key",  "Token",       "accessToken", "cvv",
                                        "cardCVC",  "PIN",         "pins",        "one-time-otp"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ok(form_name_is_secret(names[i]), "%s is a secret", names[i]);
    static const char *const others[] = {"name", "opinion", "shipping", "tokyo", "keys", "spin"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ok(!form_name_is_secret(others[i]), "%s is none", others[i]);
}

/* Return the request of a form with a message of so many characters. */
static const char *
form_with(TALLOC_CTX *mem, size_t message, size_t fields)
{
    char *said = talloc_zero_array(mem, char, (unsigned) message + 1);
    char *properties = talloc_strdup(mem, "");
    memset(said, 'm', message);
    for (size_t i = 0; i < fields; i++)
        properties =
            talloc_asprintf_append(properties, "%s'f%zu':{'type':'boolean'}", i > 0 ? "," : "", i);
    return talloc_asprintf(mem,
                           "{'method':'elicitation/create','params':{'message':'%s',"
                           "'requestedSchema':{'type':'object','properties':{%s}}}}",
                           said, properties);
}

static void
test_limits(TALLOC_CTX *mem)
{
    struct asked_questions read;
    const char *why;
    const struct question_rules rules = {
        .name = "Shop",
        .capabilities = question_capabilities(mem, env_json(mem, ALL), &all, true),
        .host = "",
        .issuer_host = "",
    };
    ok(read_one(mem, form_with(mem, QUESTION_MESSAGE_MAX, FORM_FIELDS_MAX), &read, &why) == AZ_OK,
       "the longest message, and the most fields");
    refuses(mem, AZ_INVALID, NULL, form_with(mem, QUESTION_MESSAGE_MAX + 1, 1),
            "one more character");
    refuses(mem, AZ_INVALID, NULL, form_with(mem, 1, FORM_FIELDS_MAX + 1), "one more field");
    for (size_t count = QUESTIONS_MAX; count <= QUESTIONS_MAX + 1; count++) {
        json_t *requests = jsonx_own(mem, json_object());
        for (size_t i = 0; i < count; i++)
            json_object_set_new(requests, talloc_asprintf(mem, "q%zu", i),
                                json_pack("{s:s}", "method", "roots/list"));
        is_int(questions_read(mem, &rules, requests, &read, &why),
               count == QUESTIONS_MAX ? AZ_OK : AZ_INVALID, "%zu questions", count);
    }
    for (size_t length = QUESTION_KEY_MAX; length <= QUESTION_KEY_MAX + 1; length++) {
        char *key = talloc_zero_array(mem, char, (unsigned) length + 1);
        memset(key, 'k', length);
        json_t *requests = jsonx_own(mem, json_pack("{s:{s:s}}", key, "method", "roots/list"));
        is_int(questions_read(mem, &rules, requests, &read, &why),
               length == QUESTION_KEY_MAX ? AZ_OK : AZ_INVALID, "a name of %zu octets", length);
    }
}

static void
answered(TALLOC_CTX *mem, const char *fits, const char *response, const char *wanted,
         const char *name)
{
    json_t *answer = NULL;
    enum az_status st = answer_read(mem, env_json(mem, fits), env_json(mem, response), &answer);
    is_str(st == AZ_OK        ? jsonx_dump(mem, answer)
           : st == AZ_INVALID ? "refused"
                              : "failed",
           wanted, "%s", name);
}

#define FITS                                                                                       \
    "{'kind':'form','schema':{'type':'object','required':['n'],'properties':{'n':{'type':"         \
    "'integer','maximum':9},'c':{'type':'string','oneOf':[{'const':'x','title':'X'}]}}}}"

static void
test_answers(TALLOC_CTX *mem)
{
    answered(mem, FITS, "{'action':'accept','content':{'n':3,'more':1},'x':1}",
             "{\"action\":\"accept\",\"content\":{\"n\":3}}", "a form that is filled in");
    answered(mem, FITS, "{'action':'decline','content':{'n':3}}", "{\"action\":\"decline\"}",
             "one that is declined");
    answered(mem, FITS, "{'action':'accept'}", "refused", "no content");
    answered(mem, FITS, "{'action':'accept','content':{}}", "refused", "a field is missing");
    answered(mem, FITS, "{'action':'accept','content':{'n':'3'}}", "refused", "a wrong type");
    answered(mem, FITS, "{'action':'accept','content':{'n':10}}", "refused", "a wrong value");
    answered(mem, FITS, "{'action':'accept','content':{'n':1,'c':'y'}}", "refused",
             "a choice that was not given");
    answered(mem, FITS, "{'action':'yes','content':{'n':1}}", "refused", "an unknown action");
    answered(mem, "{'kind':'url'}", "{'action':'accept','content':{'a':1}}",
             "{\"action\":\"accept\"}", "an address that was opened");
    answered(mem, "{'kind':'sampling'}",
             "{'role':'assistant','content':{'type':'text','text':'t'},'model':'m','x':1}",
             "{\"role\":\"assistant\",\"content\":{\"type\":\"text\",\"text\":\"t\"},\"model\":"
             "\"m\"}",
             "a sampling");
    answered(mem, "{'kind':'sampling'}",
             "{'role':'system','content':{'type':'text','text':'t'},'model':'m'}", "refused",
             "... of a role that there is not");
    answered(mem, "{'kind':'sampling'}",
             "{'role':'assistant','content':{'type':'tool_use'},"
             "'model':'m'}",
             "refused", "... that calls a tool");
    answered(mem, "{'kind':'roots'}", "{'roots':[{'uri':'file:///a','name':'A','x':1}]}",
             "{\"roots\":[{\"uri\":\"file:///a\",\"name\":\"A\"}]}", "roots");
    answered(mem, "{'kind':'roots'}", "{'roots':[{'uri':'https://a'}]}", "refused",
             "... that are no directories");
    json_t *kept = NULL;
    const char *key;
    ok(answers_read(mem, env_json(mem, "{'a':{'kind':'url'},'b':{'kind':'url'}}"),
                    env_json(mem, "{'a':{'action':'cancel'},'c':7}"), &kept, &key)
           == AZ_OK,
       "answers to some questions, and to none");
    is_str(jsonx_dump(mem, kept), "{\"a\":{\"action\":\"cancel\"}}", "... what was asked alone");
    ok(answers_read(mem, env_json(mem, "{'a':{'kind':'url'}}"), env_json(mem, "{'a':7}"), &kept,
                    &key)
               == AZ_INVALID
           && strcmp(key, "a") == 0,
       "an answer that is none");
    ok(answers_read(mem, env_json(mem, "{}"), json_null(), &kept, &key) == AZ_INVALID, "null");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_capabilities(mem);
    test_passes(mem);
    test_refused(mem);
    test_limits(mem);
    test_answers(mem);
    talloc_free(mem);
    return done();
}
