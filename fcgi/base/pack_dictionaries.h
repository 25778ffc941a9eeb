/* The preset dictionaries of pack.c: likely texts that a packed document need not hold itself. */
#ifndef AZ_BASE_PACK_DICTIONARIES_H
#define AZ_BASE_PACK_DICTIONARIES_H

#include <stddef.h>

/* One per kind of document: question about a token to issue, about one that is shown, answer. */
#define PACK_DICTIONARIES 3

struct pack_dictionary {
    const char *start; /* texts that begin so are packed with it; "" in the last row: all others */
    const char *text;
    size_t length; /* at most 64 KiB, which is what LZ4 looks back */
};

/* A row's number in the packed octets is its index + 1. Rows stay as they are once released. */
extern const struct pack_dictionary pack_dictionaries[PACK_DICTIONARIES];

#endif
