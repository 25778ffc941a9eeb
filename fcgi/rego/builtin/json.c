/* JSON texts, parts of documents, and graphs. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "rego/builtin/builtin.h"

/* Octets of a JSON text that is written. */
#define MARSHAL_MAX (4 << 20)

/* True if Go's encoder would write the value as rego_write() does: it escapes <, >, & and two
 * separators of lines, and sorts names that are no strings by their text. */
static bool
is_written_alike(const struct rego_value *value)
{
    if (value->type == REGO_STRING) {
        for (uint32_t i = 0; i < value->count; i++) {
            unsigned char c = (unsigned char) value->text[i];
            if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x7f || c == 0xe2)
                return false;
        }
        return true;
    }
    if (value->type == REGO_NUMBER)
        return !value->decimal;
    for (uint32_t i = 0; value->type >= REGO_ARRAY && i < value->count; i++) {
        if (value->type != REGO_OBJECT) {
            if (!is_written_alike(value->item[i]))
                return false;
        } else if (value->member[i].key->type != REGO_STRING
                   || !is_written_alike(value->member[i].key)
                   || !is_written_alike(value->member[i].value)) {
            return false;
        }
    }
    return true;
}

static const struct rego_value *
run_marshal(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!is_written_alike(arg[0]))
        return rego_give_up(machine, "json.marshal() of a value with special characters");
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, MARSHAL_MAX);
    if (!rego_write(&text, arg[0])) {
        machine->arena->full = true;
        return NULL;
    }
    return rego_string(machine->arena, text.data, text.len);
}

/* Read JSON. The engine's reader takes some texts that ours refuses (names that come twice). */
static const struct rego_value *
run_unmarshal(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    const struct rego_value *value = rego_parse(machine->arena, arg[0]->text, arg[0]->count);
    return value != NULL || machine->arena->full
               ? value
               : rego_give_up(machine, "json.unmarshal() of a text that is refused here");
}

static const struct rego_value *
run_is_valid(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return &rego_false;
    if (rego_parse(machine->arena, arg[0]->text, arg[0]->count) != NULL)
        return &rego_true;
    return machine->arena->full
               ? NULL
               : rego_give_up(machine, "json.is_valid() of a text that is refused here");
}

/* Return a segment of a JSON pointer without its escapes: ~1 is a slash, then ~0 a tilde. */
static const struct rego_value *
segment_of(struct rego_machine *machine, const char *text, size_t length)
{
    char *copy = rego_take(machine->arena, length + 1);
    size_t to = 0;
    if (copy == NULL)
        return NULL;
    for (size_t from = 0; from < length; from++) {
        copy[to] = text[from];
        if (text[from] == '~' && from + 1 < length && text[from + 1] == '1') {
            copy[to] = '/';
            from++;
        }
        to++;
    }
    size_t end = to;
    to = 0;
    for (size_t from = 0; from < end; from++) {
        copy[to++] = copy[from];
        from += copy[from] == '~' && from + 1 < end && copy[from + 1] == '0';
    }
    copy[to] = '\0';
    return rego_text(machine->arena, copy, to);
}

const struct rego_value *
rego_json_path(struct rego_machine *machine, const struct rego_value *path)
{
    if (path->type == REGO_ARRAY)
        return path;
    struct rego_value *segments = path->type == REGO_STRING ? rego_array(machine->arena, 0) : NULL;
    if (segments == NULL || path->count == 0)
        return segments;
    const char *at = path->text, *end = at + path->count;
    while (at < end && *at == '/')
        at++;
    for (;;) {
        const char *slash = memchr(at, '/', (size_t) (end - at));
        const char *stop = slash != NULL ? slash : end;
        if (!rego_append(machine->arena, segments, segment_of(machine, at, (size_t) (stop - at))))
            return NULL;
        if (slash == NULL)
            return segments;
        at = slash + 1;
    }
}

/* Put a path into a tree whose leaves are null. Of two paths, one of which begins with the other,
 * the shorter one counts. */
static bool
put_path(struct rego_machine *machine, struct rego_value *tree, const struct rego_value *path,
         uint32_t at)
{
    const struct rego_value *inner = rego_get(tree, path->item[at]);
    if (inner != NULL && inner->type == REGO_NULL)
        return true;
    if (at + 1 == path->count)
        return rego_insert(machine->arena, tree, path->item[at], &rego_null);
    struct rego_value *deeper =
        inner != NULL ? (struct rego_value *) (uintptr_t) inner : rego_object(machine->arena, 0);
    return deeper != NULL && rego_insert(machine->arena, tree, path->item[at], deeper)
           && put_path(machine, deeper, path, at + 1);
}

/* Return the tree of a list of paths. NULL: it is not a list of paths, or no memory. */
static const struct rego_value *
tree_of(struct rego_machine *machine, const struct rego_value *list)
{
    if (list->type != REGO_ARRAY && list->type != REGO_SET)
        return NULL;
    struct rego_value *tree = rego_object(machine->arena, 0);
    for (uint32_t i = 0; tree != NULL && i < list->count; i++) {
        const struct rego_value *path =
            rego_spend(machine, tree->count) ? rego_json_path(machine, list->item[i]) : NULL;
        if (path == NULL || path->count > REGO_DEPTH_MAX
            || (path->count > 0 && !put_path(machine, tree, path, 0)))
            return NULL;
    }
    return tree;
}

/* Return the value without the members that the tree names. NULL: it names all, or no memory. */
static const struct rego_value *
remove_tree(struct rego_machine *machine, const struct rego_value *value,
            const struct rego_value *tree)
{
    if (tree == NULL || tree->type != REGO_OBJECT)
        return tree == NULL ? value : NULL;
    if (value->type < REGO_ARRAY)
        return value;
    struct rego_value *rest = value->type == REGO_OBJECT ? rego_object(machine->arena, 0)
                              : value->type == REGO_SET  ? rego_set(machine->arena, 0)
                                                         : rego_array(machine->arena, 0);
    for (uint32_t i = 0; rest != NULL && i < value->count; i++) {
        bool object = value->type == REGO_OBJECT;
        const struct rego_value *inner = object ? value->member[i].value : value->item[i];
        const struct rego_value *key = object ? value->member[i].key : inner;
        char digits[16];
        if (value->type == REGO_ARRAY)
            key = rego_string(machine->arena, digits,
                              (size_t) snprintf(digits, sizeof(digits), "%u", i));
        if (key == NULL)
            return NULL;
        const struct rego_value *kept = remove_tree(machine, inner, rego_get(tree, key));
        if (machine->arena->full)
            return NULL;
        if (kept == NULL)
            continue;
        bool added = object                    ? rego_append_member(machine->arena, rest, key, kept)
                     : value->type == REGO_SET ? rego_add(machine->arena, rest, kept)
                                               : rego_append(machine->arena, rest, kept);
        if (!added)
            return NULL;
    }
    return rest;
}

static const struct rego_value *
run_json_remove(struct rego_machine *machine, const struct rego_value *const *arg)
{
    const struct rego_value *tree = arg[0]->type == REGO_OBJECT ? tree_of(machine, arg[1]) : NULL;
    return tree != NULL ? remove_tree(machine, arg[0], tree) : NULL;
}

/* Return the members of an object that the tree names. NULL: no memory, or a path leads through an
 * array or set, which is left to the engine. */
static const struct rego_value *
filter_tree(struct rego_machine *machine, const struct rego_value *value,
            const struct rego_value *tree)
{
    if (tree->type == REGO_NULL)
        return value;
    if (value->type == REGO_ARRAY || value->type == REGO_SET)
        return rego_give_up(machine, "json.filter() into an array or a set");
    if (value->type != REGO_OBJECT)
        return value;
    struct rego_value *part = rego_object(machine->arena, 0);
    for (uint32_t i = 0; part != NULL && i < value->count; i++) {
        const struct rego_value *inner = rego_get(tree, value->member[i].key);
        if (inner != NULL
            && !rego_append_member(machine->arena, part, value->member[i].key,
                                   filter_tree(machine, value->member[i].value, inner)))
            return NULL;
    }
    return part;
}

static const struct rego_value *
run_json_filter(struct rego_machine *machine, const struct rego_value *const *arg)
{
    const struct rego_value *tree = arg[0]->type == REGO_OBJECT ? tree_of(machine, arg[1]) : NULL;
    return tree != NULL ? filter_tree(machine, arg[0], tree) : NULL;
}

static bool is_subset(struct rego_machine *machine, const struct rego_value *super,
                      const struct rego_value *sub);

/* True if an array contains the items of another array without a gap, or the items of a set. */
static bool
is_list_subset(struct rego_machine *machine, const struct rego_value *super,
               const struct rego_value *sub)
{
    if (super->type == REGO_SET || sub->type == REGO_SET) {
        uint32_t found = 0;
        for (uint32_t i = 0; super->type == REGO_SET && i < sub->count; i++)
            found += rego_has(super, sub->item[i]);
        for (uint32_t i = 0; super->type == REGO_ARRAY && i < super->count; i++)
            found += rego_has(sub, super->item[i]);
        return super->type == REGO_SET ? found == sub->count
                                       : found >= sub->count && super->count > 0;
    }
    for (uint32_t from = 0; from + sub->count <= super->count; from++) {
        uint32_t i = 0;
        while (i < sub->count && rego_compare(super->item[from + i], sub->item[i]) == 0)
            i++;
        if (i == sub->count || !rego_spend(machine, 1 + (uint64_t) i))
            return true;
    }
    return false;
}

static bool
is_subset(struct rego_machine *machine, const struct rego_value *super,
          const struct rego_value *sub)
{
    if (super->type != REGO_OBJECT)
        return is_list_subset(machine, super, sub);
    for (uint32_t i = 0; i < sub->count; i++) {
        const struct rego_value *value = rego_get(super, sub->member[i].key);
        const struct rego_value *wanted = sub->member[i].value;
        if (value == NULL)
            return false;
        if (rego_compare(value, wanted) != 0
            && (value->type < REGO_ARRAY || value->type != wanted->type
                || !is_subset(machine, value, wanted)))
            return false;
    }
    return true;
}

static const struct rego_value *
run_object_subset(struct rego_machine *machine, const struct rego_value *const *arg)
{
    bool lists = arg[0]->type == REGO_ARRAY && arg[1]->type == REGO_SET;
    if (arg[0]->type < REGO_ARRAY || (arg[0]->type != arg[1]->type && !lists))
        return NULL;
    bool subset = is_subset(machine, arg[0], arg[1]);
    return machine->outcome == REGO_DONE ? rego_boolean(subset) : NULL;
}

static const struct rego_value *
run_reachable(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_OBJECT || (arg[1]->type != REGO_ARRAY && arg[1]->type != REGO_SET))
        return NULL;
    struct rego_value *reached = rego_set(machine->arena, 0);
    struct rego_value *queue = rego_copy(machine->arena, arg[1]);
    for (uint32_t at = 0; reached != NULL && queue != NULL && at < queue->count; at++) {
        const struct rego_value *node = queue->item[at], *edges = rego_get(arg[0], node);
        if (edges == NULL || rego_has(reached, node))
            continue;
        if (!rego_spend(machine, reached->count) || !rego_add(machine->arena, reached, node))
            return NULL;
        bool list = edges->type == REGO_ARRAY || edges->type == REGO_SET;
        for (uint32_t i = 0; list && i < edges->count; i++)
            if (!rego_append(machine->arena, queue, edges->item[i]))
                return NULL;
    }
    return queue != NULL ? reached : NULL;
}

const struct rego_builtin rego_json_builtins[] = {
    {"graph.reachable", 2, run_reachable    },
    {"json.filter",     2, run_json_filter  },
    {"json.is_valid",   1, run_is_valid     },
    {"json.marshal",    1, run_marshal      },
    {"json.remove",     2, run_json_remove  },
    {"json.unmarshal",  1, run_unmarshal    },
    {"object.subset",   2, run_object_subset},
    {NULL,              0, NULL             },
};
