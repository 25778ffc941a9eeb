#include "config.h"

#include "policy/decide/details.h"

#include "env.h"
#include "tap.h"

#define PAY                                                                                        \
    "{'type':'pay','amount':50,'actions':['read','write'],'locations':['https://a','https://b']}"

/* clang-format off */
static const struct { const char *narrow, *wide, *name; } within[] = {
    {"[" PAY "]", "[" PAY "]", "the same"},
    {"[{'locations':['https://b','https://a'],'actions':['write','read'],'amount':50,'type':'pay'}]", "[" PAY "]", "the same in another order"},
    {"[]", "[" PAY "]", "no entry"},
    {"[]", "[]", "no entry of none"},
    {"[]", "null", "no entry of JSON null, which an answer of policy may have"},
    {"[{'type':'pay','amount':50,'actions':['read'],'locations':['https://a','https://b']}]", "[" PAY "]", "fewer actions"},
    {"[{'type':'pay','amount':50,'actions':['read','write'],'locations':['https://b']}]", "[" PAY "]", "fewer locations"},
    {"[{'type':'pay','amount':50,'actions':['write'],'locations':['https://a']}]", "[" PAY "]", "fewer of both"},
    {"[{'type':'a','datatypes':['x']}]", "[{'type':'a','datatypes':['x','y']}]", "fewer datatypes"},
    {"[{'type':'a','privileges':['x']}]", "[{'type':'a','privileges':['x','y']}]", "fewer privileges"},
    {"[{'type':'a','actions':['x','x']}]", "[{'type':'a','actions':['x','y']}]", "an action twice counts once"},
    {"[{'type':'a','actions':[]}]", "[{'type':'a','actions':[]}]", "an empty list is within an empty one"},
    {"[{'type':'b'}]", "[{'type':'a'},{'type':'b'}]", "fewer entries"},
    {"[{'type':'b'},{'type':'a'}]", "[{'type':'a'},{'type':'b'}]", "entries in another order"},
    {"[{'type':'a','actions':['x']},{'type':'a','actions':['x','y']}]", "[{'type':'a','actions':['x','y']},{'type':'a','actions':['x','y']}]", "two entries, each with one of its own"},
    {"[{'type':'a','actions':['x']},{'type':'a','actions':['y']}]", "[{'type':'a','actions':['x','y']},{'type':'a','actions':['x']}]", "an assignment that is not the first one tried"},
    {"[{'type':'a','actions':['x']},{'type':'a','actions':['y']},{'type':'a','actions':['z']}]", "[{'type':'a','actions':['x','y','z']},{'type':'a','actions':['x','y']},{'type':'a','actions':['x']}]", "... over three entries"},
    {"[{'type':'a','deep':{'l':[1,2]}}]", "[{'type':'a','deep':{'l':[1,2]}}]", "equal members of any kind"},
};

static const struct { const char *narrow, *wide; int64_t entry; const char *name; } outside[] = {
    {"[{'type':'a'}]", "[]", 0, "an entry where there was none"},
    {"[{'type':'b'}]", "[{'type':'a'}]", 0, "another type"},
    {"[{'type':'A'}]", "[{'type':'a'}]", 0, "a type in another case"},
    {"[{'type':'a'},{'type':'a'}]", "[{'type':'a'}]", 1, "one entry spent twice"},
    {"[{'type':'a'},{'type':'b'},{'type':'a'}]", "[{'type':'a'},{'type':'b'},{'type':'c'}]", 2, "... beside others"},
    {"[{'type':'a','actions':['x']},{'type':'a','actions':['x']}]", "[{'type':'a','actions':['x']},{'type':'a','actions':['y']}]", 1, "two entries that only one entry covers"},
    {"[{'type':'a'},{'type':'z'}]", "[{'type':'a'},{'type':'b'}]", 1, "the second entry is another one"},
    {"[{'type':'a','actions':['x','z']}]", "[{'type':'a','actions':['x','y']}]", 0, "an action more"},
    {"[{'type':'a','locations':['https://c']}]", "[{'type':'a','locations':['https://b']}]", 0, "another location"},
    {"[{'type':'a','locations':['https://b/']}]", "[{'type':'a','locations':['https://b']}]", 0, "a location with a slash: its meaning is known to the API alone"},
    {"[{'type':'a','datatypes':['x','z']}]", "[{'type':'a','datatypes':['x']}]", 0, "a datatype more"},
    {"[{'type':'a','privileges':['admin']}]", "[{'type':'a','privileges':['user']}]", 0, "another privilege"},
    {"[{'type':'a','actions':[]}]", "[{'type':'a','actions':['x']}]", 0, "an empty list may mean any"},
    {"[{'type':'a','actions':['x']}]", "[{'type':'a','actions':[]}]", 0, "an action of none"},
    {"[{'type':'a'}]", "[{'type':'a','actions':['x']}]", 0, "a restriction left out"},
    {"[{'type':'a'}]", "[{'type':'a','amount':50}]", 0, "... of any name"},
    {"[{'type':'a','actions':['x']}]", "[{'type':'a'}]", 0, "a member added"},
    {"[{'type':'a','extra':1}]", "[{'type':'a'}]", 0, "... of any name"},
    {"[{'type':'a','b':1}]", "[{'type':'a','c':1}]", 0, "a member under another name"},
    {"[{'type':'a','amount':51}]", "[{'type':'a','amount':50}]", 0, "another number"},
    {"[{'type':'a','amount':49}]", "[{'type':'a','amount':50}]", 0, "... a smaller one, too: its meaning is known to the API alone"},
    {"[{'type':'a','amount':50.0}]", "[{'type':'a','amount':50}]", 0, "... in another form"},
    {"[{'type':'a','amount':'50'}]", "[{'type':'a','amount':50}]", 0, "... as text"},
    {"[{'type':'a','to':null}]", "[{'type':'a','to':'bob'}]", 0, "null for a value"},
    {"[{'type':'a','identifier':'2'}]", "[{'type':'a','identifier':'1'}]", 0, "another identifier (RFC 9396 2.2)"},
    {"[{'type':'a','exclude':['x']}]", "[{'type':'a','exclude':['x','y']}]", 0, "fewer items of a list whose meaning is unknown"},
    {"[{'type':'a','steps':['y','x']}]", "[{'type':'a','steps':['x','y']}]", 0, "... and its order"},
    {"[{'type':'a','deep':{'actions':['x']}}]", "[{'type':'a','deep':{'actions':['x','y']}}]", 0, "fewer actions within another member"},
    {"[{'type':'a','actions':'x'}]", "[{'type':'a','actions':['x']}]", 0, "a text for a list"},
    {"[{'type':'a','actions':{'x':1}}]", "[{'type':'a','actions':['x']}]", 0, "an object for a list"},
    {"[{'type':'a','actions':['x']}]", "[{'type':'a','actions':'x'}]", 0, "a list for a text"},
    {"[{'type':'a','actions':[['x']]}]", "[{'type':'a','actions':['x']}]", 0, "a list in a list"},
    {"[{}]", "[{'type':'a'}]", 0, "an empty entry"},
    {"[null]", "[null]", 0, "an entry that is no object"},
    {"['a']", "['a']", 0, "... a text"},
    {"{'type':'a'}", "[{'type':'a'}]", 0, "an object"},
    {"[{'type':'a'}]", "{'type':'a'}", 0, "within an object"},
    {"'a'", "'a'", 0, "a text"},
    {"null", "[]", 0, "JSON null"},
};
/* clang-format on */

/* Return an array of equal entries. */
static json_t *
entries(TALLOC_CTX *mem, int count)
{
    char *text = talloc_strdup(mem, "[{'type':'a'}");
    for (int i = 1; i < count; i++)
        text = talloc_strdup_append_buffer(text, ",{'type':'a'}");
    return env_json(mem, talloc_strdup_append_buffer(text, "]"));
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    size_t entry;
    plan(0);
    for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++)
        ok(details_within(env_json(mem, within[i].narrow), env_json(mem, within[i].wide), &entry),
           "within (RFC 9396 6): %s", within[i].name);
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        entry = 77;
        ok(!details_within(env_json(mem, outside[i].narrow), env_json(mem, outside[i].wide),
                           &entry),
           "not within (RFC 9396 6): %s", outside[i].name);
        is_int((int64_t) entry, outside[i].entry, "... and the entry is named");
    }
    json_t *one = env_json(mem, "[{'type':'a'}]");
    ok(details_within(NULL, NULL, NULL), "no details are within none");
    ok(details_within(NULL, one, NULL), "... and within others");
    ok(details_within(NULL, env_json(mem, "null"), NULL), "... and within JSON null");
    ok(!details_within(one, env_json(mem, "null"), NULL), "details are not within JSON null");
    ok(!details_within(one, NULL, NULL), "details are not within none");

    json_t *most = entries(mem, DETAILS_MAX), *more = entries(mem, DETAILS_MAX + 1);
    ok(details_within(most, most, NULL), "%d entries are compared", DETAILS_MAX);
    ok(!details_within(more, more, NULL), "... %d are not", DETAILS_MAX + 1);
    ok(!details_within(one, more, NULL), "... nor is one within them");

    is_str(details_name(mem, one, 0), "authorization_details[0] of type 'a'",
           "the name of an entry");
    is_str(details_name(mem, one, 3), "authorization_details[3]", "... of one that is not there");
    is_str(details_name(mem, env_json(mem, "[5]"), 0), "authorization_details[0]",
           "... of one without a type");
    talloc_free(mem);
    return done();
}
