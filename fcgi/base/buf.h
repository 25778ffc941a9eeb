/* A growing octet buffer that is made with its maximum, so that no input can grow it past that. */
#ifndef AZ_BASE_BUF_H
#define AZ_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

struct buf {
    TALLOC_CTX *mem;       /* owner of the octets */
    char *data;            /* the octets and a NUL that len does not count; NULL while empty */
    size_t len;            /* octets held */
    size_t size;           /* octets allocated */
    size_t max;            /* len never passes this */
    bool secret;           /* wipe octets before memory is given back */
    enum az_status status; /* AZ_OK, or what the first failed append answered */
};

/* BUF_AUTO name; declares a buffer that is done when the scope is left. buf_init() it at once. */
#define BUF_AUTO __attribute__((cleanup(buf_done))) struct buf

/* max is a named constant of the caller, with its reason beside it. */
void buf_init(struct buf *buf, TALLOC_CTX *mem, size_t max);

/* The same for secrets: octets are wiped when the buffer grows or is done. */
void buf_init_secret(struct buf *buf, TALLOC_CTX *mem, size_t max);

/* Frees. Takes a buffer that failed, was taken from, or is done already. */
void buf_done(struct buf *buf);

/*
 * AZ_INVALID past the maximum, AZ_SERVER_ERROR out of memory. Failure frees the content and sticks:
 * each later append answers the same, so a caller may check the last one, or buf->status, alone.
 */
enum az_status buf_append(struct buf *buf, const void *data, size_t len);
enum az_status buf_append_text(struct buf *buf, const char *text);
enum az_status buf_append_char(struct buf *buf, char c);
enum az_status buf_append_format(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Hands the octets, NUL-terminated, over to the context the buffer was made on, and empties it.
 * NULL when an append has failed or memory is out. A secret's octets are the caller's to wipe.
 */
char *buf_take(struct buf *buf, size_t *ret_len);

#endif
