/* Addresses and networks (RFC 4632, RFC 4291), as Go's package net reads them. */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rego/builtin/builtin.h"

/* Octets for the text of an address; a longer text is not an address. */
#define ADDRESS_SIZE 64

/* Most addresses that a network is expanded to: a larger network is left to the engine. */
#define EXPANDED_BITS_MAX 12

/* Steps to read two networks and to compare them. */
#define STEPS_A_PAIR 64

/* An address as a number. */
__extension__ typedef unsigned __int128 address_number;

/* A network; an address is a network whose prefix has all bits. */
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

/* True if the first bits of the address equal the network's. */
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
    struct network address;
    if (value->type != REGO_STRING)
        return false;
    const char *slash = memchr(value->text, '/', value->count);
    if (slash != NULL && memchr(value->text, ':', (size_t) (slash - value->text)) != NULL
        && net_read_address(value->text, (size_t) (slash - value->text), &address)
        && address.octets == 4)
        return true;
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

/* Return the address that an item names: a text itself, or the first item of an array. NULL: the
 * item names no address, which is an error of OPA even if there is nothing to compare it with. */
static const struct rego_value *
address_of(const struct rego_value *item)
{
    if (item->type == REGO_STRING)
        return item;
    return item->type == REGO_ARRAY && item->count > 0 ? item->item[0] : NULL;
}

/* Return the key of item i of a collection, as the answer has it, and the item. */
static const struct rego_value *
place_of(struct rego_machine *machine, const struct rego_value *all, uint32_t i,
         const struct rego_value **ret_item)
{
    if (all->type == REGO_STRING)
        return *ret_item = all;
    if (all->type == REGO_OBJECT) {
        *ret_item = all->member[i].value;
        return all->member[i].key;
    }
    *ret_item = all->item[i];
    return all->type == REGO_SET ? all->item[i] : rego_integer(machine->arena, i);
}

static uint32_t
items_of(const struct rego_value *all)
{
    return all->type == REGO_STRING ? 1 : all->type >= REGO_ARRAY ? all->count : 0;
}

static const struct rego_value *
run_cidr_contains_matches(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct rego_value *found = rego_set(machine->arena, 0);
    for (uint32_t i = 0; found != NULL && i < items_of(arg[0]); i++) {
        const struct rego_value *item[2], *both[2], *place[2];
        place[0] = place_of(machine, arg[0], i, &item[0]);
        if ((both[0] = address_of(item[0])) == NULL)
            return NULL;
        for (uint32_t k = 0; k < items_of(arg[1]) && rego_spend(machine, STEPS_A_PAIR); k++) {
            place[1] = place_of(machine, arg[1], k, &item[1]);
            both[1] = address_of(item[1]);
            const struct rego_value *contains =
                both[1] != NULL ? run_cidr_contains(machine, both) : NULL;
            if (contains == NULL || machine->arena->full)
                return NULL;
            if (!contains->boolean)
                continue;
            struct rego_value *pair = rego_array(machine->arena, 2);
            if (pair == NULL || !rego_append(machine->arena, pair, place[0])
                || !rego_append(machine->arena, pair, place[1])
                || !rego_add(machine->arena, found, pair))
                return NULL;
        }
    }
    return machine->outcome == REGO_DONE ? found : NULL;
}

static address_number
number_of(const struct network *network)
{
    address_number number = 0;
    for (unsigned i = 0; i < network->octets; i++)
        number = number << 8 | network->octet[i];
    return number;
}

/* Return ADDRESS/BITS as a text, or ADDRESS if bits is -1. */
static const struct rego_value *
text_of_network(struct rego_machine *machine, address_number number, unsigned octets, int bits)
{
    unsigned char octet[16];
    char text[ADDRESS_SIZE] = "", with[ADDRESS_SIZE + 8];
    for (unsigned i = octets; i > 0; i--, number >>= 8)
        octet[i - 1] = (unsigned char) number;
    inet_ntop(octets == 4 ? AF_INET : AF_INET6, octet, text, sizeof(text));
    int length = snprintf(with, sizeof(with), bits >= 0 ? "%s/%d" : "%s", text, bits);
    return rego_string(machine->arena, with, (size_t) length);
}

/* True if inet_ntop() could write the network otherwise than Go: IPv4 addresses in IPv6 form. */
static bool
is_written_oddly(const struct network *network)
{
    return network->octets == 16 && network->octet[0] == 0;
}

static const struct rego_value *
run_cidr_expand(struct rego_machine *machine, const struct rego_value *const *arg)
{
    struct network network;
    if (is_doubtful(arg[0]))
        return rego_give_up(machine, "an address in an unusual form");
    if (!read_network(arg[0], &network))
        return NULL;
    unsigned host = network.octets * 8 - network.bits;
    if (host > EXPANDED_BITS_MAX || is_written_oddly(&network))
        return rego_give_up(machine, "net.cidr_expand() of a large network");
    struct rego_value *all = rego_set(machine->arena, 0);
    for (address_number i = 0, first = number_of(&network); all != NULL && i < 1u << host; i++)
        if (!rego_add(machine->arena, all, text_of_network(machine, first + i, network.octets, -1)))
            return NULL;
    return all;
}

/* A range of addresses. */
struct address_range {
    address_number first, last;
};

static int
compare_ranges(const void *a, const void *b)
{
    const struct address_range *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : 0;
}

/* Add the networks that make up a range, each as large as its first address and the rest of the
 * range allow. */
static bool
add_networks(struct rego_machine *machine, struct rego_value *set, struct address_range range,
             unsigned octets)
{
    for (;;) {
        unsigned host = 0;
        while (host < octets * 8) {
            address_number mask = ((address_number) 1 << host) << 1;
            mask -= 1;
            if ((range.first & mask) != 0 || range.last - range.first < mask)
                break;
            host++;
        }
        if (!rego_add(machine->arena, set,
                      text_of_network(machine, range.first, octets, (int) (octets * 8 - host))))
            return false;
        address_number past = range.first + ((address_number) 1 << (host % 128));
        if (host >= octets * 8 || past - 1 >= range.last)
            return true;
        range.first = past;
    }
}

/*
 * Read networks as ranges. False: one is not a network, or the engine must decide: about addresses
 * without a prefix, to which it gives the prefix of their class, about networks of both families,
 * and about IPv6 networks that begin with zeros.
 */
static bool
read_ranges(struct rego_machine *machine, const struct rego_value *list,
            struct address_range *range, unsigned *ret_octets)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct network network;
        const struct rego_value *item = list->item[i];
        if (item->type == REGO_STRING
            && (is_doubtful(item) || memchr(item->text, '/', item->count) == NULL)) {
            rego_give_up(machine, "net.cidr_merge() of an address without a prefix");
            return false;
        }
        if (!read_network(item, &network))
            return false;
        if ((i > 0 && *ret_octets != network.octets) || is_written_oddly(&network)) {
            rego_give_up(machine, "net.cidr_merge() of networks of two families");
            return false;
        }
        *ret_octets = network.octets;
        unsigned host = network.octets * 8 - network.bits;
        address_number mask = host >= 128 ? 0 : (address_number) 1 << host;
        range[i].first = number_of(&network);
        range[i].last = range[i].first | (mask - 1);
    }
    return true;
}

/* Join ranges that overlap or adjoin. Returns how many are left. */
static uint32_t
join_ranges(struct address_range *range, uint32_t count)
{
    uint32_t last = 0;
    qsort(range, count, sizeof(*range), compare_ranges);
    for (uint32_t i = 1; i < count; i++) {
        if (range[last].last + 1 == 0 || range[i].first <= range[last].last + 1) {
            if (range[i].last > range[last].last)
                range[last].last = range[i].last;
        } else {
            range[++last] = range[i];
        }
    }
    return count > 0 ? last + 1 : 0;
}

static const struct rego_value *
run_cidr_merge(struct rego_machine *machine, const struct rego_value *const *arg)
{
    unsigned octets = 0;
    if (arg[0]->type != REGO_ARRAY && arg[0]->type != REGO_SET)
        return NULL;
    struct rego_value *set = rego_set(machine->arena, 0);
    struct address_range *range =
        talloc_array(machine->arena->mem, struct address_range, arg[0]->count);
    machine->arena->full |= range == NULL;
    if (range == NULL || !read_ranges(machine, arg[0], range, &octets)) {
        talloc_free(range);
        return NULL;
    }
    uint32_t count = join_ranges(range, arg[0]->count);
    for (uint32_t i = 0; set != NULL && i < count; i++)
        if (!add_networks(machine, set, range[i], octets))
            set = NULL;
    talloc_free(range);
    return set;
}

const struct rego_builtin rego_net_builtins[] = {
    {"net.cidr_contains",         2, run_cidr_contains        },
    {"net.cidr_contains_matches", 2, run_cidr_contains_matches},
    {"net.cidr_expand",           1, run_cidr_expand          },
    {"net.cidr_intersects",       2, run_cidr_intersects      },
    {"net.cidr_is_valid",         1, run_cidr_is_valid        },
    {"net.cidr_merge",            1, run_cidr_merge           },
    {"net.cidr_overlap",          2, run_cidr_contains        },
    {NULL,                        0, NULL                     },
};
