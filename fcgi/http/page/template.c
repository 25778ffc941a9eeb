#include "config.h"

#include "http/page/template.h"

#include <string.h>

#include "base/utf8.h"
#include "http/page/template_private.h"

/* An open section. */
struct opening {
    size_t piece;
    struct html_scan html; /* state at its beginning */
};

/* State of reading a template. */
struct template_reader {
    struct template_file *to;
    const char *text;                        /* NUL-terminated */
    const char *at;                          /* the next octet to read */
    struct opening open[TEMPLATE_DEPTH_MAX]; /* sections, outermost first */
    size_t depth;                            /* open sections */
    const char *why;                         /* the fault, once found */
};

struct templates *
templates_new(TALLOC_CTX *mem)
{
    return talloc_zero(mem, struct templates);
}

struct template_file *
templates_find(const struct templates *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->item[i]->name, name) == 0)
            return set->item[i];
    return NULL;
}

static unsigned
line_of(const char *text, const char *at)
{
    unsigned line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return line;
}

static enum az_status
fault_at(struct template_reader *reader, const char *at, const char *why, const char *name)
{
    reader->why =
        talloc_asprintf(reader->to, "%s:%u: %s%s%s", reader->to->file, line_of(reader->text, at),
                        name != NULL ? name : "", name != NULL ? ": " : "", why);
    return reader->why != NULL ? AZ_INVALID : AZ_SERVER_ERROR;
}

static enum az_status
add_piece(struct template_reader *reader, struct piece piece)
{
    struct template_file *to = reader->to;
    struct piece *grown = to->piece;
    if ((to->pieces & (to->pieces - 1)) == 0) /* full: 0, 1, 2, 4, ... */
        grown = talloc_realloc(to, to->piece, struct piece,
                               to->pieces == 0 ? 1 : (unsigned) to->pieces * 2);
    if (grown == NULL)
        return AZ_SERVER_ERROR;
    to->piece = grown;
    to->piece[to->pieces++] = piece;
    return AZ_OK;
}

static enum az_status
read_literal(struct template_reader *reader, const char *end)
{
    size_t length = (size_t) (end - reader->at), at = 0;
    const char *why = html_scan(&reader->to->html, reader->at, length, &at);
    if (why != NULL)
        return fault_at(reader, reader->at + at, why, NULL);
    struct piece piece = {.kind = PIECE_TEXT, .text = reader->at, .length = length};
    reader->at = end;
    return length > 0 ? add_piece(reader, piece) : AZ_OK;
}

/* Return the name between the braces, without blanks around it; NULL: not made of a-z 0-9 _, or too
 * long. */
static const char *
template_read_name(TALLOC_CTX *mem, const char *from, const char *end)
{
    while (from < end && *from == ' ')
        from++;
    while (from < end && end[-1] == ' ')
        end--;
    size_t length = (size_t) (end - from);
    char *name = talloc_strndup(mem, from, length);
    if (name == NULL || length == 0 || length > TEMPLATE_NAME_MAX
        || strspn(name, TEMPLATE_NAME_CHARS) != length)
        return NULL;
    return name;
}

static enum az_status
open_section(struct template_reader *reader, const char *at, struct piece piece)
{
    const char *why = html_section_fault(&reader->to->html);
    if (why == NULL && reader->depth == TEMPLATE_DEPTH_MAX)
        why = "sections are nested too deeply";
    if (why != NULL)
        return fault_at(reader, at, why, piece.text);
    reader->open[reader->depth++] =
        (struct opening){.piece = reader->to->pieces, .html = reader->to->html};
    return add_piece(reader, piece);
}

static enum az_status
close_section(struct template_reader *reader, const char *at, const char *name)
{
    struct template_file *to = reader->to;
    if (reader->depth == 0)
        return fault_at(reader, at, "this section was never opened", name);
    const struct opening *opening = &reader->open[--reader->depth];
    struct piece *begun = &to->piece[opening->piece];
    if (strcmp(begun->text, name) != 0)
        return fault_at(reader, at, "another section is open; close that one first", name);
    if (!html_same(&opening->html, &to->html))
        return fault_at(reader, at,
                        "the section closes inside a tag or value where it did not open", name);
    begun->end = to->pieces;
    return AZ_OK;
}

static enum az_status
read_named(struct template_reader *reader, const char *at, char sign, const char *name)
{
    const struct html_scan *html = &reader->to->html;
    struct piece piece = {.text = name, .line = line_of(reader->text, at)};
    const char *why = NULL;
    switch (sign) {
    case '#':
    case '^':
        piece.kind = sign == '#' ? PIECE_SECTION : PIECE_INVERTED;
        return open_section(reader, at, piece);
    case '/':
        return close_section(reader, at, name);
    case '>':
        piece.kind = PIECE_INCLUDE;
        why = html_is_between(html) ? NULL : "a template can be included only in text";
        break;
    default:
        piece.kind = sign == '~' ? PIECE_SAY : PIECE_VALUE;
        piece.bare = !html_is_between(html);
        why = html_value_fault(html);
    }
    return why != NULL ? fault_at(reader, at, why, name) : add_piece(reader, piece);
}

/* Read one {{...}}; reader->at is at its first brace. */
static enum az_status
read_tag(struct template_reader *reader)
{
    const char *at = reader->at, *begin = at + 2, *end = strstr(begin, "}}");
    if (end == NULL)
        return fault_at(reader, at, "{{ without }}", NULL);
    reader->at = end + 2;
    if (reader->to->html.place == HTML_STYLE) /* the hash is computed over the style as written */
        return fault_at(reader, at, "a style element cannot contain {{", NULL);
    if (*begin == '!')
        return AZ_OK;
    if (*begin == '{' || *begin == '&')
        return fault_at(reader, at, "values are always escaped; write {{name}}", NULL);
    char sign = strchr("#^/>~", *begin) != NULL ? *begin : ' ';
    const char *name = template_read_name(reader->to, begin + (sign != ' '), end);
    if (name == NULL)
        return fault_at(reader, at, "a name consists of a-z, 0-9 and _", NULL);
    return read_named(reader, at, sign, name);
}

static enum az_status
template_read_all(struct template_reader *reader)
{
    enum az_status st = AZ_OK;
    for (const char *next; st == AZ_OK && (next = strstr(reader->at, "{{")) != NULL;)
        if ((st = read_literal(reader, next)) == AZ_OK)
            st = read_tag(reader);
    const char *end = reader->at + strlen(reader->at);
    if (st == AZ_OK)
        st = read_literal(reader, end);
    if (st == AZ_OK && reader->depth > 0) {
        const struct piece *open = &reader->to->piece[reader->open[reader->depth - 1].piece];
        reader->why = talloc_asprintf(reader->to, "%s:%u: %s: this section is not closed",
                                      reader->to->file, open->line, open->text);
        st = AZ_INVALID;
    }
    if (st == AZ_OK && !html_is_between(&reader->to->html))
        st = fault_at(reader, end, "the file ends inside a tag, a value or a style", NULL);
    return st;
}

/* Copy the text with CR LF and CR as LF, as a browser reads them before it hashes a style. */
static char *
copy_lines(TALLOC_CTX *mem, const char *text, size_t length)
{
    char *copy = talloc_size(mem, length + 1), *to = copy;
    for (size_t i = 0; copy != NULL && i < length; i++)
        if (text[i] != '\r')
            *to++ = text[i];
        else if (i + 1 == length || text[i + 1] != '\n')
            *to++ = '\n';
    if (copy != NULL)
        *to = '\0';
    return copy;
}

static const char *
template_text_fault(const struct templates *set, const char *name, const char *text, size_t length)
{
    if (length > TEMPLATE_SIZE_MAX)
        return "the file is too large";
    if (!utf8_valid(text, length) || text_has_nul(text, length))
        return "the file is not UTF-8 text";
    return templates_find(set, name) != NULL ? "a template of this name was already read" : NULL;
}

enum az_status
templates_add(struct templates *set, const char *name, const char *file, const char *text,
              size_t length, const char **ret_why)
{
    struct template_file *to = talloc_zero(set, struct template_file);
    struct template_file **grown =
        talloc_realloc(set, set->item, struct template_file *, (unsigned) set->count + 1);
    if (to == NULL || grown == NULL)
        return AZ_SERVER_ERROR;
    set->item = grown;
    to->name = talloc_strdup(to, name);
    to->file = talloc_strdup(to, file);
    struct template_reader reader = {.to = to};
    const char *why = template_text_fault(set, name, text, length);
    if (why != NULL) {
        *ret_why = talloc_asprintf(set, "%s: %s", file, why);
        return AZ_INVALID;
    }
    reader.text = reader.at = copy_lines(to, text, length);
    if (reader.text == NULL || to->name == NULL || to->file == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = template_read_all(&reader);
    if (st == AZ_OK)
        set->item[set->count++] = to;
    else if (st == AZ_INVALID)
        *ret_why = reader.why;
    return st;
}

const char *
templates_missing(const struct templates *set)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->item[i]->pieces; k++) {
            const struct piece *piece = &set->item[i]->piece[k];
            if (piece->kind == PIECE_INCLUDE && templates_find(set, piece->text) == NULL)
                return piece->text;
        }
    return NULL;
}

bool
templates_uses(const struct templates *set, const char *name, const char *value)
{
    const struct template_file *template = templates_find(set, name);
    for (size_t i = 0; template != NULL && i < template->pieces; i++)
        if (template->piece[i].kind == PIECE_VALUE && strcmp(template->piece[i].text, value) == 0)
            return true;
    return false;
}
