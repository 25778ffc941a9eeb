/* A growing octet buffer with a fixed maximum, so that no input can make it larger. */
#ifndef AZ_BASE_BUF_H
#define AZ_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <talloc.h>

#include "base/status.h"

struct buf {
    TALLOC_CTX *mem;       /* owner of the octets */
    char *data;            /* the octets, then a NUL that len does not count; NULL while empty */
    size_t len;            /* octets held */
    size_t size;           /* octets allocated */
    size_t max;            /* maximum of len */
    bool secret;           /* wipe the octets before the memory is freed */
    enum az_status status; /* AZ_OK, or the status of the first append that failed */
};

/* BUF_AUTO name; declares a buffer that is released at the end of the scope. Call buf_init() on
 * it at once. */
#define BUF_AUTO __attribute__((cleanup(buf_done))) struct buf

/* Start an empty buffer. max is a named constant of the caller, with its reason beside it. */
void buf_init(struct buf *buf, TALLOC_CTX *mem, size_t max);

/* Start an empty buffer for secrets: its octets are wiped when it grows or is released. */
void buf_init_secret(struct buf *buf, TALLOC_CTX *mem, size_t max);

/* Release the buffer. It may have failed, have been taken from, or have been released already. */
void buf_done(struct buf *buf);

/*
 * Append octets. AZ_INVALID: past the maximum; AZ_SERVER_ERROR: out of memory. A failure frees the
 * content, and each later append returns the same status; so a caller may check only the last one,
 * or buf->status.
 */
enum az_status buf_append(struct buf *buf, const void *data, size_t len);
enum az_status buf_append_text(struct buf *buf, const char *text);
enum az_status buf_append_char(struct buf *buf, char c);
enum az_status buf_append_format(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Move the octets, NUL-terminated, to the context of the buffer, and empty the buffer. NULL: an
 * append has failed, or out of memory. The caller wipes the octets of a secret.
 */
char *buf_take(struct buf *buf, size_t *ret_len);

#endif
