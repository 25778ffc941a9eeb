#include "config.h"

#include "rego/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most digits of an integer that OPA reads as one of 64 bits. */
#define INTEGER_OCTETS_MAX 19

/* A number as digits: 0.DIGITS times 10 to the power of `point`, without zeros at either end. */
struct decimal {
    bool negative;
    const char *text, *end; /* the mantissa as written, with its point */
    size_t digits;     /* of the mantissa, without zeros at either end; 0: the number is zero */
    const char *first; /* the first digit that counts */
    long point;
};

bool
number_read_integer(const char *text, size_t length, int64_t *ret)
{
    size_t at = length > 0 && text[0] == '-';
    uint64_t sum = 0, most = (uint64_t) INT64_MAX + at;
    if (at == length || (text[at] == '0' && length > 1))
        return false;
    for (; at < length; at++) {
        if (text[at] < '0' || text[at] > '9')
            return false;
        unsigned digit = (unsigned) (text[at] - '0');
        if (sum > (most - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *ret = text[0] == '-' ? (int64_t) -sum : (int64_t) sum;
    return true;
}

static size_t
past_digits(const char *text, size_t length, size_t at)
{
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

bool
number_is_json(const char *text, size_t length)
{
    size_t at = length > 0 && text[0] == '-', begin = at;
    at = past_digits(text, length, at);
    if (at == begin || (text[begin] == '0' && at > begin + 1))
        return false;
    if (at < length && text[at] == '.') {
        begin = ++at;
        if ((at = past_digits(text, length, at)) == begin)
            return false;
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        at++;
        at += at < length && (text[at] == '+' || text[at] == '-');
        begin = at;
        at = past_digits(text, length, at);
        if (at == begin || at - begin > NUMBER_EXPONENT_DIGITS_MAX)
            return false;
    }
    return at == length;
}

/* Take a decimal apart. Its text is a number of JSON. */
static struct decimal
decimal_of(const char *text, size_t length)
{
    struct decimal ret = {.negative = length > 0 && text[0] == '-'};
    const char *at = text + ret.negative, *all = text + length;
    long exponent = 0, before = 0;
    bool fraction = false;
    ret.text = at;
    const char *last = NULL;
    for (; at < all && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        if (*at != '0') {
            last = at;
            if (ret.first == NULL)
                ret.first = at;
        }
        if (!fraction && ret.first != NULL)
            before++;
        if (fraction && ret.first == NULL)
            before--;
    }
    ret.end = at;
    if (at < all) {
        at++;
        bool minus = at < all && *at == '-';
        at += at < all && (*at == '-' || *at == '+');
        for (; at < all; at++)
            exponent = exponent * 10 + (*at - '0');
        exponent = minus ? -exponent : exponent;
    }
    if (ret.first == NULL) {
        ret.negative = false;
        return ret;
    }
    for (const char *c = ret.first; c <= last; c++)
        ret.digits += *c != '.';
    ret.point = before + exponent;
    return ret;
}

/* Compare two numbers above zero. */
static int
compare_sizes(const struct decimal *a, const struct decimal *b)
{
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    const char *x = a->first, *y = b->first;
    for (size_t i = 0; i < a->digits && i < b->digits; i++, x++, y++) {
        x += *x == '.';
        y += *y == '.';
        if (*x != *y)
            return *x < *y ? -1 : 1;
    }
    return (a->digits > b->digits) - (a->digits < b->digits);
}

static struct decimal
decimal_of_value(const struct rego_value *value, char *room, size_t size)
{
    if (value->decimal)
        return decimal_of(value->text, value->count);
    return decimal_of(room, (size_t) snprintf(room, size, "%lld", (long long) value->integer));
}

int
number_compare(const struct rego_value *a, const struct rego_value *b)
{
    char room[2][24];
    struct decimal x = decimal_of_value(a, room[0], sizeof(room[0]));
    struct decimal y = decimal_of_value(b, room[1], sizeof(room[1]));
    int sign_x = x.digits == 0 ? 0 : x.negative ? -1 : 1;
    int sign_y = y.digits == 0 ? 0 : y.negative ? -1 : 1;
    if (sign_x != sign_y || sign_x == 0)
        return sign_x - sign_y;
    return sign_x * compare_sizes(&x, &y);
}

bool
number_is_integer(const struct rego_value *value, int64_t *ret)
{
    const char *digits = value->text + (*value->text == '-');
    size_t whole = strspn(digits, "0123456789");
    size_t zeros = digits[whole] == '.' ? 1 + strspn(digits + whole + 1, "0") : 0;
    if (digits[whole + zeros] != '\0' || whole + zeros > INTEGER_OCTETS_MAX)
        return false;
    errno = 0;
    *ret = strtoll(value->text, NULL, 10);
    return errno == 0;
}

bool
number_is_odd(const struct rego_value *value)
{
    const char *point = strchr(value->text, '.');
    return strpbrk(value->text, "eE") != NULL || strcmp(value->text, "-0") == 0
           || (point != NULL && value->text[value->count - 1] == '0');
}
