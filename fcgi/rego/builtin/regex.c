/* Regular expressions. A pattern beyond the part that pattern.h reads is left to the engine, and so
 * is one that Go would refuse. */
#include "config.h"

#include <string.h>

#include "base/buf.h"
#include "rego/builtin/builtin.h"
#include "rego/pattern.h"

/* Longest text that is built, in octets. */
#define REGEX_TEXT_MAX (4 << 20)

/* All matches of a pattern in a text, one after the other, as FindAll has them. */
struct matches {
    struct rego_machine *machine;
    const struct pattern *pattern;
    const struct rego_value *text;
    struct pattern_search *search;
    size_t from;
    int64_t last_end;
    struct pattern_match match;
};

/* Begin to search. False: the arguments are no strings, or the engine is asked. */
static bool
matches_begin(struct rego_machine *machine, const struct rego_value *pattern,
              const struct rego_value *text, struct matches *ret)
{
    if (pattern->type != REGO_STRING || text->type != REGO_STRING)
        return false;
    *ret = (struct matches){.machine = machine, .text = text, .last_end = -1};
    ret->pattern = pattern_read(machine->arena, pattern->text, pattern->count);
    if (ret->pattern == NULL) {
        rego_give_up(machine, "a regular expression beyond the common ones");
        return false;
    }
    ret->search = pattern_search_new(machine->arena->mem, ret->pattern, text);
    machine->arena->full |= ret->search == NULL;
    return ret->search != NULL;
}

/* Find the next match. False: there is none; the engine may have to be asked. */
static bool
matches_next(struct matches *matches)
{
    while (matches->from <= matches->text->count) {
        enum pattern_outcome outcome =
            pattern_find(matches->search, matches->from, &matches->match);
        if (outcome == PATTERN_DOUBTFUL)
            rego_give_up(matches->machine, "a search that takes long or ignores case");
        if (outcome != PATTERN_FOUND)
            return false;
        int64_t begin = matches->match.at[0], end = matches->match.at[1];
        /* Skip an empty match directly after another match. */
        bool accept = end != (int64_t) matches->from || begin != matches->last_end;
        if (end > (int64_t) matches->from)
            matches->from = (size_t) end;
        else
            do
                matches->from++;
            while (matches->from < matches->text->count
                   && (matches->text->text[matches->from] & 0xc0) == 0x80);
        matches->last_end = end;
        if (accept)
            return true;
    }
    return false;
}

/* Return the result of a search that has ended, or NULL if the engine is asked. */
static const struct rego_value *
matches_end(struct matches *matches, const struct rego_value *result)
{
    rego_spend(matches->machine, (uint64_t) pattern_steps(matches->search));
    talloc_free(matches->search);
    return matches->machine->outcome == REGO_DONE ? result : NULL;
}

static const struct rego_value *
run_match(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct matches matches;
    if (!matches_begin(machine, arg[0], arg[1], &matches))
        return NULL;
    bool found = matches_next(&matches);
    return matches_end(&matches, rego_boolean(found));
}

static const struct rego_value *
run_regex_is_valid(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return &rego_false;
    if (pattern_read(machine->arena, arg[0]->text, arg[0]->count) != NULL)
        return &rego_true;
    return rego_give_up(machine, "a regular expression beyond the common ones");
}

/* Return octets of the text as a value; a group that did not match is empty. */
static const struct rego_value *
part_of(struct matches *matches, int64_t from, int64_t to)
{
    if (from < 0)
        return &rego_empty_string;
    return rego_string(matches->machine->arena, matches->text->text + from, (size_t) (to - from));
}

static const struct rego_value *
run_regex_split(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct matches matches;
    if (!matches_begin(machine, arg[0], arg[1], &matches))
        return NULL;
    struct rego_value *parts = rego_array(machine->arena, 0);
    int64_t from = 0, end = 0;
    bool whole = arg[0]->count > 0 && arg[1]->count == 0;
    while (parts != NULL && !whole && matches_next(&matches)) {
        end = matches.match.at[0];
        if (matches.match.at[1] != 0
            && !rego_append(machine->arena, parts, part_of(&matches, from, end)))
            parts = NULL;
        from = matches.match.at[1];
    }
    if (parts != NULL && (whole || end != arg[1]->count)
        && !rego_append(machine->arena, parts, part_of(&matches, from, arg[1]->count)))
        parts = NULL;
    return matches_end(&matches, parts);
}

/* Return a match: its text, or the texts of all its groups. */
static const struct rego_value *
found_of(struct matches *matches, bool groups)
{
    const int64_t *at = matches->match.at;
    if (!groups)
        return part_of(matches, at[0], at[1]);
    struct rego_value *texts = rego_array(matches->machine->arena, 0);
    for (unsigned i = 0; texts != NULL && i < pattern_groups(matches->pattern); i++)
        if (!rego_append(matches->machine->arena, texts,
                         part_of(matches, at[2 * i], at[2 * i + 1])))
            return NULL;
    return texts;
}

/* Return the first n matches; below zero, all of them. */
static const struct rego_value *
find_matches(struct rego_machine *machine, const struct rego_value *const *arg, bool groups)
{
    struct matches matches;
    int64_t n;
    if (!rego_is_integer(arg[2], &n) || !matches_begin(machine, arg[0], arg[1], &matches))
        return NULL;
    struct rego_value *all = rego_array(machine->arena, 0);
    while (all != NULL && (n < 0 || all->count < n) && matches_next(&matches))
        if (!rego_append(machine->arena, all, found_of(&matches, groups)))
            all = NULL;
    return matches_end(&matches, all);
}

static const struct rego_value *
run_find_n(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return find_matches(machine, arg, false);
}

static const struct rego_value *
run_find_submatch(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return find_matches(machine, arg, true);
}

static size_t
name_length(const char *text, const char *end)
{
    size_t length = 0;
    while (text + length < end
           && ((text[length] >= '0' && text[length] <= '9') || text[length] == '_'
               || ((text[length] | 0x20) >= 'a' && (text[length] | 0x20) <= 'z')))
        length++;
    return length;
}

/* Return the group of a name: a number without zeros before it, or a name. 0 with *ret_found false:
 * there is none. */
static unsigned
group_of(const struct pattern *pattern, const char *name, size_t length, bool *ret_found)
{
    unsigned number = 0;
    size_t digits = 0;
    while (digits < length && digits < 8 && name[digits] >= '0' && name[digits] <= '9')
        number = number * 10 + (unsigned) (name[digits++] - '0');
    if (digits < length || (length > 1 && name[0] == '0'))
        number = pattern_group(pattern, name, length);
    else if (number == 0)
        return *ret_found = true, 0;
    *ret_found = number > 0 && number < pattern_groups(pattern);
    return number;
}

/* Append a replacement, in which $1, $name, ${1} and ${name} are groups and $$ is a dollar. */
static void
append_replacement(struct buf *buf, struct matches *matches, const struct rego_value *with)
{
    const char *at = with->text, *end = at + with->count, *dollar;
    for (; (dollar = memchr(at, '$', (size_t) (end - at))) != NULL;) {
        buf_append(buf, at, (size_t) (dollar - at));
        at = dollar + 1;
        bool braces = at < end && *at == '{', found;
        size_t length = name_length(at + braces, end);
        if (at < end && *at == '$') {
            buf_append_char(buf, '$');
            at++;
        } else if (length == 0 || (braces && (at + 1 + length >= end || at[1 + length] != '}'))) {
            buf_append_char(buf, '$');
        } else {
            unsigned group = group_of(matches->pattern, at + braces, length, &found);
            const int64_t *place = &matches->match.at[2 * group];
            if (found && place[0] >= 0)
                buf_append(buf, matches->text->text + place[0], (size_t) (place[1] - place[0]));
            at += length + (braces ? 2 : 0);
        }
    }
    buf_append(buf, at, (size_t) (end - at));
}

static const struct rego_value *
run_regex_replace(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct matches matches;
    if (!rego_are(arg, 3, REGO_STRING))
        return NULL;
    /* In Go a name may have letters beyond ASCII. */
    bool dollar = memchr(arg[2]->text, '$', arg[2]->count) != NULL;
    for (uint32_t i = 0; dollar && i < arg[2]->count; i++)
        if ((unsigned char) arg[2]->text[i] >= 0x80)
            return rego_give_up(machine, "regex.replace() with letters beyond ASCII");
    if (!matches_begin(machine, arg[1], arg[0], &matches))
        return NULL;
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, REGEX_TEXT_MAX);
    int64_t from = 0;
    while (matches_next(&matches) && text.status == AZ_OK) {
        buf_append(&text, arg[0]->text + from, (size_t) (matches.match.at[0] - from));
        append_replacement(&text, &matches, arg[2]);
        from = matches.match.at[1];
    }
    buf_append(&text, arg[0]->text + from, arg[0]->count - (size_t) from);
    machine->arena->full |= text.status != AZ_OK;
    const struct rego_value *result =
        text.status == AZ_OK ? rego_string(machine->arena, text.len > 0 ? text.data : "", text.len)
                             : NULL;
    return matches_end(&matches, result);
}

const struct rego_builtin rego_regex_builtins[] = {
    {"regex.find_all_string_submatch_n", 3, run_find_submatch },
    {"regex.find_n",                     3, run_find_n        },
    {"regex.is_valid",                   1, run_regex_is_valid},
    {"regex.match",                      2, run_match         },
    {"regex.replace",                    3, run_regex_replace },
    {"regex.split",                      2, run_regex_split   },
    {"re_match",                         2, run_match         },
    {NULL,                               0, NULL              },
};
