#include "config.h"

#include "base/json/fields.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "scarce.h"
#include "tap.h"

static const char *
no_x(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    bool found = strchr(text, 'x') != NULL || json_object_get(value, "x") != NULL;
    return found ? talloc_strdup(mem, "has an x") : NULL;
}

struct sample {
    const char *name;
    int64_t count;
    bool on;
    const json_t *list;
    json_t *any;
};

/* clang-format off */
static const struct field rows[] = {
    {"id",     FIELD_READ_ONLY,   .max = 0},
    {"mark",   FIELD_READ_ONLY,   .max = 3},
    {"name",   FIELD_TEXT,        .required = true, .max = 3, .rule = no_x, .column = "name_column", FIELD_INTO(struct sample, name)},
    {"long",   FIELD_TEXT,        .min = 2},
    {"free",   FIELD_TEXT,        .may_be_empty = true, .rule = no_x},
    {"count",  FIELD_INTEGER,     .min = 1, .max = 10, .column = "count_column", FIELD_INTO(struct sample, count)},
    {"below",  FIELD_INTEGER,     .min = -9, .max = -5},
    {"number", FIELD_INTEGER,     .column = "number_column"},
    {"on",     FIELD_BOOLEAN,     .column = "on_column", FIELD_INTO(struct sample, on)},
    {"list",   FIELD_TEXT_LIST,   .max = 6, .item_max = 3, .rule = no_x, .column = "list_column", FIELD_INTO(struct sample, list)},
    {"some",   FIELD_TEXT_LIST,   .min = 1, .may_be_empty = true},
    {"array",  FIELD_ARRAY,       .min = 2, .max = 3, .column = "array_column"},
    {"object", FIELD_OBJECT,      .rule = no_x, .column = "object_column"},
    {"any",    FIELD_ANY,         .column = "any_column", FIELD_INTO(struct sample, any)},
};

/* A text with ' for "; unless `flags` has NAMELESS, {'name':'a', … } is put around it. */
#define NAMELESS 64
#define UNKNOWN "is not a field of this object"
#define FIELDS_THERE_ARE                                                                           \
    "; the fields are name, long, free, count, below, number, on, list, some, array, object, any"
static const struct {
    const char *text;
    unsigned flags;
    const char *result; /* columns as JSON, or each fault as "path: why;" */
    const char *name;
} cases[] = {
    {"{'name':'a'}", NAMELESS, "{'name_column':'a'}", "the required field alone"},
    {"'on':false,'list':['b'],'object':{'k':1},'free':'f','count':7,'number':-1,'array':[1,{}],'any':[0]", 0,
     "{'name_column':'a','count_column':7,'number_column':-1,'on_column':false,'list_column':['b'],'array_column':[1,{}],"
     "'object_column':{'k':1},'any_column':[0]}", "all kinds; only those with a column become columns"},
    {"'on':null,'list':null,'count':null", 0, "{'name_column':'a'}", "null counts as absent"},
    {"'any':null", 0, "{'name_column':'a','any_column':null}", "but not where any value may be"},
    {"'id':{'any':1}", 0, "{'name_column':'a'}", "a read-only field is ignored"},
    {"'mark':'abc'", 0, "{'name_column':'a'}", "one with a maximum, at it"},
    {"'mark':'abcd'", 0, "mark: must have at most 3 characters;", "one past it"},
    {"'mark':''", 0, "{'name_column':'a'}", "an empty one"},
    {"{}", NAMELESS, "name: is required;", "a required field is missing"},
    {"{'name':null}", NAMELESS, "name: is required;", "a required field is null"},
    {"{'name':''}", NAMELESS, "name: must not be empty;", "an empty text"},
    {"{'name':''}", NAMELESS | FIELDS_EMPTY_IS_ABSENT, "name: is required;", "an empty text where it counts as absent"},
    {"'long':'','list':['']", FIELDS_EMPTY_IS_ABSENT, "list[0]: must not be empty;", "which an item of a list does not"},
    {"'free':'','some':['','']", 0, "{'name_column':'a'}", "texts that may be empty"},
    {"{'name':1}", NAMELESS, "name: must be a string;", "a number for a text"},
    {"{'name':'\xc3\xa9\xc3\xa9\xc3\xa9'}", NAMELESS, "{'name_column':'\xc3\xa9\xc3\xa9\xc3\xa9'}",
     "a text of the maximum in code points, twice that in octets"},
    {"{'name':'abcd'}", NAMELESS, "name: must have at most 3 characters;", "a text one longer"},
    {"'long':'ab'", 0, "{'name_column':'a'}", "a text of the minimum"},
    {"'long':'b'", 0, "long: must have at least 2 characters;", "a text one shorter"},
    {"{'name':'x'}", NAMELESS, "name: has an x;", "a text that breaks its rule"},
    {"'count':1", 0, "{'name_column':'a','count_column':1}", "the smallest integer"},
    {"'count':10", 0, "{'name_column':'a','count_column':10}", "the largest integer"},
    {"'count':0", 0, "count: must be at least 1;", "an integer below"},
    {"'count':11", 0, "count: must be at most 10;", "an integer above"},
    {"'below':-5", 0, "{'name_column':'a'}", "a range below 0"},
    {"'below':0", 0, "below: must be at most -5;", "an integer above it"},
    {"'number':9223372036854775807", 0, "{'name_column':'a','number_column':9223372036854775807}", "an integer without range"},
    {"'count':1.0", 0, "count: must be an integer;", "a real for an integer"},
    {"'count':'1'", 0, "count: must be an integer;", "a text for an integer"},
    {"'on':'true'", 0, "on: must be true or false;", "a text for a boolean"},
    {"'on':1", 0, "on: must be true or false;", "a number for a boolean"},
    {"'list':[]", 0, "{'name_column':'a','list_column':[]}", "an empty list"},
    {"'some':[]", 0, "some: must have at least 1 item;", "an empty list where there must be an item"},
    {"'list':'b'", 0, "list: must be an array of strings;", "a text for a list"},
    {"'list':['b',1,'abcd','x','']", 0,
     "list[1]: must be a string;list[2]: must have at most 3 characters;list[3]: has an x;"
     "list[4]: must not be empty;", "each bad item of a list"},
    {"'list':['1','2','3','4','5','6']", 0, "{'name_column':'a','list_column':['1','2','3','4','5','6']}", "a list of 6 items"},
    {"'list':[1,2,3,4,5,6,7]", 0, "list: must have at most 6 items;", "a list of 7, whose items are not looked at"},
    {"'array':{}", 0, "array: must be an array;", "an object for an array"},
    {"'array':[1]", 0, "array: must have at least 2 items;", "an array of 1"},
    {"'array':[1,2,3,4]", 0, "array: must have at most 3 items;", "an array of 4"},
    {"'object':[]", 0, "object: must be an object;", "an array for an object"},
    {"'object':{'x':1}", 0, "object: has an x;", "an object that breaks its rule"},
    {"'nmae':1", 0, "nmae: " UNKNOWN FIELDS_THERE_ARE ";", "a misspelt field: those that can be set are listed"},
    {"'nmae':null", 0, "nmae: " UNKNOWN FIELDS_THERE_ARE ";", "a misspelt field that is null"},
    {"'nmae':1,'idd':1", 0, "nmae: " UNKNOWN FIELDS_THERE_ARE ";idd: " UNKNOWN ";", "two: they are listed once"},
    {"'nmae':1", FIELDS_IGNORE_UNKNOWN, "{'name_column':'a'}", "a misspelt field where it is ignored"},
    {"{'on':1,'zz':1}", NAMELESS,
     "name: is required;on: must be true or false;zz: " UNKNOWN FIELDS_THERE_ARE ";", "all faults are told at once"},
    {"[]", NAMELESS, ": must be an object;", "an array for the whole"},
};
/* clang-format on */

static void
collect(void *arg, const char *path, const char *why)
{
    char **text = arg;
    *text = talloc_asprintf_append(*text, "%s: %s;", path, why);
}

static char *
with_quotes(char *text)
{
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return text;
}

static json_t *
parse(TALLOC_CTX *mem, const char *text, unsigned flags)
{
    json_t *object = NULL;
    char *whole =
        with_quotes(talloc_asprintf(mem, flags & NAMELESS ? "%s" : "{'name':'a',%s}", text));
    jsonx_parse(mem, whole, strlen(whole), 8, &object, NULL);
    return object;
}

static void
test_cases(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sample sample = {.name = NULL};
        unsigned flags = cases[i].flags & ~(unsigned) NAMELESS;
        json_t *object = parse(mem, cases[i].text, cases[i].flags), *columns = NULL;
        char *faults = talloc_strdup(mem, "");
        enum az_status status =
            fields_read(mem, FIELDS(rows, flags), object, collect, &faults, &sample, &columns);
        is_str(status == AZ_OK ? jsonx_dump(mem, columns) : faults,
               with_quotes(talloc_strdup(mem, cases[i].result)), "%s", cases[i].name);
        ok((status == AZ_OK) == (columns != NULL) && (status == AZ_OK) == (*faults == '\0')
               && (status == AZ_OK || status == AZ_INVALID),
           "... with the outcome that says so");
        is_int(fields_read(mem, FIELDS(rows, flags), object, NULL, NULL, NULL, NULL), status,
               "... the same without a listener, a target or columns");
    }
}

static void
test_targets(TALLOC_CTX *mem)
{
    struct sample sample = {.name = NULL}, kept = {.count = 99, .on = true, .any = NULL};
    json_t *object = parse(mem, "'count':7,'on':true,'list':['a'],'any':null", 0);
    fields_read(mem, FIELDS(rows, 0), object, NULL, NULL, &sample, NULL);
    is_str(sample.name, "a", "target: a text");
    is_int(sample.count, 7, "target: an integer");
    ok(sample.on, "target: a boolean");
    ok(sample.list == json_object_get(object, "list"), "target: a list");
    ok(json_is_null(sample.any), "target: null where any value may be");
    fields_read(mem, FIELDS(rows, 0), parse(mem, "'list':null", 0), NULL, NULL, &kept, NULL);
    ok(kept.count == 99 && kept.on && kept.list == NULL && kept.any == NULL,
       "target: absent fields leave theirs as they were");
    fields_read(mem, FIELDS(rows, 0), parse(mem, "'count':11", 0), NULL, NULL, &kept, NULL);
    is_int(kept.count, 99, "target: so do faulty ones");
}

/* All columns, or none and AZ_SERVER_ERROR. */
static enum scarce_outcome
read_once(TALLOC_CTX *mem, void *arg)
{
    json_t *columns = NULL;
    enum az_status st = fields_read(mem, FIELDS(rows, 0), arg, NULL, NULL, NULL, &columns);
    if (st == AZ_OK)
        return json_object_size(columns) == 4 ? SCARCE_WHOLE : SCARCE_WRONG;
    return st == AZ_SERVER_ERROR && columns == NULL ? SCARCE_FAILED : SCARCE_WRONG;
}

static void
test_out_of_memory(TALLOC_CTX *mem)
{
    json_t *object = parse(mem, "'count':7,'on':true,'list':['a']", 0);
    struct scarce_count count = scarce_jansson(read_once, object);
    scarce_is_seen(&count, "an object without memory");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_cases(mem);
    test_targets(mem);
    test_out_of_memory(mem);
    talloc_free(mem);
    return done();
}
