/* JSON Patch (RFC 6902) as OPA applies it. Sets within the document, and patches that put a new
 * document in place of the whole, are left to the engine. */
#include "config.h"

#include <string.h>

#include "rego/builtin/builtin.h"

/* A patch that is applied. */
struct patch {
    struct rego_machine *machine;
    bool arrays_changed; /* then the engine may use other indexes than RFC 6902 */
    bool replaces;       /* the second half of an operation that replaces */
};

/* The change at the end of a path. */
enum patch_op {
    PATCH_ADD,
    PATCH_REMOVE,
};

/* Return the index that a segment names in an array of a length, or -1 if there is none; -2: the
 * engine is asked. */
static int64_t
index_of(struct patch *patch, const struct rego_value *segment, uint32_t length)
{
    int64_t index = 0;
    if (segment->type == REGO_NUMBER && !segment->decimal)
        return segment->integer < 0 ? -1 : segment->integer;
    if (segment->type == REGO_STRING && segment->count == 1 && segment->text[0] == '-')
        return length;
    if (segment->type == REGO_STRING && segment->count > 0 && segment->count < 10
        && strspn(segment->text, "0123456789") == segment->count) {
        for (const char *c = segment->text; *c != '\0'; c++)
            index = index * 10 + (*c - '0');
        return segment->text[0] == '0' && segment->count > 1 ? -1 : index;
    }
    if (segment->type == REGO_STRING && segment->count > 0 && (segment->text[0] | 0x20) >= 'a'
        && (segment->text[0] | 0x20) <= 'z')
        return -1;
    rego_give_up(patch->machine, "json.patch() with an unusual index");
    return -2;
}

/* Return the value under a segment. NULL: there is none, or the engine is asked. */
static const struct rego_value *
patch_child(struct patch *patch, const struct rego_value *value, const struct rego_value *segment)
{
    if (value->type == REGO_SET)
        return rego_give_up(patch->machine, "json.patch() of a set");
    if (value->type == REGO_OBJECT)
        return rego_get(value, segment);
    if (value->type != REGO_ARRAY)
        return NULL;
    if (patch->arrays_changed)
        return rego_give_up(patch->machine, "json.patch() of an array that has changed");
    int64_t index = index_of(patch, segment, value->count);
    return index >= 0 && index < value->count ? value->item[index] : NULL;
}

static const struct rego_value *
patch_find(struct patch *patch, const struct rego_value *value, const struct rego_value *path)
{
    for (uint32_t i = 0; value != NULL && i < path->count; i++)
        value = patch_child(patch, value, path->item[i]);
    return value;
}

/* Return a copy of an object without a member. */
static const struct rego_value *
object_without(struct patch *patch, const struct rego_value *object, const struct rego_value *key)
{
    struct rego_value *rest = rego_object(patch->machine->arena, object->count);
    for (uint32_t i = 0; rest != NULL && i < object->count; i++)
        if (rego_compare(object->member[i].key, key) != 0
            && !rego_append_member(patch->machine->arena, rest, object->member[i].key,
                                   object->member[i].value))
            return NULL;
    return rest;
}

/* Return a copy of an array, in which a value (or NULL) replaces `drop` items at an index. */
static const struct rego_value *
array_with(struct patch *patch, const struct rego_value *array, int64_t index, uint32_t drop,
           const struct rego_value *value)
{
    struct rego_value *copy = rego_array(patch->machine->arena, (size_t) array->count + 1);
    for (uint32_t i = 0; copy != NULL && i <= array->count; i++) {
        if (i == index && value != NULL && !rego_append(patch->machine->arena, copy, value))
            return NULL;
        if (i < array->count && (i < index || i >= index + drop)
            && !rego_append(patch->machine->arena, copy, array->item[i]))
            return NULL;
    }
    return copy;
}

/* Return a copy of an object with a member. */
static const struct rego_value *
object_with(struct patch *patch, const struct rego_value *object, const struct rego_value *key,
            const struct rego_value *value)
{
    struct rego_value *copy = rego_copy(patch->machine->arena, object);
    return copy != NULL && rego_insert(patch->machine->arena, copy, key, value) ? copy : NULL;
}

/* Change the value that holds the last segment. NULL: the change is not possible. */
static const struct rego_value *
change_here(struct patch *patch, const struct rego_value *value, const struct rego_value *segment,
            enum patch_op op, const struct rego_value *added)
{
    if (value->type == REGO_SET)
        return rego_give_up(patch->machine, "json.patch() of a set");
    if (value->type == REGO_OBJECT && op == PATCH_ADD)
        return object_with(patch, value, segment, added);
    if (value->type == REGO_OBJECT)
        return rego_get(value, segment) != NULL ? object_without(patch, value, segment) : NULL;
    if (value->type != REGO_ARRAY)
        return NULL;
    int64_t index = index_of(patch, segment, value->count);
    if (index < 0 || index > (int64_t) value->count - (op == PATCH_REMOVE))
        return NULL;
    if (patch->arrays_changed && !patch->replaces)
        return rego_give_up(patch->machine, "json.patch() of an array that has changed");
    patch->arrays_changed = true;
    return array_with(patch, value, index, op == PATCH_REMOVE, op == PATCH_ADD ? added : NULL);
}

/* Return the document after a change at a path. NULL: the change is not possible. */
static const struct rego_value *
change_at(struct patch *patch, const struct rego_value *value, const struct rego_value *path,
          uint32_t at, enum patch_op op, const struct rego_value *added)
{
    if (at + 1 == path->count)
        return change_here(patch, value, path->item[at], op, added);
    const struct rego_value *inner = patch_child(patch, value, path->item[at]);
    if (inner != NULL)
        inner = change_at(patch, inner, path, at + 1, op, added);
    if (inner == NULL)
        return NULL;
    if (value->type == REGO_OBJECT)
        return object_with(patch, value, path->item[at], inner);
    return array_with(patch, value, index_of(patch, path->item[at], value->count), 1, inner);
}

static const struct rego_value *
change_document(struct patch *patch, const struct rego_value *document,
                const struct rego_value *path, enum patch_op op, const struct rego_value *added)
{
    if (path->count == 0)
        return rego_give_up(patch->machine, "json.patch() of the whole document");
    return change_at(patch, document, path, 0, op, added);
}

static bool
is_op(const struct rego_value *op, const char *name)
{
    return strcmp(op->text, name) == 0;
}

/* Return the path of a member of an operation. NULL: there is none, or it is too long. */
static const struct rego_value *
patch_path(struct patch *patch, const struct rego_value *operation, const char *name)
{
    const struct rego_value *path = rego_get_text(operation, name);
    path = path != NULL ? rego_json_path(patch->machine, path) : NULL;
    return path != NULL && path->count <= REGO_DEPTH_MAX ? path : NULL;
}

/* Return the document after one operation. NULL: it fails. */
static const struct rego_value *
apply_one(struct patch *patch, const struct rego_value *document,
          const struct rego_value *operation)
{
    const struct rego_value *op = rego_get_text(operation, "op");
    const struct rego_value *path = patch_path(patch, operation, "path");
    const struct rego_value *value = rego_get_text(operation, "value");
    if (op == NULL || op->type != REGO_STRING || path == NULL)
        return NULL;
    if (is_op(op, "test")) {
        const struct rego_value *found = patch_find(patch, document, path);
        return found != NULL && value != NULL && rego_compare(found, value) == 0 ? document : NULL;
    }
    if (is_op(op, "move") || is_op(op, "copy")) {
        const struct rego_value *from = patch_path(patch, operation, "from");
        value = from != NULL ? patch_find(patch, document, from) : NULL;
        if (value != NULL && is_op(op, "move"))
            document = change_document(patch, document, from, PATCH_REMOVE, NULL);
    } else if (is_op(op, "remove") || is_op(op, "replace")) {
        document = change_document(patch, document, path, PATCH_REMOVE, NULL);
        if (is_op(op, "remove"))
            return document;
        patch->replaces = true;
    } else if (!is_op(op, "add")) {
        return NULL;
    }
    if (document != NULL && value != NULL)
        document = change_document(patch, document, path, PATCH_ADD, value);
    patch->replaces = false;
    return value != NULL ? document : NULL;
}

static const struct rego_value *
run_json_patch(struct rego_machine *machine, const struct rego_value *const *arg)
{
    const struct rego_value *document = arg[0];
    struct patch patch = {.machine = machine};
    if (arg[1]->type != REGO_ARRAY)
        return NULL;
    for (uint32_t i = 0; document != NULL && i < arg[1]->count; i++)
        document = arg[1]->item[i]->type == REGO_OBJECT
                       ? apply_one(&patch, document, arg[1]->item[i])
                       : NULL;
    return machine->outcome == REGO_DONE ? document : NULL;
}

const struct rego_builtin rego_patch_builtins[] = {
    {"json.patch", 2, run_json_patch},
    {NULL,         0, NULL          },
};
