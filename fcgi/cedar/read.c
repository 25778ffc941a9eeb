#include "config.h"

#include "cedar/read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cedar/function.h"
#include "cedar/parser.h"

static bool read_json_value(struct cedar_reader *reader, const struct cedar_json *json,
                            struct cedar_value *ret);

/* Record the first reason. */
static bool __attribute__((format(printf, 2, 3)))
refuse_value(struct cedar_reader *reader, const char *format, ...)
{
    va_list arguments;
    if (*reader->why != '\0')
        return false;
    va_start(arguments, format);
    utf8_vprint(reader->why, sizeof(reader->why), format, arguments);
    va_end(arguments);
    return false;
}

/* Read {"type", "id"}, alone or in {"__entity": ...}. */
static bool
read_uid(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_uid *ret)
{
    const struct cedar_json *inner = json != NULL ? cedar_json_get(json, "__entity") : NULL;
    if (inner != NULL && json->count == 1)
        json = inner;
    const struct cedar_json *type = json != NULL ? cedar_json_get(json, "type") : NULL,
                            *id = json != NULL ? cedar_json_get(json, "id") : NULL;
    if (type == NULL || id == NULL || json->count != 2 || type->kind != CEDAR_JSON_STRING
        || id->kind != CEDAR_JSON_STRING)
        return refuse_value(reader, "an entity is an object with the strings `type` and `id`");
    /* A quote in a type would make two entities alike in the keys of cedar/rego_input.h. */
    if (type->text.length == 0 || memchr(type->text.at, '"', type->text.length) != NULL)
        return refuse_value(reader, "the type of an entity is a name as A::B");
    *ret = (struct cedar_uid){type->text, id->text};
    return true;
}

/* Read the members of an object as a record. */
static bool
read_record(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    struct cedar_value *member = talloc_array(reader->mem, struct cedar_value, json->count);
    struct cedar_text *name = talloc_array(reader->mem, struct cedar_text, json->count);
    if (member == NULL || name == NULL)
        return refuse_value(reader, "out of memory");
    for (size_t i = 0; i < json->count; i++) {
        name[i] = json->name[i];
        if (!read_json_value(reader, &json->child[i], &member[i]))
            return false;
    }
    return cedar_record(name, member, json->count, ret)
           || refuse_value(reader, "a record has a member twice");
}

static bool
read_set(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    struct cedar_value *member = talloc_array(reader->mem, struct cedar_value, json->count);
    if (member == NULL)
        return refuse_value(reader, "out of memory");
    for (size_t i = 0; i < json->count; i++)
        if (!read_json_value(reader, &json->child[i], &member[i]))
            return false;
    *ret = cedar_set(member, json->count);
    return true;
}

/* Read {"fn", "arg"} or {"fn", "args": [...]}: the value of a call. */
static bool
read_extension(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    const struct cedar_json *fn = cedar_json_get(json, "fn"), *arg = cedar_json_get(json, "arg"),
                            *args = cedar_json_get(json, "args");
    const struct cedar_function *function =
        fn != NULL && fn->kind == CEDAR_JSON_STRING ? cedar_function_find(fn->text) : NULL;
    const struct cedar_entities none = {NULL, 0};
    struct cedar_value value;
    if (function == NULL || json->count != 2 || (arg == NULL) == (args == NULL)
        || (args != NULL && args->kind != CEDAR_JSON_ARRAY))
        return refuse_value(reader, "`__extn` is an object with `fn`, the name of a function of "
                                    "Cedar, and `arg`");
    size_t count = args != NULL ? args->count : 1;
    struct cedar_value *argument = talloc_array(reader->mem, struct cedar_value, count);
    if (argument == NULL)
        return refuse_value(reader, "out of memory");
    for (size_t i = 0; i < count; i++)
        if (!read_json_value(reader, args != NULL ? &args->child[i] : arg, &argument[i]))
            return false;
    if (count < function->minimum || count > function->maximum
        || !function->call(&none, argument, count, &value))
        return refuse_value(reader, "`%s` has no value for its argument%s%.*s", function->name,
                            arg != NULL && arg->kind == CEDAR_JSON_STRING ? " " : "",
                            arg != NULL && arg->text.length <= 100 ? (int) arg->text.length : 0,
                            arg != NULL && arg->text.length > 0 ? arg->text.at : "");
    *ret = value;
    return true;
}

/* True for {"type": "...", "id": "..."}. */
static bool
looks_like_entity(const struct cedar_json *json)
{
    const struct cedar_json *type = cedar_json_get(json, "type"), *id = cedar_json_get(json, "id");
    return json->count == 2 && type != NULL && id != NULL && type->kind == CEDAR_JSON_STRING
           && id->kind == CEDAR_JSON_STRING;
}

static bool
read_object(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    const struct cedar_json *extension = cedar_json_get(json, "__extn");
    ret->type = CEDAR_ENTITY;
    if (extension != NULL)
        return json->count == 1
                   ? read_extension(reader, extension, ret)
                   : refuse_value(reader, "`__extn` cannot be combined with other members");
    if (cedar_json_get(json, "__entity") != NULL || (reader->typed && looks_like_entity(json)))
        return read_uid(reader, json, &ret->uid);
    if (cedar_json_get(json, "__expr") != NULL)
        return refuse_value(reader, "`__expr` is no longer a part of Cedar");
    return read_record(reader, json, ret);
}

static bool
read_json_value(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    *ret = (struct cedar_value){.type = CEDAR_BOOL};
    switch (json->kind) {
    case CEDAR_JSON_NULL:
        return refuse_value(reader, "Cedar has no null");
    case CEDAR_JSON_REAL:
        return refuse_value(reader, "a number is a Long, a whole number of 64 bits");
    case CEDAR_JSON_BOOL:
        ret->truth = json->truth;
        return true;
    case CEDAR_JSON_LONG:
        *ret = (struct cedar_value){.type = CEDAR_LONG, .number = json->number};
        return true;
    case CEDAR_JSON_STRING:
        *ret = (struct cedar_value){.type = CEDAR_STRING, .text = json->text};
        return true;
    case CEDAR_JSON_ARRAY:
        return read_set(reader, json, ret);
    case CEDAR_JSON_OBJECT:
        return read_object(reader, json, ret);
    }
    return false;
}

/* Read an optional object as a record; an absent one is empty. */
static bool
read_members(struct cedar_reader *reader, const struct cedar_json *json, const char *name,
             struct cedar_value *ret)
{
    if (json == NULL) {
        *ret = (struct cedar_value){.type = CEDAR_RECORD};
        return true;
    }
    return json->kind == CEDAR_JSON_OBJECT ? read_record(reader, json, ret)
                                           : refuse_value(reader, "`%s` is an object", name);
}

bool
cedar_read_entity(struct cedar_reader *reader, const struct cedar_json *json,
                  struct cedar_entity *ret)
{
    const struct cedar_json *parents = cedar_json_get(json, "parents");
    if (!read_uid(reader, cedar_json_get(json, "uid"), &ret->uid)
        || !read_members(reader, cedar_json_get(json, "attrs"), "attrs", &ret->attributes)
        || !read_members(reader, cedar_json_get(json, "tags"), "tags", &ret->tags))
        return false;
    if (parents != NULL && parents->kind != CEDAR_JSON_ARRAY)
        return refuse_value(reader, "`parents` is a list");
    ret->ancestors = parents != NULL ? parents->count : 0;
    ret->ancestor = talloc_array(reader->mem, struct cedar_uid, ret->ancestors);
    if (ret->ancestor == NULL)
        return refuse_value(reader, "out of memory");
    for (size_t i = 0; i < ret->ancestors; i++)
        if (!read_uid(reader, &parents->child[i], &ret->ancestor[i]))
            return false;
    return true;
}

bool
cedar_read_entities(struct cedar_reader *reader, const struct cedar_json *json,
                    struct cedar_entities *ret)
{
    if (json->kind != CEDAR_JSON_ARRAY)
        return refuse_value(reader, "entities are a list");
    ret->count = json->count;
    ret->entity = talloc_zero_array(reader->mem, struct cedar_entity, json->count);
    if (ret->entity == NULL)
        return refuse_value(reader, "out of memory");
    for (size_t i = 0; i < json->count; i++)
        if (!cedar_read_entity(reader, &json->child[i], &ret->entity[i]))
            return false;
    const char *why = cedar_entities_close(reader->mem, ret);
    return why == NULL || refuse_value(reader, "%s", why);
}

/* Read an entity that may also be written as in a policy: User::"alice". */
static bool
read_reference(struct cedar_reader *reader, const struct cedar_json *json, struct cedar_value *ret)
{
    ret->type = CEDAR_ENTITY;
    if (json == NULL || json->kind != CEDAR_JSON_STRING)
        return read_uid(reader, json, &ret->uid);
    struct cedar_fault fault = {
        .place = {0, 0}
    };
    struct cedar_parser parser = {
        .mem = reader->mem,
        .lexer = {json->text.at, json->text.length, 0, {1, 1}, &fault},
        .fault = &fault
    };
    cedar_next(&parser);
    const struct cedar_node *node = cedar_take_entity(&parser);
    if (node == NULL || !cedar_at(&parser, TOKEN_END))
        return refuse_value(reader, "an entity is written as User::\"alice\"");
    *ret = node->value;
    return true;
}

bool
cedar_read_request(struct cedar_reader *reader, const struct cedar_json *json,
                   struct cedar_request *ret)
{
    const char *const *name = cedar_variable_names;
    if (json->kind != CEDAR_JSON_OBJECT)
        return refuse_value(reader, "a request is an object");
    for (int i = CEDAR_PRINCIPAL; i <= CEDAR_RESOURCE; i++)
        if (!read_reference(reader, cedar_json_get(json, name[i]), &ret->variable[i]))
            return false;
    return read_members(reader, cedar_json_get(json, "context"), "context",
                        &ret->variable[CEDAR_CONTEXT]);
}
