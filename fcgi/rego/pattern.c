/* The reader of patterns, which makes a tree; pattern_set.c reads sets of characters for it, and
 * pattern_code.c makes instructions of the tree. */
#include "config.h"

#include "rego/pattern.h"

#include <string.h>

#include "rego/pattern_private.h"

/* Most groups within one another. */
#define NESTING_MAX 64

/* The largest count of a repetition; Go refuses more than 1,000. */
#define REPEAT_MAX 1000

static struct node *read_choice(struct pattern_reader *reader);

static struct node *
node_new(struct pattern_reader *reader, enum node_type type)
{
    struct node *node = rego_take(reader->arena, sizeof(*node));
    if (node != NULL)
        node->type = type;
    return node;
}

static void
node_add(struct node *node, struct node *inner)
{
    if (node->last != NULL)
        node->last->next = inner;
    else
        node->inner = inner;
    node->last = inner;
}

static struct node *
node_of_set(struct pattern_reader *reader, const struct character_set *set)
{
    struct node *node = node_new(reader, NODE_SET);
    if (node != NULL)
        node->set = *set;
    return node;
}

static struct node *
node_of_character(struct pattern_reader *reader, int c)
{
    struct character_set set = {0};
    if (c < 0)
        return NULL;
    pattern_set_add(&set, (unsigned) c, (unsigned) c);
    if (reader->flags.fold)
        pattern_set_fold(&set);
    return node_of_set(reader, &set);
}

static struct node *
node_of_place(struct pattern_reader *reader, enum pattern_place place)
{
    struct node *node = node_new(reader, NODE_PLACE);
    if (node != NULL)
        node->argument = place;
    return node;
}

/* Read an escape outside of brackets, behind its backslash. */
static struct node *
read_backslash(struct pattern_reader *reader)
{
    struct character_set set = {0};
    if (reader->at >= reader->end)
        return NULL;
    if (pattern_set_add_class(&set, *reader->at)) {
        reader->at++;
        return node_of_set(reader, &set);
    }
    switch (*reader->at) {
    case 'A':
        reader->at++;
        return node_of_place(reader, PLACE_TEXT_BEGIN);
    case 'z':
        reader->at++;
        return node_of_place(reader, PLACE_TEXT_END);
    case 'b':
        reader->at++;
        return node_of_place(reader, PLACE_WORD_EDGE);
    case 'B':
        reader->at++;
        return node_of_place(reader, PLACE_NO_WORD_EDGE);
    default:
        return node_of_character(reader, pattern_read_escaped(reader));
    }
}

/* Read the name of a group up to '>'. False: it is not a name, is too long, or is used twice. */
static bool
read_name(struct pattern_reader *reader, unsigned group)
{
    const char *begin = reader->at;
    while (reader->at < reader->end && (pattern_is_alphanumeric(*reader->at) || *reader->at == '_'))
        reader->at++;
    size_t length = (size_t) (reader->at - begin);
    if (length == 0 || length >= PATTERN_NAME_MAX || reader->at >= reader->end
        || *reader->at++ != '>' || pattern_group(reader->pattern, begin, length) != 0)
        return false;
    memcpy(reader->pattern->name[group], begin, length);
    return true;
}

/* Read flags behind "(?" up to ':' or ')', which *ret_end gets. False: it is something else. */
static bool
read_flags(struct pattern_reader *reader, char *ret_end)
{
    bool on = true, any = false;
    struct pattern_flags flags = reader->flags;
    for (; reader->at < reader->end; reader->at++) {
        char c = *reader->at;
        if (c == 'i')
            flags.fold = on;
        else if (c == 's')
            flags.dot_all = on;
        else if (c == 'm')
            flags.lines = on;
        else if (c == '-' && on)
            on = false;
        else if ((c != ':' && c != ')') || (!any && (c == ')' || !on)))
            return false;
        else
            break;
        any = c != '-';
    }
    if (reader->at >= reader->end)
        return false;
    *ret_end = *reader->at++;
    reader->flags = flags;
    reader->pattern->folds |= flags.fold;
    return true;
}

/* Read a group behind its opening parenthesis. */
static struct node *
read_group(struct pattern_reader *reader)
{
    struct pattern_flags outer = reader->flags;
    struct node *group = node_new(reader, NODE_GROUP);
    bool captures = reader->at >= reader->end || *reader->at != '?', named = false;
    if (group == NULL || ++reader->depth > NESTING_MAX)
        return NULL;
    if (!captures) {
        size_t rest = (size_t) (reader->end - reader->at);
        named = (rest > 3 && memcmp(reader->at, "?P<", 3) == 0)
                || (rest > 2 && memcmp(reader->at, "?<", 2) == 0);
        reader->at += !named ? 1 : reader->at[1] == 'P' ? 3 : 2;
    }
    if (captures || named) {
        if (reader->pattern->groups >= PATTERN_GROUPS_MAX)
            return NULL;
        group->argument = reader->pattern->groups++;
        if (named && !read_name(reader, group->argument))
            return NULL;
    } else {
        char end;
        if (!read_flags(reader, &end))
            return NULL;
        group->type = NODE_SEQUENCE;
        if (end == ')') {
            /* The flags apply until the end of the surrounding group. */
            reader->depth--;
            return node_new(reader, NODE_EMPTY);
        }
    }
    struct node *inner = read_choice(reader);
    if (inner == NULL || reader->at >= reader->end || *reader->at++ != ')')
        return NULL;
    node_add(group, inner);
    reader->flags = outer;
    reader->depth--;
    return group;
}

static struct node *
read_atom(struct pattern_reader *reader)
{
    struct character_set set = {0};
    char c = *reader->at++;
    switch (c) {
    case '(':
        return read_group(reader);
    case '[':
        return pattern_read_set(reader, &set) ? node_of_set(reader, &set) : NULL;
    case '\\':
        return read_backslash(reader);
    case '^':
        return node_of_place(reader, reader->flags.lines ? PLACE_LINE_BEGIN : PLACE_TEXT_BEGIN);
    case '$':
        return node_of_place(reader, reader->flags.lines ? PLACE_LINE_END : PLACE_TEXT_END);
    case '.':
        pattern_set_add(&set, 0, 127);
        set.beyond = true;
        if (!reader->flags.dot_all)
            set.bits[0] &= ~((uint64_t) 1 << '\n');
        return node_of_set(reader, &set);
    case '*':
    case '+':
    case '?':
    case '{':
    case ')':
        return NULL;
    default:
        return node_of_character(reader, c);
    }
}

/* Read a number of a repetition. False: no number, or too large. */
static bool
read_count(struct pattern_reader *reader, int *ret)
{
    const char *begin = reader->at;
    for (*ret = 0;
         reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9' && *ret <= REPEAT_MAX;
         reader->at++)
        *ret = *ret * 10 + (*reader->at - '0');
    return reader->at > begin && *ret <= REPEAT_MAX;
}

/* Read the repetition of an atom. False: the repetition has another form. */
static bool
read_counts(struct pattern_reader *reader, int *ret_least, int *ret_most)
{
    char c = *reader->at++;
    *ret_least = c == '+';
    *ret_most = c == '?' ? 1 : -1;
    if (c != '{')
        return true;
    if (!read_count(reader, ret_least) || reader->at >= reader->end)
        return false;
    *ret_most = *ret_least;
    if (*reader->at == ',') {
        *ret_most = -1;
        reader->at++;
        if (reader->at < reader->end && *reader->at != '}'
            && (!read_count(reader, ret_most) || *ret_most < *ret_least))
            return false;
    }
    return reader->at < reader->end && *reader->at++ == '}';
}

static bool
is_repetition(const struct pattern_reader *reader)
{
    return reader->at < reader->end && *reader->at != '\0' && strchr("*+?{", *reader->at) != NULL;
}

/* True if the product of counted repetitions within each other is at most so many, as Go demands.
 */
static bool
repeats_fit(const struct node *node, int most)
{
    if (node->type == NODE_REPEAT) {
        int count = node->most < 0 ? node->least : node->most;
        if (count > most)
            return false;
        most = count > 0 ? most / count : most;
    }
    for (const struct node *inner = node->inner; inner != NULL; inner = inner->next)
        if (!repeats_fit(inner, most))
            return false;
    return true;
}

static struct node *
read_repeated(struct pattern_reader *reader)
{
    struct node *atom = read_atom(reader);
    if (atom == NULL || !is_repetition(reader))
        return atom;
    struct node *repeat = node_new(reader, NODE_REPEAT);
    /* Go refuses (?i)* and a**. */
    if (repeat == NULL || atom->type == NODE_EMPTY
        || !read_counts(reader, &repeat->least, &repeat->most))
        return NULL;
    if (reader->at < reader->end && *reader->at == '?') {
        repeat->lazy = true;
        reader->at++;
    }
    node_add(repeat, atom);
    return is_repetition(reader) || !repeats_fit(repeat, REPEAT_MAX) ? NULL : repeat;
}

static struct node *
read_sequence(struct pattern_reader *reader)
{
    struct node *sequence = node_new(reader, NODE_SEQUENCE);
    while (sequence != NULL && reader->at < reader->end && *reader->at != '|'
           && *reader->at != ')') {
        struct node *part = read_repeated(reader);
        if (part == NULL)
            return NULL;
        node_add(sequence, part);
    }
    return sequence;
}

static struct node *
read_choice(struct pattern_reader *reader)
{
    struct node *choice = node_new(reader, NODE_CHOICE);
    while (choice != NULL) {
        struct node *way = read_sequence(reader);
        if (way == NULL)
            return NULL;
        node_add(choice, way);
        if (reader->at >= reader->end || *reader->at != '|')
            return choice;
        reader->at++;
    }
    return NULL;
}

const struct pattern *
pattern_read(struct rego_arena *arena, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (length > PATTERN_LENGTH_MAX || (unsigned char) text[i] >= 0x80 || text[i] == '\0')
            return NULL;
    struct pattern *pattern = rego_take(arena, sizeof(*pattern));
    if (pattern == NULL)
        return NULL;
    pattern->groups = 1;
    struct pattern_reader reader = {
        .arena = arena, .pattern = pattern, .at = text, .end = text + length};
    struct node *tree = read_choice(&reader);
    if (tree == NULL || reader.at != reader.end)
        return NULL;
    struct instruction *code =
        talloc_array(arena->mem, struct instruction, PATTERN_INSTRUCTIONS_MAX);
    pattern->code = code;
    pattern->count = 2;
    if (code == NULL) {
        arena->full = true;
        return NULL;
    }
    code[0] = code[1] = (struct instruction){.op = OP_MATCH};
    pattern->start = pattern_code(pattern, tree, 1);
    size_t octets = pattern->count * sizeof(*code);
    pattern->code = rego_take(arena, octets);
    if (pattern->code != NULL)
        memcpy(pattern->code, code, octets);
    talloc_free(code);
    return pattern->start != 0 && pattern->code != NULL ? pattern : NULL;
}

unsigned
pattern_groups(const struct pattern *pattern)
{
    return pattern->groups;
}

unsigned
pattern_group(const struct pattern *pattern, const char *name, size_t length)
{
    for (unsigned i = 1; i < pattern->groups; i++)
        if (strlen(pattern->name[i]) == length && memcmp(pattern->name[i], name, length) == 0)
            return i;
    return 0;
}
