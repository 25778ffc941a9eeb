/* What a process remembers of fetched documents for a moment, so that it need not ask the database
 * for the same again with each sign-in (performance.md 3.6). */
#ifndef AZ_HTTP_FETCH_DOCUMENT_MEMORY_H
#define AZ_HTTP_FETCH_DOCUMENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/digest.h"
#include "http/fetch/documents.h"

/* Documents at a time: two of each of 16 providers and statement issuers, whom the operator has
 * named. Half a megabyte where they are as large as those of the largest providers. */
#define DOCUMENT_MEMORY_MAX 32

/* How long, milliseconds: what another host or worker has fetched anew is seen here after that. */
#define DOCUMENT_MEMORY_MS 60000

/* One of them. */
struct document_remembered {
    const json_t *json;         /* as parsed; shared: it is replaced and never changed */
    int64_t fetched_at;         /* seconds since 1970, by the database's clock */
    document_check_fn *checked; /* whose check it passed */
};

/* Finds the document of a key (SHA-256 of kind and URL). `now`: clock_monotonic_ms(). The JSON
 * lives to the end of the operation, whatever becomes of it here. False: it is not here. */
bool document_recall(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                     struct document_remembered *ret);

/*
 * Remembers one from `now` for at most `seconds` (its own life that is left), in place of the one
 * of the same key, or of the one that ends first when there is no room. Without memory it is
 * forgotten.
 */
void document_remember(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                       int64_t seconds, const struct document_remembered *document);

#endif
