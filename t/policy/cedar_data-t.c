#include "config.h"

#include "policy/rows/cedar_data.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "tap.h"

#define USER(id, more) "{'uid':{'type':'User','id':'" id "'}" more "}"
#define PARENT(type, id) "{'type':'" type "','id':'" id "'}"
#define GROUP(id, parents) "{'uid':{'type':'Group','id':'" id "'},'parents':[" parents "]}"

/* Return JSON with the quotes as JSON has them. */
static char *
quoted(TALLOC_CTX *mem, const char *text)
{
    char *copy = talloc_strdup(mem, text);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

/* clang-format off */
static const struct { const char *row, *united, *name; } taken[] = {
    {"[]", "{}", "no entity"},
    {"[" USER("a", "") "]", "{'User::\\'a':{'attrs':{},'tags':{},'anc':{}}}", "an entity alone"},
    {"[" USER("a", ",'attrs':{'s':['b','a','b'],'n':-1},'tags':{'t':true}") "]",
     "{'User::\\'a':{'attrs':{'n':-1,'s':['a','b']},'tags':{'t':true},'anc':{}}}", "sets are sorted, each member once"},
    {"[" USER("a", ",'attrs':{'d':{'__extn':{'fn':'decimal','arg':'1.5'}}}") "]",
     "{'User::\\'a':{'attrs':{'d':{'__extn':{'fn':'decimal','v':15000}}},'tags':{},'anc':{}}}", "extension values are parsed"},
    {"[" USER("a", ",'attrs':{'o':{'__entity':{'type':'A::B','id':''}}}") "]",
     "{'User::\\'a':{'attrs':{'o':{'__entity':{'id':'','type':'A::B'}}},'tags':{},'anc':{}}}", "an attribute is an entity"},
    {"[" USER("a", ",'parents':[" PARENT("Group", "x") "]") "," GROUP("x", PARENT("Group", "y")) "]",
     "{'Group::\\'x':{'attrs':{},'tags':{},'anc':{'Group::\\'y':true}},'User::\\'a':{'attrs':{},'tags':{},'anc':{'Group::\\'x':true,'Group::\\'y':true}}}",
     "parents of parents are ancestors; one that is in no row is an ancestor too"},
    {"[" GROUP("x", PARENT("Group", "z") "," PARENT("Group", "y")) "," GROUP("y", PARENT("Group", "z")) "," GROUP("z", "") "]",
     "{'Group::\\'x':{'attrs':{},'tags':{},'anc':{'Group::\\'y':true,'Group::\\'z':true}},'Group::\\'y':{'attrs':{},'tags':{},'anc':{'Group::\\'z':true}},'Group::\\'z':{'attrs':{},'tags':{},'anc':{}}}",
     "two ways to one ancestor are no cycle"},
};

static const struct { const char *row, *path, *message, *name; } refused[] = {
    {"{}", "", "must be a list of entities", "an object"},
    {"null", "", "must be a list of entities", "null"},
    {"[1]", "/0", "is not an object", "a number in place of an entity"},
    {"[{}]", "/0", "an entity is an object with the strings `type` and `id`", "an entity without uid"},
    {"[{'uid':'User::a'}]", "/0", "an entity is an object with the strings `type` and `id`", "a uid as text"},
    {"[" USER("a", "") "," USER("b", ",'attr':{}") "]", "/1", "has a member other than uid, attrs, parents and tags", "a misspelt member"},
    {"[" USER("a", ",'attrs':{'x':1.5}") "]", "/0", "a number is a Long, a whole number of 64 bits", "a fraction"},
    {"[" USER("a", ",'attrs':{'x':1.0}") "]", "/0", "a number is a Long, a whole number of 64 bits", "a fraction of 0"},
    {"[" USER("a", ",'attrs':{'x':9223372036854775808}") "]", "/0", "a number is a Long, a whole number of 64 bits", "one past the largest Long"},
    {"[" USER("a", ",'attrs':{'x':[null]}") "]", "/0", "Cedar has no null", "null"},
    {"[" USER("a", ",'attrs':{'x':{'__extn':{'fn':'ip','arg':'10.0.0.256'}}}") "]", "/0", "`ip` has no value for its argument 10.0.0.256", "a bad address"},
    {"[" USER("a", ",'attrs':{'x':{'__extn':{'fn':'ip','v':'40a000001/008'}}}") "]", "/0", "`__extn` is an object with `fn`, the name of a function of Cedar, and `arg`", "an extension value in the form of the bundle"},
    {"[" USER("a", ",'tags':[]") "]", "/0", "`tags` is an object", "tags in a list"},
    {"[" USER("a", ",'parents':{}") "]", "/0", "`parents` is a list", "parents in an object"},
    {"[{'uid':{'type':'a b','id':'x'}}]", "/0/uid", "the type of an entity is a name as A::B", "a type that is no name"},
    {"[{'uid':{'type':'A:B','id':'x'}}]", "/0/uid", "the type of an entity is a name as A::B", "... with one colon"},
    {"[{'uid':{'type':'A::','id':'x'}}]", "/0/uid", "the type of an entity is a name as A::B", "... that ends with colons"},
    {"[{'uid':{'type':'A::1','id':'x'}}]", "/0/uid", "the type of an entity is a name as A::B", "... with a digit first"},
    {"[" USER("a", ",'parents':[" PARENT("urn:x", "y") "]") "]", "/0/parents", "the type of an entity is a name as A::B", "... of a parent"},
    {"[" USER("a", "") "," USER("b", "") "," USER("a", "") "]", "/0/uid", "User::'a' is also in svc.cedar_data.row/2", "an entity twice"},
    {"[" USER("bob", "") "]", "/0/uid", "User::'bob' is also in svc.cedar_data.other/0", "an entity of another row"},
    {"[" GROUP("x", PARENT("Group", "x")) "]", "/0/parents", "is a cycle: Group::'x' in Group::'x'", "its own parent"},
    {"[" GROUP("p", PARENT("Group", "q")) "," GROUP("q", PARENT("Group", "r")) "," GROUP("r", PARENT("Group", "p")) "]", "/2/parents", "is a cycle: Group::'p' in Group::'q' in Group::'r' in Group::'p'", "a cycle of three"},
    {"[" GROUP("a", PARENT("User", "bob")) "]", "/0/parents", "is a cycle: Group::'a' in User::'bob' in Group::'a'", "a cycle through another row"},
};
/* clang-format on */

static enum az_status
unite(TALLOC_CTX *mem, const char *text, char **ret_text, json_t **ret_failures)
{
    const struct cedar_data_row rows[] = {
        {"svc.cedar_data.row", quoted(mem,               text)         },
        { "svc.cedar_data.other",
         quoted(mem, "[" USER("bob", ",'parents':[" PARENT("Group", "a") "]") "]")},
    };
    return cedar_data_unite(mem, rows, 2, rows[0].data_key, ret_text, ret_failures);
}

static void
test_taken(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
        const struct cedar_data_row row = {"svc.cedar_data.row", quoted(mem, taken[i].row)};
        char *text = NULL, *wanted = talloc_strdup(mem, "");
        json_t *failures = NULL;
        ok(cedar_data_unite(mem, &row, 1, row.data_key, &text, &failures) == AZ_OK, "taken: %s",
           taken[i].name);
        /* \' is an escaped quote of JSON, and newlines are no part of the value. */
        for (const char *c = taken[i].united; *c != '\0'; c++)
            wanted = talloc_asprintf_append(wanted, "%c", *c == '\'' ? '"' : *c);
        json_t *seen = NULL, *value = NULL;
        ok(text != NULL && jsonx_parse(mem, text, strlen(text), 32, &seen, NULL) == AZ_OK
               && jsonx_parse(mem, wanted, strlen(wanted), 32, &value, NULL) == AZ_OK
               && json_equal(seen, value),
           "... as it must be: %s", taken[i].name);
    }
}

/* True if the failures have the place with the message. */
static bool
has_failure(TALLOC_CTX *mem, const json_t *failures, const char *path, const char *message)
{
    size_t i;
    const json_t *failure;
    json_array_foreach (failures, i, failure)
        if (strcmp(json_string_value(json_object_get(failure, "path")), path) == 0
            && strcmp(json_string_value(json_object_get(failure, "message")), quoted(mem, message))
                   == 0)
            return true;
    return false;
}

static void
test_refused(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        char *text = NULL;
        json_t *failures = NULL;
        ok(unite(mem, refused[i].row, &text, &failures) == AZ_INVALID && text == NULL,
           "refused: %s", refused[i].name);
        ok(has_failure(mem, failures, refused[i].path, refused[i].message),
           "... with place and reason: %s (%s)", refused[i].name, jsonx_dump(mem, failures));
    }
}

/* Return a chain of groups, each the parent of the one before; the last is in no row. */
static char *
make_chain(TALLOC_CTX *mem, int length)
{
    char *text = talloc_strdup(mem, "[");
    for (int i = 0; i < length; i++)
        text = talloc_asprintf_append_buffer(text,
                                             "%s{\"uid\":{\"type\":\"G\",\"id\":\"%d\"},"
                                             "\"parents\":[{\"type\":\"G\",\"id\":\"%d\"}]}",
                                             i > 0 ? "," : "", i, i + 1);
    return talloc_strdup_append_buffer(text, "]");
}

/* A chain of n has n (n + 1) / 2 ancestors: 998,991 of 1,413 groups. */
static void
test_limit(TALLOC_CTX *mem)
{
    const int most = 1413;
    for (int length = most; length <= most + 1; length++) {
        const struct cedar_data_row row = {"svc.cedar_data.row", make_chain(mem, length)};
        char *text = NULL;
        json_t *failures = NULL;
        enum az_status st = cedar_data_unite(mem, &row, 1, row.data_key, &text, &failures);
        ok(st == (length == most ? AZ_OK : AZ_INVALID), "a chain of %d groups is %s", length,
           length == most ? "taken" : "refused: more than 1,000,000 ancestors");
        ok(length == most
               || has_failure(mem, failures, "",
                              "the entities together have more than 1000000 ancestors"),
           "... with the reason");
    }
}

static void
test_keys(void)
{
    static const char *const held[] = {"svc.cedar_data.people", "svc.cedar_data.a-1",
                                       "svc.cedar_data.entities"},
                             *const others[] = {"svc.cedar_data",      "svc.cedar_data.types",
                                                "svc.cedar_data.a.b",  "svc.cedar_dataa.b",
                                                "custom.cedar_data.a", "svc.cedar.policies"};
    for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++)
        ok(cedar_data_holds_entities(held[i]), "%s holds entities", held[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ok(!cedar_data_holds_entities(others[i]), "%s does not", others[i]);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_keys();
    test_taken(mem);
    test_refused(mem);
    test_limit(mem);
    talloc_free(mem);
    return done();
}
