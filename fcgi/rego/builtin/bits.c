/* Bits of integers. */
#include "config.h"

#include "rego/builtin/builtin.h"

/* Read integers. False: an argument is none, or has more than 64 bits. */
static bool
read_bits(struct rego_machine *machine, const struct rego_value *const *arg, size_t count,
          int64_t *ret)
{
    if (!rego_are(arg, count, REGO_NUMBER))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (arg[i]->decimal) {
            rego_give_up(machine, "bits of a number that is no 64-bit integer");
            return false;
        }
        ret[i] = arg[i]->integer;
    }
    return true;
}

static const struct rego_value *
run_bits_and(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    return read_bits(machine, arg, 2, n) ? rego_integer(machine->arena, n[0] & n[1]) : NULL;
}

static const struct rego_value *
run_bits_or(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    return read_bits(machine, arg, 2, n) ? rego_integer(machine->arena, n[0] | n[1]) : NULL;
}

static const struct rego_value *
run_bits_xor(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    return read_bits(machine, arg, 2, n) ? rego_integer(machine->arena, n[0] ^ n[1]) : NULL;
}

static const struct rego_value *
run_bits_negate(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n;
    return read_bits(machine, arg, 1, &n) ? rego_integer(machine->arena, ~n) : NULL;
}

static const struct rego_value *
run_bits_left(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2], shifted;
    if (!read_bits(machine, arg, 2, n) || n[1] < 0)
        return NULL;
    if (n[1] > 62 || __builtin_mul_overflow(n[0], (int64_t) 1 << n[1], &shifted))
        return rego_give_up(machine, "bits beyond 64");
    return rego_integer(machine->arena, shifted);
}

static const struct rego_value *
run_bits_right(struct rego_machine *machine, const struct rego_value *const *arg)
{
    int64_t n[2];
    if (!read_bits(machine, arg, 2, n) || n[1] < 0)
        return NULL;
    /* Towards minus infinity, as big integers have it. */
    int64_t shift = n[1] > 63 ? 63 : n[1];
    return rego_integer(machine->arena, n[0] < 0 ? ~(~n[0] >> shift) : n[0] >> shift);
}

const struct rego_builtin rego_bit_builtins[] = {
    {"bits.and",    2, run_bits_and   },
    {"bits.lsh",    2, run_bits_left  },
    {"bits.negate", 1, run_bits_negate},
    {"bits.or",     2, run_bits_or    },
    {"bits.rsh",    2, run_bits_right },
    {"bits.xor",    2, run_bits_xor   },
    {NULL,          0, NULL           },
};
