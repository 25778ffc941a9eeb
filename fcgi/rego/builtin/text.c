/* More functions on strings: trimming, reversing, counting and formatting. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "rego/builtin/builtin.h"

/* Longest string that is built, in octets. */
#define TEXT_MAX (4 << 20)

/* Return the length of the code point at an octet. */
static uint32_t
point_length(const struct rego_value *text, uint32_t at)
{
    uint32_t end = at + 1;
    while (end < text->count && (text->text[end] & 0xc0) == 0x80)
        end++;
    return end - at;
}

/* Octets that are compared in a step. */
#define OCTETS_A_STEP 16

/* True if the other text contains a code point. */
static bool
is_in_cutset(const char *point, uint32_t length, const struct rego_value *cutset)
{
    for (uint32_t i = 0, each; i < cutset->count; i += each) {
        each = point_length(cutset, i);
        if (each == length && memcmp(cutset->text + i, point, length) == 0)
            return true;
    }
    return false;
}

/* Remove characters of the second text from the sides of the first. */
static const struct rego_value *
trim_sides(struct rego_machine *machine, const struct rego_value *const *arg, bool left, bool right)
{
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    uint32_t from = 0, to = arg[0]->count, each;
    for (; left && from < to; from += each) {
        each = point_length(arg[0], from);
        if (!rego_spend(machine, arg[1]->count))
            return NULL;
        if (!is_in_cutset(arg[0]->text + from, each, arg[1]))
            break;
    }
    for (; right && to > from; to -= each) {
        for (each = 1; each < to - from && (arg[0]->text[to - each] & 0xc0) == 0x80;)
            each++;
        if (!rego_spend(machine, arg[1]->count))
            return NULL;
        if (!is_in_cutset(arg[0]->text + to - each, each, arg[1]))
            break;
    }
    return rego_string(machine->arena, arg[0]->text + from, to - from);
}

static const struct rego_value *
run_trim(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return trim_sides(machine, arg, true, true);
}

static const struct rego_value *
run_trim_left(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return trim_sides(machine, arg, true, false);
}

static const struct rego_value *
run_trim_right(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return trim_sides(machine, arg, false, true);
}

/* Remove white space as Unicode has it (White_Space). */
static const struct rego_value *
run_trim_space(struct rego_machine *machine, const struct rego_value *const *arg)
{
    static const char spaces[] =
        "\t\n\v\f\r \xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x81\xe2\x80\x82\xe2\x80\x83"
        "\xe2\x80\x84\xe2\x80\x85\xe2\x80\x86\xe2\x80\x87\xe2\x80\x88\xe2\x80\x89\xe2\x80\x8a"
        "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80";
    const struct rego_value cutset = {
        .type = REGO_STRING, .count = sizeof(spaces) - 1, .text = spaces};
    const struct rego_value *both[2] = {arg[0], &cutset};
    return trim_sides(machine, both, true, true);
}

static const struct rego_value *
run_reverse(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING)
        return NULL;
    char *copy = rego_take(machine->arena, (size_t) arg[0]->count + 1);
    for (uint32_t at = 0, each; copy != NULL && at < arg[0]->count; at += each) {
        each = point_length(arg[0], at);
        memcpy(copy + arg[0]->count - at - each, arg[0]->text + at, each);
    }
    return copy != NULL ? rego_text(machine->arena, copy, arg[0]->count) : NULL;
}

/* Count occurrences that do not overlap; an empty text occurs before and after each character. */
static const struct rego_value *
run_strings_count(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING))
        return NULL;
    if (arg[1]->count == 0)
        return rego_integer(machine->arena, (int64_t) utf8_length(arg[0]->text, arg[0]->count) + 1);
    int64_t count = 0;
    const char *at = arg[0]->text, *end = at + arg[0]->count;
    while ((at = memmem(at, (size_t) (end - at), arg[1]->text, arg[1]->count)) != NULL) {
        at += arg[1]->count;
        count++;
    }
    return rego_integer(machine->arena, count);
}

static const struct rego_value *
run_indexof_n(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (!rego_are(arg, 2, REGO_STRING) || arg[1]->count == 0)
        return NULL;
    struct rego_value *places = rego_array(machine->arena, 0);
    int64_t point = 0;
    for (uint32_t at = 0; places != NULL && at < arg[0]->count;
         at += point_length(arg[0], at), point++)
        if (!rego_spend(machine, arg[1]->count / OCTETS_A_STEP))
            return NULL;
        else if (arg[0]->count - at >= arg[1]->count
                 && memcmp(arg[0]->text + at, arg[1]->text, arg[1]->count) == 0
                 && !rego_append(machine->arena, places, rego_integer(machine->arena, point)))
            return NULL;
    return places;
}

/* Return a finished text. */
static const struct rego_value *
text_own_text_of(struct rego_machine *machine, struct buf *buf)
{
    if (buf->status != AZ_OK) {
        machine->arena->full = true;
        return NULL;
    }
    return rego_string(machine->arena, buf->len > 0 ? buf->data : "", buf->len);
}

/* Return the first of the texts, in their order, that stands at an octet, or NULL. */
static const struct rego_member *
text_at(const struct rego_value *texts, const struct rego_value *in, uint32_t at)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        const struct rego_value *text = texts->member[i].key;
        if (in->count - at >= text->count && memcmp(in->text + at, text->text, text->count) == 0)
            return &texts->member[i];
    }
    return NULL;
}

static const struct rego_value *
run_replace_n(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_OBJECT || arg[1]->type != REGO_STRING)
        return NULL;
    for (uint32_t i = 0; i < arg[0]->count; i++)
        if (arg[0]->member[i].key->type != REGO_STRING
            || arg[0]->member[i].value->type != REGO_STRING)
            return NULL;
    if (arg[0]->count > 0 && arg[0]->member[0].key->count == 0)
        return rego_give_up(machine, "strings.replace_n() of an empty text");
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, TEXT_MAX);
    for (uint32_t at = 0; at < arg[1]->count;) {
        const struct rego_member *member = text_at(arg[0], arg[1], at);
        if (!rego_spend(machine, arg[0]->count))
            return NULL;
        if (member != NULL)
            buf_append(&text, member->value->text, member->value->count);
        else
            buf_append_char(&text, arg[1]->text[at]);
        at += member != NULL ? member->key->count : 1;
    }
    return text_own_text_of(machine, &text);
}

/* True for a string, or a list of strings. */
static bool
is_texts(const struct rego_value *value)
{
    if (value->type == REGO_STRING)
        return true;
    if (value->type != REGO_ARRAY && value->type != REGO_SET)
        return false;
    return rego_are(value->item, value->count, REGO_STRING);
}

/* True if one of the texts begins (or ends) with one of the others. */
static const struct rego_value *
match_any(struct rego_machine *machine, const struct rego_value *const *arg, bool end)
{
    if (!is_texts(arg[0]) || !is_texts(arg[1]))
        return NULL;
    const struct rego_value *const *text = arg[0]->type == REGO_STRING ? &arg[0] : arg[0]->item;
    const struct rego_value *const *part = arg[1]->type == REGO_STRING ? &arg[1] : arg[1]->item;
    uint32_t texts = arg[0]->type == REGO_STRING ? 1 : arg[0]->count;
    uint32_t parts = arg[1]->type == REGO_STRING ? 1 : arg[1]->count;
    for (uint32_t i = 0; i < texts && rego_spend(machine, parts); i++)
        for (uint32_t k = 0; k < parts; k++)
            if (text[i]->count >= part[k]->count
                && memcmp(text[i]->text + (end ? text[i]->count - part[k]->count : 0),
                          part[k]->text, part[k]->count)
                       == 0)
                return &rego_true;
    return machine->outcome == REGO_DONE ? &rego_false : NULL;
}

static const struct rego_value *
run_any_prefix(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return match_any(machine, arg, false);
}

static const struct rego_value *
run_any_suffix(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return match_any(machine, arg, true);
}

static const struct rego_value *
run_format_int(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t base;
    char digits[72], *at = digits + sizeof(digits);
    if (!rego_are(arg, 2, REGO_NUMBER) || !rego_is_integer(arg[1], &base)
        || (base != 2 && base != 8 && base != 10 && base != 16))
        return NULL;
    if (arg[0]->decimal || arg[1]->decimal)
        return rego_give_up(machine, "format_int() of a number that is no 64-bit integer");
    bool minus = arg[0]->integer < 0;
    uint64_t rest = minus ? -(uint64_t) arg[0]->integer : (uint64_t) arg[0]->integer;
    do
        *--at = "0123456789abcdef"[rest % (uint64_t) base];
    while ((rest /= (uint64_t) base) > 0);
    if (minus)
        *--at = '-';
    return rego_string(machine->arena, at, (size_t) (digits + sizeof(digits) - at));
}

/* Append an integer as %d or %x writes it, with zeros up to a width. False for a negative one in
 * %x, which C would write as an unsigned number. */
static bool
append_integer(struct buf *text, int64_t integer, char verb, int width)
{
    if (verb == 'x' && integer < 0)
        return false;
    buf_append_format(text, verb == 'x' ? "%0*" PRIx64 : "%0*" PRId64, width, integer);
    return true;
}

/* Read the width of %03d, or 0 if there is none. */
static int
read_width(const char **at)
{
    const char *c = *at;
    if (c[0] != '0' || c[1] < '1' || c[1] > '9')
        return 0;
    *at += 2;
    return c[1] - '0';
}

/*
 * Format a text. Understood are %s and %v of strings, %d, %x and %v of 64-bit integers, %03d and
 * %02x with such widths, and %%; other verbs of Go are left to the engine.
 */
static const struct rego_value *
run_sprintf(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_STRING || arg[1]->type != REGO_ARRAY)
        return NULL;
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, TEXT_MAX);
    uint32_t used = 0;
    for (const char *c = arg[0]->text, *end = c + arg[0]->count; c < end; c++) {
        if (*c != '%') {
            buf_append_char(&text, *c);
            continue;
        }
        c++;
        int width = read_width(&c);
        char verb = c < end ? *c : '\0';
        const struct rego_value *value =
            verb != '%' && used < arg[1]->count ? arg[1]->item[used++] : NULL;
        if (verb == '%' && width == 0)
            buf_append_char(&text, '%');
        else if (value != NULL && value->type == REGO_STRING && (verb == 's' || verb == 'v')
                 && width == 0)
            buf_append(&text, value->text, value->count);
        else if (value == NULL || value->type != REGO_NUMBER || value->decimal
                 || (verb != 'd' && verb != 'x' && (verb != 'v' || width > 0))
                 || !append_integer(&text, value->integer, verb, width))
            return rego_give_up(machine, "sprintf() beyond %s, %v, %d and %x");
    }
    if (used < arg[1]->count)
        return rego_give_up(machine, "sprintf() with too many arguments");
    return text_own_text_of(machine, &text);
}

/* Put a template string together. Each part is a string, a number, or a set with the value of an
 * expression; a set is empty if the expression is undefined. */
static const struct rego_value *
run_template(struct rego_machine *machine, const struct rego_value *const *arg)
{
    if (arg[0]->type != REGO_ARRAY)
        return NULL;
    BUF_AUTO text;
    buf_init(&text, machine->arena->mem, TEXT_MAX);
    for (uint32_t i = 0; i < arg[0]->count; i++) {
        const struct rego_value *part = arg[0]->item[i];
        if (part->type == REGO_SET && part->count == 0) {
            buf_append_text(&text, "<undefined>");
            continue;
        }
        if (part->type == REGO_SET)
            part = part->count == 1 ? part->item[0] : &rego_null;
        if (part->type == REGO_STRING)
            buf_append(&text, part->text, part->count);
        else if (part->type == REGO_NUMBER && !part->decimal)
            buf_append_format(&text, "%" PRId64, part->integer);
        else if (part->type == REGO_BOOLEAN)
            buf_append_text(&text, part->boolean ? "true" : "false");
        else
            return rego_give_up(machine, "a template string with a value of another type");
    }
    return text_own_text_of(machine, &text);
}

const struct rego_builtin rego_text_builtins[] = {
    {"format_int",               2, run_format_int   },
    {"indexof_n",                2, run_indexof_n    },
    {"internal.template_string", 1, run_template     },
    {"sprintf",                  2, run_sprintf      },
    {"strings.any_prefix_match", 2, run_any_prefix   },
    {"strings.any_suffix_match", 2, run_any_suffix   },
    {"strings.count",            2, run_strings_count},
    {"strings.replace_n",        2, run_replace_n    },
    {"strings.reverse",          1, run_reverse      },
    {"trim",                     2, run_trim         },
    {"trim_left",                2, run_trim_left    },
    {"trim_right",               2, run_trim_right   },
    {"trim_space",               1, run_trim_space   },
    {NULL,                       0, NULL             },
};
