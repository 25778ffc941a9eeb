#include "config.h"

#include "base/json_patch.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define DEPTH 8

/* A result, or the status of a refusal. */
struct patch_case {
    const char *target, *patch, *result;
    enum az_status status;
    const char *name;
};

/* clang-format off */

/* RFC 6902 appendix A, in its order; A.11's member is ignored, A.13 is refused by the parser. */
static const struct patch_case published[] = {
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux'}]", "{'foo':'bar','baz':'qux'}", AZ_OK, "A.1 adding an object member"},
    {"{'foo':['bar','baz']}", "[{'op':'add','path':'/foo/1','value':'qux'}]", "{'foo':['bar','qux','baz']}", AZ_OK, "A.2 adding an array element"},
    {"{'baz':'qux','foo':'bar'}", "[{'op':'remove','path':'/baz'}]", "{'foo':'bar'}", AZ_OK, "A.3 removing an object member"},
    {"{'foo':['bar','qux','baz']}", "[{'op':'remove','path':'/foo/1'}]", "{'foo':['bar','baz']}", AZ_OK, "A.4 removing an array element"},
    {"{'baz':'qux','foo':'bar'}", "[{'op':'replace','path':'/baz','value':'boo'}]", "{'baz':'boo','foo':'bar'}", AZ_OK, "A.5 replacing a value"},
    {"{'foo':{'bar':'baz','waldo':'fred'},'qux':{'corge':'grault'}}", "[{'op':'move','from':'/foo/waldo','path':'/qux/thud'}]", "{'foo':{'bar':'baz'},'qux':{'corge':'grault','thud':'fred'}}", AZ_OK, "A.6 moving a value"},
    {"{'foo':['all','grass','cows','eat']}", "[{'op':'move','from':'/foo/1','path':'/foo/3'}]", "{'foo':['all','cows','eat','grass']}", AZ_OK, "A.7 moving an array element"},
    {"{'baz':'qux','foo':['a',2,'c']}", "[{'op':'test','path':'/baz','value':'qux'},{'op':'test','path':'/foo/1','value':2}]", "{'baz':'qux','foo':['a',2,'c']}", AZ_OK, "A.8 testing a value: success"},
    {"{'baz':'qux'}", "[{'op':'test','path':'/baz','value':'bar'}]", NULL, AZ_CONFLICT, "A.9 testing a value: error"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/child','value':{'grandchild':{}}}]", "{'foo':'bar','child':{'grandchild':{}}}", AZ_OK, "A.10 adding a nested member object"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz','value':'qux','xyz':123}]", "{'foo':'bar','baz':'qux'}", AZ_OK, "A.11 ignoring unrecognized elements"},
    {"{'foo':'bar'}", "[{'op':'add','path':'/baz/bat','value':'qux'}]", NULL, AZ_INVALID, "A.12 adding to a nonexistent target"},
    {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':10}]", "{'/':9,'~1':10}", AZ_OK, "A.14 ~ escape ordering"},
    {"{'/':9,'~1':10}", "[{'op':'test','path':'/~01','value':'10'}]", NULL, AZ_CONFLICT, "A.15 comparing strings and numbers"},
    {"{'foo':['bar']}", "[{'op':'add','path':'/foo/-','value':['abc','def']}]", "{'foo':['bar',['abc','def']]}", AZ_OK, "A.16 adding an array value"},
};

#define POINTED "{'foo':['bar','baz'],'':0,'a/b':1,'c%d':2,'e^f':3,'g|h':4,'k':5,' ':7,'m~n':8}"

static const struct patch_case cases[] = {
    /* pointers: RFC 6901 sections 3 to 5 */
    {POINTED, "[{'op':'test','path':'/foo/0','value':'bar'},{'op':'test','path':'/','value':0},{'op':'test','path':'/a~1b','value':1},{'op':'test','path':'/c%d','value':2},{'op':'test','path':'/e^f','value':3},{'op':'test','path':'/g|h','value':4},{'op':'test','path':'/ ','value':7},{'op':'test','path':'/m~0n','value':8}]", POINTED, AZ_OK, "RFC 6901 5: the pointers of its example"},
    {"[1]", "[{'op':'test','path':'','value':[1]}]", "[1]", AZ_OK, "RFC 6901 5: the empty pointer is the whole document"},
    {"{'a':{'':{'':1}}}", "[{'op':'replace','path':'/a//','value':2}]", "{'a':{'':{'':2}}}", AZ_OK, "RFC 6901 5: empty tokens are names"},
    {"{'a':1}", "[{'op':'replace','path':'a','value':2}]", NULL, AZ_INVALID, "RFC 6901 3: a pointer begins with a slash"},
    {"{'a~':1}", "[{'op':'replace','path':'/a~','value':2}]", NULL, AZ_INVALID, "RFC 6901 3: a ~ at the end"},
    {"{'a~2':1}", "[{'op':'replace','path':'/a~2','value':2}]", NULL, AZ_INVALID, "RFC 6901 3: a ~ before another character"},
    {"{'a~':{'b':1}}", "[{'op':'replace','path':'/a~/b','value':2}]", NULL, AZ_INVALID, "RFC 6901 3: a ~ before the next token"},
    {"[1,2]", "[{'op':'replace','path':'/01','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an index with a leading zero"},
    {"[1,2]", "[{'op':'replace','path':'/1e0','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an index that is no row of digits"},
    {"[1,2]", "[{'op':'replace','path':'/-1','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an index with a sign"},
    {"[1,2]", "[{'op':'replace','path':'/','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an empty index"},
    {"[1,2]", "[{'op':'add','path':'/4294967296','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an index of 33 bits is not 0"},
    {"[1,2]", "[{'op':'add','path':'/18446744073709551616','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: an index of 65 bits is not 0"},
    {"{'a':'x'}", "[{'op':'add','path':'/a/b','value':3}]", NULL, AZ_INVALID, "RFC 6901 4: nothing is below a scalar"},

    /* add: RFC 6902 4.1 */
    {"{'a':1,'b':2}", "[{'op':'add','path':'/a','value':null}]", "{'a':null,'b':2}", AZ_OK, "4.1 add replaces a member, null too"},
    {"[1,2]", "[{'op':'add','path':'/2','value':3}]", "[1,2,3]", AZ_OK, "4.1 add at the length of the array"},
    {"[1,2]", "[{'op':'add','path':'/3','value':3}]", NULL, AZ_INVALID, "4.1 add one past it"},
    {"[1,2]", "[{'op':'add','path':'/0','value':0}]", "[0,1,2]", AZ_OK, "4.1 add at the beginning"},
    {"{'a':1}", "[{'op':'add','path':'','value':[1]}]", "[1]", AZ_OK, "4.1 add at the root replaces the document"},
    {"{}", "[{'op':'add','path':'/-','value':1}]", "{'-':1}", AZ_OK, "4.1 - is a name in an object"},
    {"[]", "[{'op':'add','path':'/-/-','value':1}]", NULL, AZ_INVALID, "4.1 nothing is below -"},
    {"{}", "[{'op':'add','path':'/a'}]", NULL, AZ_INVALID, "4.1 add without value"},
    /* remove: 4.2 */
    {"{}", "[{'op':'remove','path':'/a'}]", NULL, AZ_INVALID, "4.2 remove what is not there"},
    {"[1]", "[{'op':'remove','path':'/1'}]", NULL, AZ_INVALID, "4.2 remove past the end"},
    {"[1]", "[{'op':'remove','path':'/-'}]", NULL, AZ_INVALID, "4.2 remove at -"},
    {"{}", "[{'op':'remove','path':''}]", NULL, AZ_INVALID, "4.2 the document itself cannot be removed"},
    {"[1,2,3,4]", "[{'op':'remove','path':'/1'},{'op':'remove','path':'/2'}]", "[1,3]", AZ_OK, "3 operations see what those before did"},
    /* replace: 4.3 */
    {"{}", "[{'op':'replace','path':'/a','value':1}]", NULL, AZ_INVALID, "4.3 replace what is not there"},
    {"[1]", "[{'op':'replace','path':'/1','value':1}]", NULL, AZ_INVALID, "4.3 replace at the length of the array"},
    {"[1]", "[{'op':'replace','path':'/-','value':1}]", NULL, AZ_INVALID, "4.3 replace at -"},
    {"[1,2]", "[{'op':'replace','path':'/0','value':[3]}]", "[[3],2]", AZ_OK, "4.3 replace an element"},
    {"{'a':1}", "[{'op':'replace','path':'','value':'x'}]", "'x'", AZ_OK, "4.3 replace the document"},
    /* move: 4.4 */
    {"{'a':1}", "[{'op':'move','from':'/a','path':'/a'}]", "{'a':1}", AZ_OK, "4.4 move to where it is"},
    {"{'a':{'b':1}}", "[{'op':'move','from':'/a','path':'/a/b'}]", NULL, AZ_INVALID, "4.4 move into itself"},
    {"{'a':{'b':1},'ab':{}}", "[{'op':'move','from':'/a','path':'/ab/c'}]", "{'ab':{'c':{'b':1}}}", AZ_OK, "4.4 a name that begins alike is not inside"},
    {"{'a':1}", "[{'op':'move','from':'/b','path':'/c'}]", NULL, AZ_INVALID, "4.4 move what is not there"},
    {"{'a':1}", "[{'op':'move','from':'','path':'/c'}]", NULL, AZ_INVALID, "4.4 move the document"},
    {"{'a':{'b':1}}", "[{'op':'move','from':'/a/b','path':''}]", "1", AZ_OK, "4.4 move over the document"},
    {"[[1],2]", "[{'op':'move','from':'/1','path':'/1/0'}]", NULL, AZ_INVALID, "4.4 move an element below itself"},
    {"{'a':1,'b':2}", "[{'op':'move','from':'/a','path':'/b'}]", "{'b':1}", AZ_OK, "4.4 move over a member"},
    {"{'a':1}", "[{'op':'move','path':'/b'}]", NULL, AZ_INVALID, "4.4 move without from"},
    {"{'a':1,'b':[]}", "[{'op':'move','from':'/a','path':'/b/1'}]", NULL, AZ_INVALID, "4.4 move to no place"},
    /* copy: 4.5 */
    {"{'a':{'b':1}}", "[{'op':'copy','from':'/a','path':'/a/c'},{'op':'replace','path':'/a/b','value':2}]", "{'a':{'b':2,'c':{'b':1}}}", AZ_OK, "4.5 a copy is a value of its own"},
    {"{'a':1}", "[{'op':'copy','from':'/b','path':'/c'}]", NULL, AZ_INVALID, "4.5 copy what is not there"},
    {"{'a':1}", "[{'op':'copy','from':'/a','path':'/b/c'}]", NULL, AZ_INVALID, "4.5 copy to no place"},
    {"{'a':1}", "[{'op':'copy','path':'/b'}]", NULL, AZ_INVALID, "4.5 copy without from"},
    /* test: 4.6 */
    {"{'a':{'x':[1,null,true],'y':'z'}}", "[{'op':'test','path':'/a','value':{'y':'z','x':[1,null,true]}}]", "{'a':{'x':[1,null,true],'y':'z'}}", AZ_OK, "4.6 members in any order"},
    {"[1,2]", "[{'op':'test','path':'','value':[2,1]}]", NULL, AZ_CONFLICT, "4.6 elements in their order"},
    {"[1,2]", "[{'op':'test','path':'','value':[1]}]", NULL, AZ_CONFLICT, "4.6 fewer elements"},
    {"{'a':1,'b':2}", "[{'op':'test','path':'','value':{'a':1,'c':2}}]", NULL, AZ_CONFLICT, "4.6 other members"},
    {"{'a':1}", "[{'op':'test','path':'/a','value':1.0}]", "{'a':1}", AZ_OK, "4.6 numbers are compared by value"},
    {"{'a':9007199254740993}", "[{'op':'test','path':'/a','value':9007199254740992.0}]", NULL, AZ_CONFLICT, "4.6 ... not by what a double holds of them"},
    {"{'a':9223372036854775807}", "[{'op':'test','path':'/a','value':9.3e18}]", NULL, AZ_CONFLICT, "4.6 ... also beyond 64 bits"},
    {"{'a':1}", "[{'op':'test','path':'/a','value':1.5}]", NULL, AZ_CONFLICT, "4.6 ... a fraction counts"},
    {"{'a':1}", "[{'op':'test','path':'/a','value':true}]", NULL, AZ_CONFLICT, "4.6 true is not 1"},
    {"{'a':null}", "[{'op':'test','path':'/a','value':null}]", "{'a':null}", AZ_OK, "4.6 null is a value"},
    {"{}", "[{'op':'test','path':'/a','value':null}]", NULL, AZ_CONFLICT, "4.6 what is not there is not null"},
    {"{}", "[{'op':'test','path':'/a/b','value':null}]", NULL, AZ_CONFLICT, "4.6 ... nor below that"},
    {"{'a':null}", "[{'op':'test','path':'/a'}]", NULL, AZ_INVALID, "4.6 test without value"},
    /* form: 3, 4, 5 */
    {"{}", "[]", "{}", AZ_OK, "3 no operation changes nothing"},
    {"{}", "{'op':'add','path':'/a','value':1}", NULL, AZ_INVALID, "3 a patch is an array"},
    {"{}", "[1]", NULL, AZ_INVALID, "3 of objects"},
    {"{}", "[{'path':'/a','value':1}]", NULL, AZ_INVALID, "4 without op"},
    {"{}", "[{'op':'Add','path':'/a','value':1}]", NULL, AZ_INVALID, "4 with another op"},
    {"{}", "[{'op':1,'path':'/a','value':1}]", NULL, AZ_INVALID, "4 with an op that is no string"},
    {"{}", "[{'op':'add','value':1}]", NULL, AZ_INVALID, "4 without path"},
    {"{}", "[{'op':'add','path':1,'value':1}]", NULL, AZ_INVALID, "4 with a path that is no string"},
    {"{'a':1}", "[{'op':'copy','from':1,'path':'/b'}]", NULL, AZ_INVALID, "4 with a from that is no string"},
    {"{'a':1}", "[{'op':'replace','path':'/a','value':2},{'op':'test','path':'/a','value':3}]", NULL, AZ_CONFLICT, "5 all or none"},
    {"{'a':1}", "[{'op':'test','path':'/a','value':3},{'op':'spam'}]", NULL, AZ_CONFLICT, "5 the first failure ends it"},

    /* the bound on depth, 8 here */
    {"{'a':[[[[[[1]]]]]]}", "[{'op':'add','path':'/a/0/0/0/0/0/0','value':[]}]", "{'a':[[[[[[[],1]]]]]]}", AZ_OK, "depth: at the bound"},
    {"{'a':[[[[[[1]]]]]]}", "[{'op':'add','path':'/a/0/0/0/0/0/0','value':[[]]}]", NULL, AZ_INVALID, "depth: one past it by add"},
    {"{'a':[[[[[[1]]]]]]}", "[{'op':'replace','path':'/a/0/0/0/0/0/0','value':[[]]}]", NULL, AZ_INVALID, "depth: by replace"},
    {"{'a':[[[[[[1]]]]]],'b':[[[]]]}", "[{'op':'move','from':'/b','path':'/a/0/0/0/0/-'}]", NULL, AZ_INVALID, "depth: by move"},
    {"{'a':[[[[1]]]]}", "[{'op':'copy','from':'','path':'/a/0/0/0/-'}]", NULL, AZ_INVALID, "depth: by copy"},
};
/* clang-format on */

/* JSON with ' for ", so that the tables can be read. */
static json_t *
read_json(TALLOC_CTX *mem, const char *text)
{
    char *copy = talloc_strdup(mem, text);
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    return json_loads(copy, JSON_DECODE_ANY, NULL);
}

static char *
write_json(const json_t *value)
{
    return json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
}

static void
test_case(const struct patch_case *test)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *target = read_json(mem, test->target), *patch = read_json(mem, test->patch),
           *result = NULL, *wanted = test->result != NULL ? read_json(mem, test->result) : NULL;
    const char *why = NULL;
    char *before = write_json(target), *patch_before = write_json(patch);
    enum az_status st = json_patch(mem, target, patch, DEPTH, &result, &why);
    char *after = write_json(target), *patch_after = write_json(patch);
    ok(st == test->status && (st == AZ_OK ? json_equal(result, wanted) : result == NULL && why),
       "RFC 6902 %s", test->name);
    ok(strcmp(before, after) == 0 && strcmp(patch_before, patch_after) == 0,
       "... target and patch are left as they were");
    free(before);
    free(after);
    free(patch_before);
    free(patch_after);
    json_decref(target);
    json_decref(patch);
    json_decref(wanted);
    talloc_free(mem);
}

static enum az_status
run(json_t *target, json_t *patch)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *result = NULL;
    const char *why;
    enum az_status st = json_patch(mem, target, patch, DEPTH, &result, &why);
    talloc_free(mem);
    json_decref(target);
    json_decref(patch);
    return st;
}

/* `count` times the same operation. */
static json_t *
repeat(size_t count, json_t *operation)
{
    json_t *patch = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append(patch, operation);
    json_decref(operation);
    return patch;
}

static void
test_limits(void)
{
    json_t *add = json_pack("{s:s,s:s,s:i}", "op", "add", "path", "/-", "value", 1);
    ok(run(json_array(), repeat(JSON_PATCH_OPERATIONS_MAX, json_incref(add))) == AZ_OK,
       "limit: 1000 operations are done");
    ok(run(json_array(), repeat(JSON_PATCH_OPERATIONS_MAX + 1, add)) == AZ_INVALID,
       "limit: 1001 are refused");

    /* The text weighs itself and 8, so that eight copies are the limit. */
    char *text = malloc(JSON_PATCH_COPIED_MAX / 8 + 1);
    memset(text, 'x', JSON_PATCH_COPIED_MAX / 8 + 1);
    for (size_t over = 0; over <= 1; over++) {
        json_t *copy = json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/0", "path", "/-");
        json_t *target = json_pack("[o]", json_stringn(text, JSON_PATCH_COPIED_MAX / 8 - 8 + over));
        ok(run(target, repeat(8, copy)) == (over ? AZ_INVALID : AZ_OK),
           over ? "limit: one octet in each of 8 past what may be copied is refused"
                : "limit: 8 MiB may be copied");
    }
    free(text);

    /* The array counts too. */
    for (size_t over = 0; over <= 1; over++) {
        json_t *target =
            json_pack("{s:o}", "a", repeat(JSON_PATCH_PUT_MAX / 512 - 1 + over, json_integer(1)));
        json_t *move = json_pack("{s:s,s:s,s:s}", "op", "move", "from", "/a", "path", "/b");
        json_t *back = json_pack("{s:s,s:s,s:s}", "op", "move", "from", "/b", "path", "/a");
        json_t *patch = json_array();
        for (size_t i = 0; i < 512; i++)
            json_array_append(patch, i % 2 == 0 ? move : back);
        json_decref(move);
        json_decref(back);
        ok(run(target, patch) == (over ? AZ_INVALID : AZ_OK),
           over ? "limit: one value more in each of 512 moves is refused"
                : "limit: 16777216 values may be moved");
    }

    json_t *target = json_pack("{s:[]}", "a");
    json_t *bomb =
        repeat(500, json_pack("{s:s,s:s,s:s}", "op", "copy", "from", "/a", "path", "/a/-"));
    ok(run(target, bomb) == AZ_INVALID, "limit: a patch that doubles the document is refused");
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
        test_case(&published[i]);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        test_case(&cases[i]);
    test_limits();
    return done();
}
