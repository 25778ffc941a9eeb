/* Digits: decimal numbers with a limit, and hexadecimal digits. */
#ifndef AZ_BASE_DIGITS_H
#define AZ_BASE_DIGITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Read the digits (1*DIGIT) at the beginning of a text of `length` octets as a number. Return how
 * many there are. *ret is the number, or max if it is larger; 0 without a digit.
 */
size_t digits_take(const char *text, size_t length, int64_t max, int64_t *ret);

/* Read a text that is a decimal number from 0 to max: digits alone, leading zeros allowed. False:
 * anything else; *ret is untouched then. */
bool digits_read(const char *text, int64_t max, int64_t *ret);

/* Return the value of a hexadecimal digit of either case, or -1. */
static inline int
digits_hex(char c)
{
    unsigned digit = (unsigned char) c - (unsigned) '0',
             letter = ((unsigned char) c | 0x20u) - (unsigned) 'a';
    return digit < 10 ? (int) digit : letter < 6 ? (int) letter + 10 : -1;
}

#endif
