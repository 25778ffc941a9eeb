#include "config.h"

#include "base/digits.h"

#include <string.h>

/* Read digits up to the first other octet. *ret_over: the number is larger than max. */
static size_t
digits_scan(const char *text, size_t length, int64_t max, int64_t *ret, bool *ret_over)
{
    int64_t number = 0;
    bool over = false;
    size_t taken = 0;
    for (; taken < length && text[taken] >= '0' && text[taken] <= '9'; taken++) {
        int digit = text[taken] - '0';
        over = over || digit > max || number > (max - digit) / 10;
        number = over ? max : number * 10 + digit;
    }
    *ret = number;
    *ret_over = over;
    return taken;
}

size_t
digits_take(const char *text, size_t length, int64_t max, int64_t *ret)
{
    bool over;
    return digits_scan(text, length, max, ret, &over);
}

bool
digits_read(const char *text, int64_t max, int64_t *ret)
{
    int64_t number;
    bool over;
    size_t length = strlen(text);
    if (length == 0 || digits_scan(text, length, max, &number, &over) != length || over)
        return false;
    *ret = number;
    return true;
}
