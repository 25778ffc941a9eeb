#include "config.h"

#include "base/json_patch.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/jsonx.h"

/* Digits of an array index; ten would pass 32 bits, and no array here is that long. */
#define INDEX_DIGITS_MAX 9

/* A patch on its way. */
struct patching {
    TALLOC_CTX *mem;  /* for names */
    json_t *root;     /* the document so far; ours */
    size_t max_depth; /* of the document */
    size_t copied;    /* weight of what was copied */
    size_t put;       /* values put somewhere */
};

/* Where a pointer points: a member or element of `parent`, which need not exist. */
struct place {
    json_t *parent;   /* NULL: the whole document */
    const char *name; /* reference token, decoded */
    size_t depth;     /* tokens of the pointer */
};

/* Jansson reads through pointers that are not const. */
static json_t *
plain(const json_t *value)
{
    return (json_t *) (uintptr_t) value;
}

/* ---- measures; their recursion ends with the depth of values, which is bounded ---- */

/* Counts what it looks at. */
static size_t
depth_of(const json_t *value, size_t *count)
{
    size_t most = 0, index;
    const char *name;
    json_t *item;
    ++*count;
    if (!json_is_object(value) && !json_is_array(value))
        return 0;
    json_object_foreach (plain(value), name, item) {
        size_t depth = depth_of(item, count);
        most = depth > most ? depth : most;
    }
    json_array_foreach (value, index, item) {
        size_t depth = depth_of(item, count);
        most = depth > most ? depth : most;
    }
    return most + 1;
}

size_t
json_patch_weight(const json_t *value)
{
    /* Of a number, a word, or the signs around a text. */
    const size_t least = 8;
    size_t weight = least + json_string_length(value), index;
    const char *name;
    json_t *item;
    json_object_foreach (plain(value), name, item)
        weight += strlen(name) + json_patch_weight(item);
    json_array_foreach (value, index, item)
        weight += json_patch_weight(item);
    return weight;
}

/* RFC 6902 section 4.6: numbers are equal when their values are, however they are written. */
static bool
numbers_equal(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) == json_integer_value(b);
    if (json_is_real(a) && json_is_real(b))
        return json_real_value(a) >= json_real_value(b) && json_real_value(a) <= json_real_value(b);
    const json_t *integer = json_is_integer(a) ? a : b, *real = json_is_integer(a) ? b : a;
    double value = json_real_value(real);
    /* -2^63 and 2^63 are doubles: between them the conversion is defined, and exact for integers.
     */
    if (value < -9223372036854775808.0 || value >= 9223372036854775808.0)
        return false;
    json_int_t whole = (json_int_t) value;
    return whole == json_integer_value(integer) && !((double) whole < value)
           && !((double) whole > value);
}

static bool
values_equal(const json_t *a, const json_t *b)
{
    size_t index;
    const char *name;
    json_t *item;
    if (json_is_number(a) && json_is_number(b))
        return numbers_equal(a, b);
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_object(a)) {
        if (json_object_size(a) != json_object_size(b))
            return false;
        json_object_foreach (plain(a), name, item) {
            const json_t *other = json_object_get(b, name);
            if (other == NULL || !values_equal(item, other))
                return false;
        }
        return true;
    }
    if (json_is_array(a)) {
        if (json_array_size(a) != json_array_size(b))
            return false;
        json_array_foreach (a, index, item)
            if (!values_equal(item, json_array_get(b, index)))
                return false;
        return true;
    }
    return json_equal(plain(a), plain(b));
}

/* ---- pointers (RFC 6901) ---- */

/* array-index = "0" / ( DIGIT1-9 *DIGIT ) */
static bool
read_index(const char *name, size_t *ret)
{
    size_t length = strspn(name, "0123456789"), value = 0;
    if (length == 0 || length > INDEX_DIGITS_MAX || name[length] != '\0'
        || (name[0] == '0' && length > 1))
        return false;
    for (; *name != '\0'; name++)
        value = value * 10 + (size_t) (*name - '0');
    *ret = value;
    return true;
}

/*
 *   json-pointer    = *( "/" reference-token )
 *   reference-token = *( unescaped / "~0" / "~1" )
 *
 * The token at *at, which is moved behind it. NULL: a ~ stands for nothing, or no memory.
 */
static const char *
read_token(TALLOC_CTX *mem, const char **at)
{
    size_t length = strcspn(*at, "/"), used = 0;
    char *name = talloc_size(mem, length + 1);
    for (size_t i = 0; name != NULL && i < length; i++) {
        char c = (*at)[i];
        if (c == '~') {
            c = (*at)[++i]; /* at the most the octet that ended the token */
            if (c != '0' && c != '1')
                return NULL;
            c = c == '0' ? '~' : '/';
        }
        name[used++] = c;
    }
    if (name != NULL)
        name[used] = '\0';
    *at += length;
    return name;
}

/* The member or element of a value, or NULL. */
static json_t *
child_of(const json_t *value, const char *name)
{
    size_t index;
    if (json_is_object(value))
        return json_object_get(value, name);
    return json_is_array(value) && read_index(name, &index) ? json_array_get(value, index) : NULL;
}

/* What is wrong with a pointer, or NULL with the place. The place itself need not exist. */
static const char *
find_place(struct patching *patching, const char *pointer, struct place *ret)
{
    json_t *at = patching->root;
    *ret = (struct place){.parent = NULL};
    if (*pointer != '\0' && *pointer != '/')
        return "a pointer must be empty or begin with a slash";
    while (*pointer == '/') {
        pointer++;
        if (ret->parent != NULL)
            at = child_of(at, ret->name);
        if (!json_is_object(at) && !json_is_array(at))
            return "a place does not exist";
        ret->parent = at;
        ret->depth++;
        ret->name = read_token(patching->mem, &pointer);
        if (ret->name == NULL)
            return "a pointer has a ~ that is followed by neither 0 nor 1";
    }
    return NULL;
}

static json_t *
value_at(const struct patching *patching, const struct place *place)
{
    return place->parent != NULL ? child_of(place->parent, place->name) : patching->root;
}

/* ---- operations (RFC 6902 section 4) ---- */

/* Puts a value, whose reference is taken, where the pointer says. */
static const char *
put_root(struct patching *patching, json_t *value)
{
    json_decref(patching->root);
    patching->root = value;
    return NULL;
}

static const char *
put_value(struct patching *patching, const struct place *place, json_t *value, bool insert)
{
    static const char memory[] = "no memory";
    size_t index, size = json_array_size(place->parent);
    if (value == NULL)
        return memory;
    bool deep = place->depth + depth_of(value, &patching->put) > patching->max_depth;
    if (deep || patching->put > JSON_PATCH_PUT_MAX) {
        json_decref(value);
        return deep ? "the result is nested too deeply" : "the patch moves too much";
    }
    if (place->parent == NULL)
        return put_root(patching, value);
    if (json_is_object(place->parent))
        return json_object_set_new(place->parent, place->name, value) == 0 ? NULL : memory;
    if (insert && strcmp(place->name, "-") == 0)
        return json_array_append_new(place->parent, value) == 0 ? NULL : memory;
    if (!read_index(place->name, &index) || index > size - (insert ? 0 : 1)) {
        json_decref(value);
        return "an index is outside its array";
    }
    return (insert ? json_array_insert_new(place->parent, index, value)
                   : json_array_set_new(place->parent, index, value))
                   == 0
               ? NULL
               : memory;
}

/* What stands there, taken out; the reference is the caller's. NULL: it is the whole document. */
static json_t *
take_value(const struct patching *patching, const struct place *place)
{
    size_t index;
    json_t *value = json_incref(value_at(patching, place));
    if (json_is_object(place->parent))
        json_object_del(place->parent, place->name);
    else if (read_index(place->name, &index))
        json_array_remove(place->parent, index);
    return value;
}

/* One operation as it stands in the patch. */
struct operation {
    const char *path, *from; /* pointers */
    const json_t *value;
    bool failed_test; /* the one failure that is about the document alone */
};

static const char *
do_add(struct patching *patching, struct operation *operation)
{
    struct place place;
    const char *why = find_place(patching, operation->path, &place);
    return why != NULL ? why : put_value(patching, &place, json_deep_copy(operation->value), true);
}

/* The place of a pointer at which something must be. */
static const char *
find_value(struct patching *patching, const char *pointer, struct place *ret)
{
    const char *why = find_place(patching, pointer, ret);
    return why == NULL && value_at(patching, ret) == NULL ? "a place does not exist" : why;
}

static const char *
do_remove(struct patching *patching, struct operation *operation)
{
    struct place place;
    const char *why = find_value(patching, operation->path, &place);
    if (why == NULL && place.parent == NULL)
        return "the whole document cannot be removed";
    if (why == NULL)
        json_decref(take_value(patching, &place));
    return why;
}

static const char *
do_replace(struct patching *patching, struct operation *operation)
{
    struct place place;
    const char *why = find_value(patching, operation->path, &place);
    return why != NULL ? why : put_value(patching, &place, json_deep_copy(operation->value), false);
}

static const char *
do_move(struct patching *patching, struct operation *operation)
{
    struct place from, to;
    size_t length = strlen(operation->from);
    const char *why = find_value(patching, operation->from, &from);
    if (why != NULL || strcmp(operation->path, operation->from) == 0)
        return why;
    if (strncmp(operation->path, operation->from, length) == 0 && operation->path[length] == '/')
        return "a value cannot be moved into itself";
    if (from.parent == NULL)
        return "the whole document cannot be moved";
    json_t *value = take_value(patching, &from);
    if ((why = find_place(patching, operation->path, &to)) == NULL)
        return put_value(patching, &to, value, true);
    json_decref(value);
    return why;
}

static const char *
do_copy(struct patching *patching, struct operation *operation)
{
    struct place from, to;
    const char *why = find_value(patching, operation->from, &from);
    if (why == NULL)
        why = find_place(patching, operation->path, &to);
    if (why != NULL)
        return why;
    const json_t *value = value_at(patching, &from);
    patching->copied += json_patch_weight(value);
    if (patching->copied > JSON_PATCH_COPIED_MAX)
        return "the patch copies too much";
    return put_value(patching, &to, json_deep_copy(value), true);
}

static const char *
do_test(struct patching *patching, struct operation *operation)
{
    struct place place;
    const char *why = find_place(patching, operation->path, &place);
    const json_t *value = why == NULL ? value_at(patching, &place) : NULL;
    if (value != NULL && values_equal(value, operation->value))
        return NULL;
    operation->failed_test = true;
    return why != NULL ? why : "the value is not the one that was expected";
}

static const struct operation_row {
    const char *name;
    bool from, value; /* members it needs besides op and path */
    const char *(*run)(struct patching *patching, struct operation *operation);
} operations[] = {
    {"add",     false, true,  do_add    },
    {"remove",  false, false, do_remove },
    {"replace", false, true,  do_replace},
    {"move",    true,  false, do_move   },
    {"copy",    true,  false, do_copy   },
    {"test",    false, true,  do_test   },
};

static const struct operation_row *
find_operation(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof(operations) / sizeof(operations[0]); i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

/* One element of the patch. Members that its operation does not have are ignored (section 4). */
static const char *
run_operation(struct patching *patching, const json_t *element, bool *ret_conflict)
{
    struct operation operation = {
        .path = json_string_value(json_object_get(element, "path")),
        .from = json_string_value(json_object_get(element, "from")),
        .value = json_object_get(element, "value"),
    };
    const struct operation_row *row =
        find_operation(json_string_value(json_object_get(element, "op")));
    if (row == NULL)
        return "op must be add, remove, replace, move, copy or test";
    if (operation.path == NULL)
        return "path must be a string";
    if (row->from && operation.from == NULL)
        return "from must be a string";
    if (row->value && operation.value == NULL)
        return "value is required";
    const char *why = row->run(patching, &operation);
    *ret_conflict = operation.failed_test;
    return why;
}

static enum az_status
run_patch(struct patching *patching, const json_t *patch, const char **ret_why)
{
    size_t index;
    const json_t *element;
    bool conflict = false;
    const char *why = NULL;
    json_array_foreach (patch, index, element) {
        TALLOC_CTX *mem = patching->mem;
        patching->mem = talloc_new(mem);
        why = run_operation(patching, element, &conflict);
        talloc_free(patching->mem);
        patching->mem = mem;
        if (why != NULL)
            break;
    }
    if (why == NULL)
        return AZ_OK;
    *ret_why = talloc_asprintf(patching->mem, "operation %zu: %s", index, why);
    return conflict ? AZ_CONFLICT : AZ_INVALID;
}

enum az_status
json_patch(TALLOC_CTX *mem, const json_t *target, const json_t *patch, size_t max_depth,
           json_t **ret, const char **ret_why)
{
    struct patching patching = {.mem = mem, .max_depth = max_depth};
    *ret_why = "must be an array of operations";
    if (!json_is_array(patch))
        return AZ_INVALID;
    *ret_why = "must have at most 1000 operations";
    if (json_array_size(patch) > JSON_PATCH_OPERATIONS_MAX)
        return AZ_INVALID;
    *ret_why = "no memory";
    if ((patching.root = json_deep_copy(target)) == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = run_patch(&patching, patch, ret_why);
    if (st != AZ_OK) {
        json_decref(patching.root);
        return st;
    }
    json_t *result = jsonx_own(mem, patching.root);
    if (result == NULL)
        return AZ_SERVER_ERROR;
    *ret = result;
    return AZ_OK;
}
