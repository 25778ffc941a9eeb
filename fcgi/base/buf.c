#include "config.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* First allocation, in octets: most texts are error bodies and short statements. */
#define BUF_FIRST_SIZE 256

void
buf_init(struct buf *buf, TALLOC_CTX *mem, size_t max)
{
    *buf = (struct buf){.mem = mem, .max = max};
}

void
buf_init_secret(struct buf *buf, TALLOC_CTX *mem, size_t max)
{
    *buf = (struct buf){.mem = mem, .max = max, .secret = true};
}

static void
drop(struct buf *buf)
{
    if (buf->data != NULL && buf->secret)
        explicit_bzero(buf->data, buf->size);
    talloc_free(buf->data);
    buf->data = NULL;
    buf->len = 0;
    buf->size = 0;
}

void
buf_done(struct buf *buf)
{
    drop(buf);
}

static enum az_status
fail(struct buf *buf, enum az_status status)
{
    drop(buf);
    buf->status = status;
    return status;
}

/*
 * Make room for need octets and the NUL. This copies instead of calling realloc(), which would
 * leave secrets behind. It uses talloc_size() because the count of talloc_array() has only 32 bits.
 */
static bool
grow(struct buf *buf, size_t need)
{
    if (buf->data != NULL && need < buf->size)
        return true;
    size_t size = buf->size > 0 ? buf->size : BUF_FIRST_SIZE;
    while (size <= need)
        size = size > buf->max / 2 ? buf->max + 1 : size * 2;
    char *data = talloc_size(buf->mem, size);
    if (data == NULL)
        return false;
    size_t len = buf->len;
    if (len > 0)
        memcpy(data, buf->data, len);
    drop(buf);
    buf->data = data;
    buf->len = len;
    buf->size = size;
    return true;
}

enum az_status
buf_append(struct buf *buf, const void *data, size_t len)
{
    if (buf->status != AZ_OK)
        return buf->status;
    if (len > buf->max - buf->len)
        return fail(buf, AZ_INVALID);
    if (!grow(buf, buf->len + len))
        return fail(buf, AZ_SERVER_ERROR);
    if (len > 0)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
    return AZ_OK;
}

enum az_status
buf_append_text(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

enum az_status
buf_append_char(struct buf *buf, char c)
{
    return buf_append(buf, &c, 1);
}

enum az_status
buf_append_format(struct buf *buf, const char *format, ...)
{
    va_list args;

    if (buf->status != AZ_OK)
        return buf->status;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return fail(buf, AZ_SERVER_ERROR);
    if ((size_t) len > buf->max - buf->len)
        return fail(buf, AZ_INVALID);
    if (!grow(buf, buf->len + (size_t) len))
        return fail(buf, AZ_SERVER_ERROR);
    va_start(args, format);
    vsnprintf(buf->data + buf->len, (size_t) len + 1, format, args);
    va_end(args);
    buf->len += (size_t) len;
    return AZ_OK;
}

char *
buf_take(struct buf *buf, size_t *ret_len)
{
    if (buf->status != AZ_OK || !grow(buf, buf->len))
        return NULL;
    char *data = buf->data;
    data[buf->len] = '\0';
    if (ret_len != NULL)
        *ret_len = buf->len;
    buf->data = NULL;
    buf->len = 0;
    buf->size = 0;
    return data;
}
