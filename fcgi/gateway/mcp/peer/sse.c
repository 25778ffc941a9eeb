#include "config.h"

#include "gateway/mcp/peer/sse.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void
sse_init(struct sse *sse, TALLOC_CTX *mem, size_t max)
{
    *sse = (struct sse){.retry_ms = -1};
    /* The longest line is "data: " and its data. */
    buf_init(&sse->line, mem, max + 6);
    buf_init(&sse->data, mem, max);
}

void
sse_done(struct sse *sse)
{
    buf_done(&sse->line);
    buf_done(&sse->data);
}

static enum az_status
take_data(struct sse *sse, const char *value, size_t len)
{
    if (sse->has_data && buf_append_char(&sse->data, '\n') != AZ_OK)
        return sse->data.status;
    sse->has_data = true;
    return buf_append(&sse->data, value, len);
}

/* Take an id. What a header field cannot carry leaves none, so that the wrong one is not sent. */
static enum az_status
take_id(struct sse *sse, const char *value, size_t len)
{
    sse->next_id[0] = '\0';
    if (len > SSE_ID_MAX)
        return AZ_OK;
    for (size_t i = 0; i < len; i++)
        if (value[i] <= ' ' || value[i] > '~')
            return AZ_OK;
    memcpy(sse->next_id, value, len);
    sse->next_id[len] = '\0';
    return AZ_OK;
}

/* Take a time to wait: digits alone. */
static enum az_status
take_retry(struct sse *sse, const char *value, size_t len)
{
    int ms = 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return AZ_OK;
        ms = ms < SSE_RETRY_MAX ? ms * 10 + (value[i] - '0') : ms;
    }
    if (len > 0)
        sse->retry_ms = ms < SSE_RETRY_MAX ? ms : SSE_RETRY_MAX;
    return AZ_OK;
}

/* Read a field line: `data: text`, with at most one space. */
static enum az_status
read_sse_field(struct sse *sse, const char *line, size_t len)
{
    static const struct {
        const char *name;
        enum az_status (*take)(struct sse *sse, const char *value, size_t len);
    } fields[] = {
        {"data",  take_data },
        {"id",    take_id   },
        {"retry", take_retry},
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t at = strlen(fields[i].name);
        if (len < at || memcmp(line, fields[i].name, at) != 0 || (len > at && line[at] != ':'))
            continue;
        at += len > at;
        at += len > at && line[at] == ' ';
        return fields[i].take(sse, line + at, len - at);
    }
    return AZ_OK;
}

/* An empty line ends an event. An event without data is ignored. */
static enum az_status
end_event(struct sse *sse, sse_event_fn *event, void *arg)
{
    size_t len;
    char *data;
    memcpy(sse->id, sse->next_id, sizeof(sse->id));
    if (!sse->has_data)
        return AZ_OK;
    if (++sse->events > SSE_EVENTS_MAX)
        return AZ_INVALID;
    if ((data = buf_take(&sse->data, &len)) == NULL)
        return AZ_SERVER_ERROR;
    sse->has_data = false;
    bool more = event(arg, data, len);
    talloc_free(data);
    return more ? AZ_OK : AZ_RETRY;
}

static enum az_status
end_line(struct sse *sse, sse_event_fn *event, void *arg)
{
    const char *line = sse->line.data != NULL ? sse->line.data : "";
    size_t len = sse->line.len, mark = strlen(BYTE_ORDER_MARK);
    bool marked = !sse->begun && len >= mark && memcmp(line, BYTE_ORDER_MARK, mark) == 0;
    enum az_status st;
    sse->begun = true;
    if (marked) {
        line += mark;
        len -= mark;
    }
    st = len == 0 ? end_event(sse, event, arg) : read_sse_field(sse, line, len);
    sse->line.len = 0;
    return st;
}

enum az_status
sse_feed(struct sse *sse, const char *octets, size_t len, sse_event_fn *event, void *arg)
{
    const char *end = octets + len;
    enum az_status st = AZ_OK;
    while (st == AZ_OK && octets < end) {
        size_t plain = 0;
        if (sse->after_cr && *octets == '\n')
            octets++;
        sse->after_cr = false;
        while (octets + plain < end && octets[plain] != '\r' && octets[plain] != '\n')
            plain++;
        st = buf_append(&sse->line, octets, plain);
        octets += plain;
        if (st == AZ_OK && octets < end) {
            sse->after_cr = *octets++ == '\r';
            st = end_line(sse, event, arg);
        }
    }
    return st;
}
