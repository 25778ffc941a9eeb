/* Versions (semver.org). */
#include "config.h"

#include <string.h>

#include "base/digits.h"
#include "rego/builtin/builtin.h"

/* A version: three numbers, and the identifiers of a pre-release. */
struct version {
    int64_t number[3];
    const char *pre;
    size_t pre_length;
};

/* True for identifiers with dots between them (semver.org 9 and 10). */
static bool
are_identifiers(const char *text, size_t length)
{
    bool empty = true;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '.') {
            if (empty)
                return false;
            empty = true;
            continue;
        }
        if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && c != '-')
            return false;
        empty = false;
    }
    return !empty;
}

/* Read a version as OPA does: a leading v, and empty parts behind + and -, are fine. */
static bool
read_version(const struct rego_value *value, struct version *ret)
{
    if (value->type != REGO_STRING)
        return false;
    const char *at = value->text, *end = at + value->count;
    at += at < end && *at == 'v';
    const char *plus = memchr(at, '+', (size_t) (end - at));
    if (plus != NULL && plus + 1 < end && !are_identifiers(plus + 1, (size_t) (end - plus - 1)))
        return false;
    end = plus != NULL ? plus : end;
    const char *minus = memchr(at, '-', (size_t) (end - at));
    *ret = (struct version){.pre = ""};
    if (minus != NULL && minus + 1 < end) {
        ret->pre = minus + 1;
        ret->pre_length = (size_t) (end - minus - 1);
        if (!are_identifiers(ret->pre, ret->pre_length))
            return false;
    }
    end = minus != NULL ? minus : end;
    for (int i = 0; i < 3; i++) {
        const char *dot = memchr(at, '.', (size_t) (end - at));
        const char *stop = dot != NULL ? dot : end;
        char digits[24];
        size_t length = (size_t) (stop - at);
        if ((dot == NULL) != (i == 2) || length == 0 || length >= sizeof(digits))
            return false;
        memcpy(digits, at, length);
        digits[length] = '\0';
        if (strspn(digits, "0123456789") != length
            || !digits_read(digits, INT64_MAX, &ret->number[i]))
            return false;
        at = stop + 1;
    }
    return true;
}

/* Compare two identifiers: numbers by value and below texts. */
static int
compare_identifiers(const char *a, size_t a_length, const char *b, size_t b_length)
{
    bool a_number = true, b_number = true;
    for (size_t i = 0; i < a_length; i++)
        a_number &= a[i] >= '0' && a[i] <= '9';
    for (size_t i = 0; i < b_length; i++)
        b_number &= b[i] >= '0' && b[i] <= '9';
    if (a_number != b_number)
        return a_number ? -1 : 1;
    for (; a_number && a_length > 1 && *a == '0'; a++)
        a_length--;
    for (; b_number && b_length > 1 && *b == '0'; b++)
        b_length--;
    if (a_number && a_length != b_length)
        return a_length < b_length ? -1 : 1;
    size_t shorter = a_length < b_length ? a_length : b_length;
    int order = memcmp(a, b, shorter);
    if (order != 0)
        return order < 0 ? -1 : 1;
    return (a_length > b_length) - (a_length < b_length);
}

static int
compare_versions(const struct version *a, const struct version *b)
{
    for (int i = 0; i < 3; i++)
        if (a->number[i] != b->number[i])
            return a->number[i] < b->number[i] ? -1 : 1;
    if (a->pre_length == 0 || b->pre_length == 0)
        return (a->pre_length == 0) - (b->pre_length == 0);
    const char *x = a->pre, *y = b->pre;
    const char *x_end = x + a->pre_length, *y_end = y + b->pre_length;
    for (;;) {
        const char *x_dot = memchr(x, '.', (size_t) (x_end - x));
        const char *y_dot = memchr(y, '.', (size_t) (y_end - y));
        int order = compare_identifiers(x, (size_t) ((x_dot != NULL ? x_dot : x_end) - x), y,
                                        (size_t) ((y_dot != NULL ? y_dot : y_end) - y));
        if (order != 0 || (x_dot == NULL && y_dot == NULL))
            return order;
        if (x_dot == NULL || y_dot == NULL)
            return x_dot == NULL ? -1 : 1;
        x = x_dot + 1;
        y = y_dot + 1;
    }
}

static const struct rego_value *
run_semver_compare(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct version a, b;
    if (!read_version(arg[0], &a) || !read_version(arg[1], &b))
        return NULL;
    return rego_integer(machine->arena, compare_versions(&a, &b));
}

static const struct rego_value *
run_semver_is_valid(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct version version;
    (void) machine;
    return rego_boolean(read_version(arg[0], &version));
}

const struct rego_builtin rego_semver_builtins[] = {
    {"semver.compare",  2, run_semver_compare },
    {"semver.is_valid", 1, run_semver_is_valid},
    {NULL,              0, NULL               },
};
