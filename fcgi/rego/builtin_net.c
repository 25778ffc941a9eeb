/* Addresses and networks (RFC 4632, RFC 4291), as Go's package net reads them. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "rego/builtin.h"

/* Room for the text of an address; longer ones are none. */
#define ADDRESS_SIZE 64

/* A network, or an address as one with all bits. */
struct network {
    unsigned char octet[16];
    unsigned octets; /* 4 or 16 */
    unsigned bits;
};

/* Read an address. An IPv6 address that carries an IPv4 address is that address. */
static bool
net_read_address(const char *text, size_t length, struct network *ret)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    char copy[ADDRESS_SIZE];
    if (length >= sizeof(copy) || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (inet_pton(AF_INET, copy, ret->octet) == 1) {
        ret->octets = 4;
        ret->bits = 32;
        return true;
    }
    if (inet_pton(AF_INET6, copy, ret->octet) != 1)
        return false;
    ret->octets = 16;
    ret->bits = 128;
    if (memcmp(ret->octet, mapped, sizeof(mapped)) == 0) {
        memmove(ret->octet, ret->octet + sizeof(mapped), 4);
        ret->octets = 4;
        ret->bits = 32;
    }
    return true;
}

/* Read ADDRESS/BITS. The bits behind the prefix become zero. */
static bool
read_network(const struct rego_value *value, struct network *ret)
{
    const char *slash = value->type == REGO_STRING ? memchr(value->text, '/', value->count) : NULL;
    if (slash == NULL || !net_read_address(value->text, (size_t) (slash - value->text), ret))
        return false;
    /* An IPv4 address in IPv6 form has a prefix of 128 bits. */
    bool mapped = ret->octets == 4 && memchr(value->text, ':', (size_t) (slash - value->text));
    unsigned bits = 0;
    const char *c = slash + 1, *end = value->text + value->count;
    if (c == end || end - c > 3)
        return false;
    for (; c < end; c++) {
        if (*c < '0' || *c > '9')
            return false;
        bits = bits * 10 + (unsigned) (*c - '0');
    }
    if (bits > (mapped ? 128 : ret->bits) || mapped)
        return false;
    ret->bits = bits;
    for (unsigned i = 0; i < ret->octets; i++) {
        unsigned kept = bits >= (i + 1) * 8 ? 8 : bits > i * 8 ? bits - i * 8 : 0;
        ret->octet[i] &= (unsigned char) (0xff00 >> kept);
    }
    return true;
}

/* True if the first bits of the address are those of the network. */
static bool
network_has(const struct network *network, const struct network *address)
{
    if (network->octets != address->octets)
        return false;
    for (unsigned bit = 0; bit < network->bits; bit += 8) {
        unsigned rest = network->bits - bit;
        unsigned mask = rest >= 8 ? 0xff : 0xff00 >> rest;
        if (((network->octet[bit / 8] ^ address->octet[bit / 8]) & mask) != 0)
            return false;
    }
    return true;
}

/* True if the text is one that Go and inet_pton() could read differently: zeros before a number, a
 * zone, or an IPv4 address in IPv6 form with a prefix. */
static bool
is_doubtful(const struct rego_value *value)
{
    if (value->type != REGO_STRING)
        return false;
    return memchr(value->text, '%', value->count) != NULL
           || (memchr(value->text, ':', value->count) != NULL
               && memchr(value->text, '.', value->count) != NULL);
}

static const struct rego_value *
run_cidr_contains(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct network network, other;
    if (is_doubtful(arg[0]) || is_doubtful(arg[1]))
        return rego_give_up(machine, "an address in an unusual form");
    if (!read_network(arg[0], &network) || arg[1]->type != REGO_STRING)
        return NULL;
    if (!net_read_address(arg[1]->text, arg[1]->count, &other) && !read_network(arg[1], &other))
        return NULL;
    return rego_boolean(other.bits >= network.bits && network_has(&network, &other));
}

static const struct rego_value *
run_cidr_intersects(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct network a, b;
    if (is_doubtful(arg[0]) || is_doubtful(arg[1]))
        return rego_give_up(machine, "an address in an unusual form");
    if (!read_network(arg[0], &a) || !read_network(arg[1], &b))
        return NULL;
    return rego_boolean(network_has(&a, &b) || network_has(&b, &a));
}

static const struct rego_value *
run_cidr_is_valid(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct network network;
    if (is_doubtful(arg[0]))
        return rego_give_up(machine, "an address in an unusual form");
    return rego_boolean(read_network(arg[0], &network));
}

const struct rego_builtin rego_net_builtins[] = {
    {"net.cidr_contains",   2, run_cidr_contains  },
    {"net.cidr_intersects", 2, run_cidr_intersects},
    {"net.cidr_is_valid",   1, run_cidr_is_valid  },
    {"net.cidr_overlap",    2, run_cidr_contains  },
    {NULL,                  0, NULL               },
};
