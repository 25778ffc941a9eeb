/* The preset dictionaries of pack.c: sample documents, written by build-aux/pack-samples. What a
 * packed document shares with its sample takes no room. */
#ifndef AZ_BASE_PACK_DICTIONARIES_H
#define AZ_BASE_PACK_DICTIONARIES_H

#include <stddef.h>

/* One per kind of document: question about a token that is shown, any other question, answer. */
#define PACK_DICTIONARIES 3

struct pack_dictionary {
    unsigned char number; /* first octet of what is packed with it; never used for another text */
    const char *start;    /* texts with this beginning are packed with it; "" in the last row */
    const char *text;
    size_t length; /* at most 64 KiB, the longest distance that LZ4 looks back */
};

extern const struct pack_dictionary pack_dictionaries[PACK_DICTIONARIES];

#endif
