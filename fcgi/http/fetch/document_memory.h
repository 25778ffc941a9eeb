/* A process's memory of fetched documents, so that it need not ask the database for the same
 * document with each sign-in (performance.md 3.6). */
#ifndef AZ_HTTP_FETCH_DOCUMENT_MEMORY_H
#define AZ_HTTP_FETCH_DOCUMENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "crypto/digest.h"
#include "http/fetch/documents.h"

/* Documents in memory: two for each of 16 providers and statement issuers, which the operator
 * names. Half a megabyte if all are as large as the documents of the largest providers. */
#define DOCUMENT_MEMORY_MAX 32

/* Longest time in memory, in milliseconds; a document that another worker or host has fetched again
 * is seen here after that. */
#define DOCUMENT_MEMORY_MS 60000

/* A document in memory. */
struct document_remembered {
    const json_t *json;         /* as parsed; shared, so it is replaced and never changed */
    int64_t fetched_ms;         /* milliseconds since 1970, by the database's clock */
    document_check_fn *checked; /* the check that it passed */
};

/* Find the document of a key (SHA-256 of kind and URL). `now`: clock_monotonic_ms(). The JSON lives
 * to the end of the operation, even if it is replaced here. False: not in memory. */
bool document_recall(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                     struct document_remembered *ret);

/*
 * Remember a document from `now` for at most `seconds`, the rest of its own life. It replaces the
 * one of the same key or, if there is no room, the one that ends first. Out of memory, it is not
 * remembered.
 */
void document_remember(struct op *op, const unsigned char key[SHA256_OCTETS], int64_t now,
                       int64_t seconds, const struct document_remembered *document);

#endif
