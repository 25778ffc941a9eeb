/* Quantities with units. */
#include "config.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rego/builtin/builtin.h"

/* Octets of a quantity without quotes, and digits of an exponent, that are read. */
#define QUANTITY_SIZE 64
#define EXPONENT_DIGITS_MAX 6

/* The factor of a thousandth. */
#define UNIT_MILLI 0

/* Digits behind the point of units.parse. */
#define FRACTION_DIGITS 10

/* A unit and its factor. */
struct unit {
    const char *name;
    int64_t factor;
};

/* The units of units.parse: capital letters count in the first place only. */
static const struct unit plain_units[] = {
    {"",   1                  },
    {"k",  1000               },
    {"K",  1000               },
    {"ki", 1LL << 10          },
    {"Ki", 1LL << 10          },
    {"M",  1000000            },
    {"mi", 1LL << 20          },
    {"Mi", 1LL << 20          },
    {"g",  1000000000         },
    {"G",  1000000000         },
    {"gi", 1LL << 30          },
    {"Gi", 1LL << 30          },
    {"t",  1000000000000      },
    {"T",  1000000000000      },
    {"ti", 1LL << 40          },
    {"Ti", 1LL << 40          },
    {"p",  1000000000000000   },
    {"P",  1000000000000000   },
    {"pi", 1LL << 50          },
    {"Pi", 1LL << 50          },
    {"e",  1000000000000000000},
    {"E",  1000000000000000000},
    {"ei", 1LL << 60          },
    {"Ei", 1LL << 60          },
    {"m",  UNIT_MILLI         },
    {NULL, 0                  },
};

/* The units of units.parse_bytes, which reads small letters. */
static const struct unit byte_units[] = {
    {"",    1                  },
    {"k",   1000               },
    {"kb",  1000               },
    {"ki",  1LL << 10          },
    {"kib", 1LL << 10          },
    {"m",   1000000            },
    {"mb",  1000000            },
    {"mi",  1LL << 20          },
    {"mib", 1LL << 20          },
    {"g",   1000000000         },
    {"gb",  1000000000         },
    {"gi",  1LL << 30          },
    {"gib", 1LL << 30          },
    {"t",   1000000000000      },
    {"tb",  1000000000000      },
    {"ti",  1LL << 40          },
    {"tib", 1LL << 40          },
    {"p",   1000000000000000   },
    {"pb",  1000000000000000   },
    {"pi",  1LL << 50          },
    {"pib", 1LL << 50          },
    {"e",   1000000000000000000},
    {"eb",  1000000000000000000},
    {"ei",  1LL << 60          },
    {"eib", 1LL << 60          },
    {NULL,  0                  },
};

/* Copy a quantity without quotes, in small letters from an octet on. False: it is too long or holds
 * octets that no unit has. */
static bool
copy_quantity(const struct rego_value *value, char copy[QUANTITY_SIZE])
{
    size_t length = 0;
    for (uint32_t i = 0; i < value->count; i++) {
        unsigned char c = (unsigned char) value->text[i];
        if (c == '"')
            continue;
        if (c == '\0' || c >= 0x80 || length + 1 >= QUANTITY_SIZE)
            return false;
        copy[length++] = (char) c;
    }
    copy[length] = '\0';
    return true;
}

static void
small_letters(char *text)
{
    for (; *text != '\0'; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text |= 0x20;
}

/* Return the place where the number of a quantity ends; NULL: its exponent is too long. */
static char *
number_end(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if (*at != 'e' && *at != 'E') {
            if (strchr("0123456789.+-", *at) == NULL)
                return at;
            continue;
        }
        char next = at[1];
        if (next != '+' && next != '-' && (next < '0' || next > '9'))
            return at;
        at += next == '+' || next == '-';
        if (strspn(at + 1, "0123456789") > EXPONENT_DIGITS_MAX)
            return NULL;
    }
    return text + strlen(text);
}

/* A number without exponent: digits / 10^places. */
struct quantity {
    int64_t digits;
    unsigned places;
};

/* Read a number. False: it has an exponent or a sign, or more digits than fit. */
static bool
read_quantity(const char *number, struct quantity *ret)
{
    bool fraction = false, any = false;
    *ret = (struct quantity){0};
    for (; *number != '\0'; number++) {
        if (*number == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (*number < '0' || *number > '9' || __builtin_mul_overflow(ret->digits, 10, &ret->digits)
            || __builtin_add_overflow(ret->digits, *number - '0', &ret->digits))
            return false;
        ret->places += fraction;
        any = true;
    }
    return any && ret->places <= 18;
}

static int64_t
power_of_ten(unsigned exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/*
 * Return the quantity times the factor, which the engine has as a fraction: an integer, or rounded
 * to ten digits behind the point. A thousandth is a binary fraction there, which does not show in
 * so many digits as are let through.
 */
static const struct rego_value *
multiply_fraction(struct rego_machine *machine, const struct quantity *quantity, int64_t factor)
{
    __extension__ typedef __int128 wide;
    char text[64];
    unsigned places = quantity->places + (factor == UNIT_MILLI ? 3 : 0);
    wide product = (wide) quantity->digits * (factor == UNIT_MILLI ? 1 : factor);
    if (places > FRACTION_DIGITS || (factor == UNIT_MILLI && quantity->digits > 1000000000)
        || product / power_of_ten(places) > INT64_MAX)
        return rego_give_up(machine, "a quantity that is no 64-bit integer");
    int64_t whole = (int64_t) (product / power_of_ten(places));
    int64_t rest = (int64_t) (product % power_of_ten(places));
    if (rest == 0 && (factor != UNIT_MILLI || whole == 0))
        return rego_integer(machine->arena, whole);
    int length = snprintf(text, sizeof(text), "%" PRId64 ".%010" PRId64, whole,
                          rest * power_of_ten(FRACTION_DIGITS - places));
    return rego_number(machine->arena, text, (size_t) length);
}

/* Return the quantity times the factor as an integer, which the engine computes with mantissas of
 * 64 bits and cuts off. */
static const struct rego_value *
multiply_bytes(struct rego_machine *machine, const struct quantity *quantity, int64_t factor)
{
    int64_t product;
    if (quantity->places == 0 && !__builtin_mul_overflow(quantity->digits, factor, &product))
        return rego_integer(machine->arena, product);
#if LDBL_MANT_DIG == 64
    long double float_product = (long double) quantity->digits
                                / (long double) power_of_ten(quantity->places)
                                * (long double) factor;
    if (float_product < 9e18L)
        return rego_integer(machine->arena, (int64_t) float_product);
#endif
    return rego_give_up(machine, "a quantity that is no 64-bit integer");
}

static const struct rego_value *
parse_quantity(struct rego_machine *machine, const struct rego_value *value,
               const struct unit *unit, bool bytes)
{
    char text[QUANTITY_SIZE], name[QUANTITY_SIZE];
    struct quantity quantity;
    if (value->type != REGO_STRING)
        return NULL;
    if (!copy_quantity(value, text))
        return rego_give_up(machine, "a quantity in an unusual form");
    if (bytes)
        small_letters(text);
    char *end = strchr(text, ' ') == NULL ? number_end(text) : NULL;
    if (end == NULL || end == text)
        return NULL;
    strcpy(name, end);
    if (!bytes && name[0] != '\0')
        small_letters(name + 1);
    *end = '\0';
    while (unit->name != NULL && strcmp(unit->name, name) != 0)
        unit++;
    if (unit->name == NULL)
        return NULL;
    if (!read_quantity(text, &quantity))
        return rego_give_up(machine, "a quantity in an unusual form");
    return bytes ? multiply_bytes(machine, &quantity, unit->factor)
                 : multiply_fraction(machine, &quantity, unit->factor);
}

static const struct rego_value *
run_units(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return parse_quantity(machine, arg[0], plain_units, false);
}

static const struct rego_value *
run_units_bytes(struct rego_machine *machine, const struct rego_value *const *arg)
{
    return parse_quantity(machine, arg[0], byte_units, true);
}

const struct rego_builtin rego_unit_builtins[] = {
    {"units.parse",       1, run_units      },
    {"units.parse_bytes", 1, run_units_bytes},
    {NULL,                0, NULL           },
};
