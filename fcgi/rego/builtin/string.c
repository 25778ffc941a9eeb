/* Strings. Offsets and lengths count code points. */
#include "config.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "rego/builtin/builtin.h"

/* Longest string that is built, in octets. */
#define STRING_MAX (4 << 20)

static bool
is_ascii(const struct rego_value *text)
{
    for (uint32_t i = 0; i < text->count; i++)
        if ((unsigned char) text->text[i] >= 0x80)
            return false;
    return true;
}

/* Return the first place of a text in another from an octet on, or UINT32_MAX. */
static uint32_t
find_text(const struct rego_value *in, const struct rego_value *what, uint32_t from)
{
    const char *at = from <= in->count
                         ? memmem(in->text + from, in->count - from, what->text, what->count)
                         : NULL;
    return at != NULL ? (uint32_t) (at - in->text) : UINT32_MAX;
}

static const struct rego_value *
run_contains(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_are(arg, 2, REGO_STRING) ? rego_boolean(find_text(arg[0], arg[1], 0) != UINT32_MAX)
                                         : NULL;
}

static bool
text_starts(const struct rego_value *text, const struct rego_value *with)
{
    return text->count >= with->count && memcmp(text->text, with->text, with->count) == 0;
}

static bool
text_ends(const struct rego_value *text, const struct rego_value *with)
{
    return text->count >= with->count
           && memcmp(text->text + text->count - with->count, with->text, with->count) == 0;
}

static const struct rego_value *
run_starts_with(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_are(arg, 2, REGO_STRING) ? rego_boolean(text_starts(arg[0], arg[1])) : NULL;
}

static const struct rego_value *
run_ends_with(struct rego_machine *machine, const struct rego_value *const *arg)
{
    (void) machine;
    return rego_are(arg, 2, REGO_STRING) ? rego_boolean(text_ends(arg[0], arg[1])) : NULL;
}

static const struct rego_value *
run_trim_prefix(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (!text_starts(arg[0], arg[1]))
        return arg[0];
    return rego_text(machine->arena, arg[0]->text + arg[1]->count, arg[0]->count - arg[1]->count);
}

static const struct rego_value *
run_trim_suffix(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (!text_ends(arg[0], arg[1]))
        return arg[0];
    return rego_string(machine->arena, arg[0]->text, arg[0]->count - arg[1]->count);
}

/* Change the case of ASCII letters; other letters are left to the engine, which knows Unicode. */
static const struct rego_value *
change_case(struct rego_machine *machine, const struct rego_value *text, char first, char last)
{
    if (text->type != REGO_STRING)
        return NULL;
    if (!is_ascii(text))
        return rego_give_up(machine, "the case of letters beyond ASCII");
    char *copy = rego_take(machine->arena, (size_t) text->count + 1);
    for (uint32_t i = 0; copy != NULL && i < text->count; i++) {
        char c = text->text[i];
        copy[i] = c >= first && c <= last ? (char) (c ^ 0x20) : c;
    }
    return copy != NULL ? rego_text(machine->arena, copy, text->count) : NULL;
}

static const struct rego_value *
run_lower(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return change_case(machine, arg[0], 'A', 'Z');
}

static const struct rego_value *
run_upper(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return change_case(machine, arg[0], 'a', 'z');
}

static const struct rego_value *
run_concat(struct rego_machine *machine, const struct rego_value *const *arg)
{
    const struct rego_value *list = arg[1];
    if (arg[0]->type != REGO_STRING || (list->type != REGO_ARRAY && list->type != REGO_SET))
        return NULL;
    size_t length = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->item[i]->type != REGO_STRING)
            return NULL;
        length += list->item[i]->count + (i > 0 ? arg[0]->count : 0);
    }
    char *joined = length <= STRING_MAX ? rego_take(machine->arena, length + 1) : NULL,
         *at = joined;
    if (joined == NULL) {
        machine->arena->full = true;
        return NULL;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        if (i > 0)
            at = (char *) memcpy(at, arg[0]->text, arg[0]->count) + arg[0]->count;
        at = (char *) memcpy(at, list->item[i]->text, list->item[i]->count) + list->item[i]->count;
    }
    return rego_text(machine->arena, joined, length);
}

/* Split a text at each of its characters. */
static const struct rego_value *
split_characters(struct rego_machine *machine, const struct rego_value *text)
{
    struct rego_value *parts = rego_array(machine->arena, 0);
    for (uint32_t i = 0, next; parts != NULL && i < text->count; i = next) {
        for (next = i + 1; next < text->count && (text->text[next] & 0xc0) == 0x80;)
            next++;
        if (!rego_append(machine->arena, parts,
                         rego_string(machine->arena, text->text + i, next - i)))
            return NULL;
    }
    return parts;
}

static const struct rego_value *
run_split(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (arg[1]->count == 0)
        return split_characters(machine, arg[0]);
    struct rego_value *parts = rego_array(machine->arena, 0);
    for (uint32_t from = 0; parts != NULL;) {
        uint32_t at = find_text(arg[0], arg[1], from);
        uint32_t end = at == UINT32_MAX ? arg[0]->count : at;
        if (!rego_append(machine->arena, parts,
                         rego_string(machine->arena, arg[0]->text + from, end - from)))
            return NULL;
        if (at == UINT32_MAX)
            break;
        from = at + arg[1]->count;
    }
    return parts;
}

/* Split a text, and return at most so many of the first parts (of the last, if below zero). */
static const struct rego_value *
run_split_n(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n;
    const struct rego_value *parts = run_split(machine, arg);
    if (parts == NULL || !rego_is_integer(arg[2], &n))
        return NULL;
    int64_t count = parts->count, most = n < 0 ? (n < -count ? count : -n) : n > count ? count : n;
    struct rego_value *some = rego_array(machine->arena, 0);
    for (int64_t i = n < 0 ? count - most : 0, end = i + most; some != NULL && i < end; i++)
        if (!rego_append(machine->arena, some, parts->item[i]))
            return NULL;
    return some;
}

/* Return the octet at which a code point begins, or the end. */
static uint32_t
octet_of(const struct rego_value *text, int64_t point)
{
    uint32_t at = 0;
    for (; at < text->count && point > 0; point--)
        for (at++; at < text->count && (text->text[at] & 0xc0) == 0x80;)
            at++;
    return at;
}

static const struct rego_value *
run_substring(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t start, length;
    if (arg[0]->type != REGO_STRING || !rego_is_integer(arg[1], &start)
        || !rego_is_integer(arg[2], &length) || start < 0)
        return NULL;
    uint32_t from = octet_of(arg[0], start), to = arg[0]->count;
    if (length >= 0 && length < arg[0]->count && start < arg[0]->count)
        to = octet_of(arg[0], start + length);
    return rego_string(machine->arena, arg[0]->text + from, to > from ? to - from : 0);
}

static const struct rego_value *
run_indexof(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING) || arg[1]->count == 0)
        return NULL;
    uint32_t at = find_text(arg[0], arg[1], 0);
    return rego_integer(machine->arena,
                        at == UINT32_MAX ? -1 : (int64_t) utf8_length(arg[0]->text, at));
}

static const struct rego_value *
run_replace(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 3, REGO_STRING))
        return NULL;
    if (arg[1]->count == 0)
        return rego_give_up(machine, "replace() of an empty text");
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, STRING_MAX);
    uint32_t from = 0;
    for (uint32_t at; (at = find_text(arg[0], arg[1], from)) != UINT32_MAX;
         from = at + arg[1]->count) {
        buf_append(&text, arg[0]->text + from, at - from);
        buf_append(&text, arg[2]->text, arg[2]->count);
    }
    if (from == 0)
        return arg[0];
    if (buf_append(&text, arg[0]->text + from, arg[0]->count - from) != AZ_OK) {
        machine->arena->full = true;
        return NULL;
    }
    return rego_string(machine->arena, text.len > 0 ? text.data : "", text.len);
}

const struct rego_builtin rego_string_builtins[] = {
    {"concat",          2, run_concat     },
    {"contains",        2, run_contains   },
    {"endswith",        2, run_ends_with  },
    {"indexof",         2, run_indexof    },
    {"lower",           1, run_lower      },
    {"replace",         3, run_replace    },
    {"split",           2, run_split      },
    {"startswith",      2, run_starts_with},
    {"strings.split_n", 3, run_split_n    },
    {"substring",       3, run_substring  },
    {"trim_prefix",     2, run_trim_prefix},
    {"trim_suffix",     2, run_trim_suffix},
    {"upper",           1, run_upper      },
    {NULL,              0, NULL           },
};
