/* Addresses and ranges: IPv4 and IPv6, with an optional prefix. */
#include "config.h"

#include <arpa/inet.h>
#include <string.h>

#include "cedar/extension.h"

/* Longest text: eight groups of an IPv6 address, a slash and three digits. */
#define IP_TEXT_MAX 43

/* Read the digits of a prefix: no leading zero, at most `bits`. */
static bool
read_prefix(const char *text, unsigned bits, unsigned *ret)
{
    unsigned prefix = 0;
    size_t length = strlen(text);
    if (length == 0 || length > (bits == 32 ? 2 : 3) || (*text == '0' && length > 1))
        return false;
    for (; *text != '\0'; text++)
        if (*text < '0' || *text > '9')
            return false;
        else
            prefix = prefix * 10 + (unsigned) (*text - '0');
    *ret = prefix;
    return prefix <= bits;
}

bool
cedar_read_ip(struct cedar_text text, struct cedar_value *ret)
{
    struct cedar_value value = {.type = CEDAR_IP};
    char room[IP_TEXT_MAX + 1];
    if (text.length > IP_TEXT_MAX || memchr(text.at, '\0', text.length) != NULL)
        return false;
    memcpy(room, text.at, text.length);
    room[text.length] = '\0';
    char *slash = strchr(room, '/');
    if (slash != NULL)
        *slash = '\0';
    value.ip.v6 = strchr(room, ':') != NULL;
    if (value.ip.v6 && strchr(room, '.') != NULL) /* an IPv4 address inside is not allowed */
        return false;
    value.ip.prefix = value.ip.v6 ? 128 : 32;
    if (inet_pton(value.ip.v6 ? AF_INET6 : AF_INET, room, value.ip.octet) != 1
        || (slash != NULL && !read_prefix(slash + 1, value.ip.prefix, &value.ip.prefix)))
        return false;
    *ret = value;
    return true;
}

struct cedar_ip
cedar_ip_edge(const struct cedar_ip *ip, bool last)
{
    struct cedar_ip edge = *ip;
    unsigned bits = ip->v6 ? 128 : 32;
    for (unsigned bit = ip->prefix; bit < bits; bit++) {
        unsigned char mask = (unsigned char) (0x80 >> (bit % 8));
        edge.octet[bit / 8] =
            (unsigned char) (last ? edge.octet[bit / 8] | mask : edge.octet[bit / 8] & ~mask);
    }
    return edge;
}

bool
cedar_ip_within(const struct cedar_ip *inner, const struct cedar_ip *outer)
{
    size_t octets = inner->v6 ? 16 : 4;
    struct cedar_ip first = cedar_ip_edge(inner, false), last = cedar_ip_edge(inner, true);
    struct cedar_ip low = cedar_ip_edge(outer, false), high = cedar_ip_edge(outer, true);
    return inner->v6 == outer->v6 && memcmp(low.octet, first.octet, octets) <= 0
           && memcmp(last.octet, high.octet, octets) <= 0;
}
