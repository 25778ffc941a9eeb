/*
 * Globs as OPA matches them (github.com/gobwas/glob). In some cases the answer of that library is
 * not what its documentation says; a pattern whose answer is not certain is left to the engine:
 * letters beyond ASCII, two wildcards side by side, alternatives within a pattern.
 */
#include "config.h"

#include <string.h>

#include "rego/builtin/builtin.h"

/* Most parts and delimiters of a pattern, and most comparisons of a match: some 10 ms. */
#define PARTS_MAX 64
#define DELIMITERS_MAX 16
#define COMPARISONS_MAX 1000000

enum part_type {
    PART_TEXT,
    PART_ONE, /* any character but a delimiter */
    PART_SET, /* one of a set of characters */
    PART_ANY, /* any characters but delimiters */
    PART_ALL, /* any characters */
};

struct part {
    enum part_type type;
    const char *text; /* PART_TEXT, with its backslashes; PART_SET: within the brackets */
    size_t length;    /* in octets of `text` */
    size_t size;      /* characters that it takes */
};

struct glob {
    struct part part[PARTS_MAX];
    size_t parts;
    char delimiter[DELIMITERS_MAX + 1];
    uint64_t comparisons; /* so far */
};

static bool
is_delimiter(const struct glob *glob, char c)
{
    return c == '\0' || strchr(glob->delimiter, c) != NULL;
}

static bool
glob_is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Read [abc], [a-c], [!abc] or [!a-c]. Returns the octet behind it; NULL: it has another form. */
static const char *
read_brackets(const char *at, const char *end, struct part *ret)
{
    *ret = (struct part){.type = PART_SET, .text = ++at, .size = 1};
    at += at < end && *at == '!';
    const char *first = at;
    while (at < end && (glob_is_alphanumeric(*at) || (*at == '-' && at == first + 1)))
        at++;
    bool range = at - first > 1 && first[1] == '-';
    if (at >= end || *at != ']' || at - first < 2
        || (range && (at - first != 3 || first[2] < first[0])))
        return NULL;
    ret->length = (size_t) (at - ret->text);
    return at + 1;
}

/* Read text up to a character that means something. */
static const char *
read_text(const char *at, const char *end, struct part *ret)
{
    *ret = (struct part){.type = PART_TEXT, .text = at};
    for (; at < end && strchr("*?[{},", *at) == NULL; at++) {
        at += *at == '\\';
        ret->size++;
        if (at >= end)
            return NULL;
    }
    ret->length = (size_t) (at - ret->text);
    return at;
}

/* Read a pattern without alternatives. False: it is left to the engine. */
static bool
read_glob(const char *at, const char *end, struct glob *glob)
{
    for (glob->parts = 0; at != NULL && at < end; glob->parts++) {
        if (glob->parts >= PARTS_MAX)
            return false;
        struct part *part = &glob->part[glob->parts];
        *part = (struct part){.type = PART_ONE, .size = 1};
        if (*at == '?') {
            at++;
        } else if (*at == '*') {
            part->type = at + 1 < end && at[1] == '*' ? PART_ALL : PART_ANY;
            at += part->type == PART_ALL ? 2 : 1;
            if (part->type == PART_ANY && glob->delimiter[0] == '\0')
                part->type = PART_ALL;
            part->size = 0;
        } else if (*at == '[') {
            at = read_brackets(at, end, part);
        } else {
            at = strchr("{},", *at) == NULL ? read_text(at, end, part) : NULL;
        }
        if (glob->parts > 0 && part->type != PART_TEXT && part[-1].type != PART_TEXT)
            return false;
    }
    /* A single one of these matches the empty text, too. */
    bool lone =
        glob->parts == 1 && (glob->part[0].type == PART_ONE || glob->part[0].type == PART_SET);
    return at != NULL && glob->parts > 0 && !lone;
}

static bool
is_in_brackets(const struct part *part, char c)
{
    bool negated = part->text[0] == '!';
    const char *set = part->text + negated;
    size_t length = part->length - negated;
    if (set[1] == '-')
        return (c >= set[0] && c <= set[2]) != negated;
    return (memchr(set, c, length) != NULL) != negated;
}

static bool
is_wild(const struct part *part)
{
    return part->type == PART_ANY || part->type == PART_ALL;
}

/* Return the number of characters that parts of a fixed size take. */
static size_t
size_of(const struct part *part, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += part[i].size;
    return size;
}

/* True if parts of a fixed size match the beginning of the text, which is long enough. */
static bool
begins_with(const struct glob *glob, const struct part *part, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (part[i].type == PART_ONE && is_delimiter(glob, *text))
            return false;
        if (part[i].type == PART_SET && !is_in_brackets(&part[i], *text))
            return false;
        if (part[i].type != PART_TEXT) {
            text++;
            continue;
        }
        for (size_t k = 0; k < part[i].length; k++) {
            k += part[i].text[k] == '\\';
            if (*text++ != part[i].text[k])
                return false;
        }
    }
    return true;
}

/* Return the index after the run of parts of fixed size that begins at `from`. */
static size_t
run_end(const struct glob *glob, size_t from, size_t to)
{
    while (from < to && !is_wild(&glob->part[from]))
        from++;
    return from;
}

/*
 * Match parts as the library does: it searches for the longest part of a fixed size, and matches
 * the rest on both sides of it. For a text, ** and a text it compares both ends without a check if
 * they overlap.
 */
static bool
match_parts(struct glob *glob, size_t from, size_t to, const char *text, size_t length)
{
    const struct part *part = &glob->part[from];
    size_t best = to, best_end = to, best_size = 0;
    if (from == to)
        return length == 0;
    if (to - from == 1 && is_wild(part)) {
        for (size_t i = 0; part->type == PART_ANY && i < length; i++, glob->comparisons++)
            if (is_delimiter(glob, text[i]))
                return false;
        return true;
    }
    if (to - from == 3 && part[0].type == PART_TEXT && part[1].type == PART_ALL
        && part[2].type == PART_TEXT)
        return length >= part[0].size && length >= part[2].size && begins_with(glob, part, 1, text)
               && begins_with(glob, part + 2, 1, text + length - part[2].size);
    for (size_t i = from; i < to; i++) {
        size_t end = run_end(glob, i, to), size = size_of(&glob->part[i], end - i);
        if (end > i && size >= best_size) {
            best = i;
            best_end = end;
            best_size = size;
        }
        i = end > i ? end - 1 : i;
    }
    for (size_t at = 0; at + best_size <= length; at++) {
        glob->comparisons += 1 + best_size;
        if (glob->comparisons > COMPARISONS_MAX)
            return false;
        if (begins_with(glob, &glob->part[best], best_end - best, text + at)
            && match_parts(glob, from, best, text, at)
            && match_parts(glob, best_end, to, text + at + best_size, length - at - best_size))
            return true;
    }
    return false;
}

/* Copy delimiters: null means that there are none, and an empty array means a dot. False: left to
 * the engine. */
static bool
read_delimiters(const struct rego_value *value, struct glob *glob)
{
    if (value->type == REGO_NULL)
        return true;
    if (value->type != REGO_ARRAY || value->count > DELIMITERS_MAX)
        return false;
    for (uint32_t i = 0; i < value->count; i++) {
        if (value->item[i]->type != REGO_STRING || value->item[i]->count != 1)
            return false;
        glob->delimiter[i] = value->item[i]->text[0];
    }
    if (value->count == 0)
        glob->delimiter[0] = '.';
    return true;
}

static bool
is_plain(const struct rego_value *text)
{
    for (uint32_t i = 0; i < text->count; i++)
        if ((unsigned char) text->text[i] >= 0x80 || text->text[i] == '\0')
            return false;
    return true;
}

/* True if two parts are equal: the library moves equal parts out of alternatives. */
static bool
is_same_part(const struct part *a, const struct part *b)
{
    return a->type == b->type && a->length == b->length
           && (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

/*
 * Match {a,b,...}: true if one of them matches. *ret_sure is false if an alternative is left to the
 * engine, or if all begin or end with equal parts.
 */
static bool
match_alternatives(struct glob *glob, const struct rego_value *pattern,
                   const struct rego_value *text, bool *ret_sure)
{
    const char *at = pattern->text + 1, *end = pattern->text + pattern->count - 1;
    struct part first = {0}, last = {0};
    bool found = false, begins = false, ends = false;
    *ret_sure = false;
    for (unsigned i = 0; at <= end; i++) {
        const char *stop = at;
        while (stop < end && *stop != ',')
            stop += *stop == '\\' && stop + 1 < end ? 2 : 1;
        if (!read_glob(at, stop, glob))
            return false;
        struct part *part = glob->part, *final = &glob->part[glob->parts - 1];
        if (i == 0) {
            first = *part;
            last = *final;
        }
        begins |= !is_same_part(&first, part);
        ends |= !is_same_part(&last, final);
        found |= match_parts(glob, 0, glob->parts, text->text, text->count);
        at = stop + 1;
    }
    *ret_sure = begins && ends;
    return found;
}

static const struct rego_value *
run_glob_match(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct glob glob = {0};
    if (arg[0]->type != REGO_STRING || arg[2]->type != REGO_STRING
        || (arg[1]->type != REGO_NULL && arg[1]->type != REGO_ARRAY))
        return NULL;
    bool found = false, sure = is_plain(arg[0]) && is_plain(arg[2]) && arg[0]->count > 0
                               && read_delimiters(arg[1], &glob);
    const char *end = arg[0]->text + arg[0]->count;
    if (sure && arg[0]->text[0] == '{' && end[-1] == '}') {
        found = match_alternatives(&glob, arg[0], arg[2], &sure);
    } else if (sure) {
        sure = read_glob(arg[0]->text, end, &glob);
        found = sure && match_parts(&glob, 0, glob.parts, arg[2]->text, arg[2]->count);
    }
    if (!rego_spend(machine, glob.comparisons))
        return NULL;
    if (!sure || glob.comparisons > COMPARISONS_MAX)
        return rego_give_up(machine, "a glob beyond the common ones");
    return rego_boolean(found);
}

static const struct rego_value *
run_quote_meta(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *copy = rego_take(machine->arena, (size_t) arg[0]->count * 2 + 1);
    size_t length = 0;
    for (uint32_t i = 0; copy != NULL && i < arg[0]->count; i++) {
        if (arg[0]->text[i] != '\0' && strchr("*?\\[]{}", arg[0]->text[i]) != NULL)
            copy[length++] = '\\';
        copy[length++] = arg[0]->text[i];
    }
    return copy != NULL ? rego_text(machine->arena, copy, length) : NULL;
}

const struct rego_builtin rego_glob_builtins[] = {
    {"glob.match",      3, run_glob_match},
    {"glob.quote_meta", 1, run_quote_meta},
    {NULL,              0, NULL          },
};
