#include "config.h"

#include "cli/lib/json_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

/* Blanks for each level of nesting. */
#define INDENT 2

/* State of one conversion. */
struct layout {
    struct buf *out;
    bool pretty;  /* else without white space */
    size_t depth; /* open containers */
};

static void
new_line(const struct layout *layout)
{
    if (!layout->pretty)
        return;
    buf_append_char(layout->out, '\n');
    for (size_t i = 0; i < layout->depth * INDENT && layout->out->status == AZ_OK; i++)
        buf_append_char(layout->out, ' ');
}

/* Copy a string with its quotes; brackets and blanks in it have no meaning. */
static const char *
copy_string(struct layout *layout, const char *text)
{
    const char *end = text + 1;
    while (*end != '"' && *end != '\0')
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    end += *end == '"';
    buf_append(layout->out, text, (size_t) (end - text));
    return end;
}

static const char *
json_text_skip(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* Open a container; an empty one stays on its line. */
static const char *
open_container(struct layout *layout, const char *text)
{
    const char *next = json_text_skip(text + 1);
    buf_append_char(layout->out, *text);
    if (*next == ']' || *next == '}') {
        buf_append_char(layout->out, *next);
        return next + 1;
    }
    layout->depth++;
    new_line(layout);
    return next;
}

static const char *
put_token(struct layout *layout, const char *text)
{
    switch (*text) {
    case '"':
        return copy_string(layout, text);
    case '[':
    case '{':
        return open_container(layout, text);
    case ']':
    case '}':
        layout->depth -= layout->depth > 0;
        new_line(layout);
        buf_append_char(layout->out, *text);
        return text + 1;
    case ',':
        buf_append_char(layout->out, ',');
        new_line(layout);
        return text + 1;
    case ':':
        buf_append_text(layout->out, layout->pretty ? ": " : ":");
        return text + 1;
    default:
        buf_append_char(layout->out, *text);
        return text + 1;
    }
}

static char *
lay_out(TALLOC_CTX *mem, const char *text, bool pretty, size_t max)
{
    size_t length;
    struct buf out;
    struct layout layout = {.out = &out, .pretty = pretty};
    buf_init(&out, mem, max);
    for (text = json_text_skip(text); *text != '\0' && out.status == AZ_OK;
         text = json_text_skip(text))
        text = put_token(&layout, text);
    if (pretty)
        buf_append_char(&out, '\n');
    return buf_take(&out, &length);
}

char *
json_text_compact(TALLOC_CTX *mem, const char *text, size_t max)
{
    return lay_out(mem, text, false, max);
}

char *
json_text_pretty(TALLOC_CTX *mem, const char *text, size_t max)
{
    return lay_out(mem, text, true, max);
}
