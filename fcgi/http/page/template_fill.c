/* Checking and filling templates. */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "http/page/page_text.h"
#include "http/page/template_private.h"

/* A section that contains the checked piece. */
struct within {
    const char *name;
    const struct within *outer;
};

struct template_checking {
    const struct templates *set;
    const char *const *values; /* allowed names */
    const json_t *texts;       /* allowed texts */
    unsigned steps;            /* steps left */
    const char *why;           /* the fault, once found */
};

/* True if an allowed name is "list.member" of an enclosing list. */
static bool
is_member(const char *value, const char *name, const struct within *within)
{
    const char *dot = strchr(value, '.');
    if (dot == NULL || strcmp(dot + 1, name) != 0)
        return false;
    size_t length = (size_t) (dot - value);
    for (; within != NULL; within = within->outer)
        if (strlen(within->name) == length && memcmp(within->name, value, length) == 0)
            return true;
    return false;
}

static bool
is_known_value(const struct template_checking *check, const char *name, const struct within *within)
{
    for (const char *const *value = check->values; *value != NULL; value++)
        if (strcmp(*value, name) == 0 || is_member(*value, name, within))
            return true;
    return false;
}

static enum az_status
check_fault(struct template_checking *check, const struct template_file *template,
            const struct piece *piece, const char *why)
{
    check->why =
        talloc_asprintf(check->set, "%s:%u: %s: %s", template->file, piece->line, piece->text, why);
    return check->why != NULL ? AZ_INVALID : AZ_SERVER_ERROR;
}

/* Check that a text is there, and that its values are known where it stands. */
static enum az_status
check_say(struct template_checking *check, const struct template_file *template,
          const struct piece *piece, const struct within *within)
{
    const char *text = json_string_value(json_object_get(check->texts, piece->text));
    struct text_part part;
    if (text == NULL)
        return check_fault(check, template, piece, "no text has this name");
    while (text_next(&text, &part))
        if (part.value[0] != '\0' && !is_known_value(check, part.value, within))
            return check_fault(check, template, piece,
                               "the text has a value that is not known here");
    return AZ_OK;
}

static enum az_status check_range(struct template_checking *check,
                                  const struct template_file *template, size_t from, size_t to,
                                  const struct within *within, unsigned depth);

static enum az_status
check_include(struct template_checking *check, const struct template_file *template,
              const struct piece *piece, const struct within *within, unsigned depth)
{
    const struct template_file *next = templates_find(check->set, piece->text);
    if (next == NULL)
        return check_fault(check, template, piece, "no such template");
    if (depth == TEMPLATE_DEPTH_MAX)
        return check_fault(check, template, piece,
                           "templates include each other too deeply or in a loop");
    return check_range(check, next, 0, next->pieces, within, depth + 1);
}

static enum az_status
check_range(struct template_checking *check, const struct template_file *template, size_t from,
            size_t to, const struct within *within, unsigned depth)
{
    enum az_status st = AZ_OK;
    for (size_t i = from; st == AZ_OK && i < to; i++) {
        const struct piece *piece = &template->piece[i];
        const struct within in = {piece->text, within};
        if (piece->kind == PIECE_TEXT)
            continue;
        if (check->steps == 0)
            return check_fault(check, template, piece, "the page includes too many templates");
        check->steps--;
        if (piece->kind == PIECE_INCLUDE)
            st = check_include(check, template, piece, within, depth);
        else if (piece->kind == PIECE_SAY)
            st = check_say(check, template, piece, within);
        else if (!is_known_value(check, piece->text, within))
            st = check_fault(check, template, piece, "no value has this name here");
        if (st != AZ_OK || (piece->kind != PIECE_SECTION && piece->kind != PIECE_INVERTED))
            continue;
        st = check_range(check, template, i + 1, piece->end,
                         piece->kind == PIECE_SECTION ? &in : within, depth);
        i = piece->end - 1;
    }
    return st;
}

enum az_status
templates_check(struct templates *set, const char *name, const char *const *values,
                const json_t *texts, const char **ret_why)
{
    struct template_checking check = {
        .set = set, .values = values, .texts = texts, .steps = TEMPLATE_STEPS_MAX};
    struct template_file *template = templates_find(set, name);
    if (template == NULL) {
        *ret_why = "no such template";
        return AZ_INVALID;
    }
    enum az_status st = check_range(&check, template, 0, template->pieces, NULL, 0);
    if (st == AZ_INVALID)
        *ret_why = check.why;
    template->checked = st == AZ_OK;
    return st;
}

/* The objects in which a name is looked up, innermost first. */
struct scope {
    const json_t *object;
    const struct scope *outer;
};

struct template_filling {
    const struct templates *set;
    const json_t *texts; /* in the language of the page */
    struct buf *out;
    unsigned steps;  /* steps left */
    const char *why; /* the fault, once found */
};

static enum az_status
fill_fault(struct template_filling *fill, const char *why)
{
    fill->why = why;
    return AZ_INVALID;
}

static const json_t *
look_up(const struct scope *scope, const char *name)
{
    const json_t *value = NULL;
    for (; scope != NULL && value == NULL; scope = scope->outer)
        value = json_object_get(scope->object, name);
    return value;
}

/* Return the entity of a character that has a meaning in HTML text or quoted attributes, or NULL if
 * it has none. */
static const char *
entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void
put_html_escaped(struct buf *out, const char *text, size_t length)
{
    const char *end = text + length;
    for (const char *c = text; c < end; c++) {
        const char *entity = entity_of(*c);
        if (entity == NULL)
            continue;
        buf_append(out, text, (size_t) (c - text));
        buf_append_text(out, entity);
        text = c + 1;
    }
    buf_append(out, text, (size_t) (end - text));
}

static enum az_status
fill_value(struct template_filling *fill, const char *name, const struct scope *scope)
{
    const json_t *value = look_up(scope, name);
    if (value == NULL || json_is_null(value))
        return AZ_OK;
    if (!json_is_string(value))
        return fill_fault(fill, "this value is not a string");
    put_html_escaped(fill->out, json_string_value(value), json_string_length(value));
    return AZ_OK;
}

static enum az_status
fill_say(struct template_filling *fill, const struct piece *piece, const struct scope *scope)
{
    const char *text = json_string_value(json_object_get(fill->texts, piece->text));
    enum az_status st = AZ_OK;
    struct text_part part;
    if (text == NULL)
        return fill_fault(fill, "a text is missing");
    while (st == AZ_OK && text_next(&text, &part)) {
        put_html_escaped(fill->out, part.words, part.length);
        if (part.value[0] == '\0')
            continue;
        buf_append_text(fill->out, piece->bare ? "" : "<bdi>");
        st = fill_value(fill, part.value, scope);
        buf_append_text(fill->out, piece->bare ? "" : "</bdi>");
    }
    return st;
}

static bool
is_something(const json_t *value)
{
    if (json_is_string(value))
        return json_string_length(value) > 0;
    return json_is_array(value) ? json_array_size(value) > 0 : json_is_true(value);
}

static enum az_status fill_range(struct template_filling *fill,
                                 const struct template_file *template, size_t from, size_t to,
                                 const struct scope *scope);

static enum az_status
fill_section(struct template_filling *fill, const struct template_file *template, size_t at,
             const struct scope *scope)
{
    const struct piece *piece = &template->piece[at];
    const json_t *value = look_up(scope, piece->text);
    if (is_something(value) != (piece->kind == PIECE_SECTION))
        return AZ_OK;
    if (piece->kind == PIECE_INVERTED || !json_is_array(value))
        return fill_range(fill, template, at + 1, piece->end, scope);
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < json_array_size(value); i++) {
        const struct scope inner = {json_array_get(value, i), scope};
        st = fill_range(fill, template, at + 1, piece->end, &inner);
    }
    return st;
}

static enum az_status
fill_piece(struct template_filling *fill, const struct template_file *template, size_t at,
           const struct scope *scope)
{
    const struct piece *piece = &template->piece[at];
    const struct template_file *next;
    switch (piece->kind) {
    case PIECE_TEXT:
        buf_append(fill->out, piece->text, piece->length);
        return AZ_OK;
    case PIECE_VALUE:
        return fill_value(fill, piece->text, scope);
    case PIECE_SAY:
        return fill_say(fill, piece, scope);
    case PIECE_INCLUDE:
        next = templates_find(fill->set, piece->text);
        return next != NULL ? fill_range(fill, next, 0, next->pieces, scope)
                            : fill_fault(fill, "an included template is missing");
    case PIECE_SECTION:
    case PIECE_INVERTED:
        break;
    }
    return fill_section(fill, template, at, scope);
}

static enum az_status
fill_range(struct template_filling *fill, const struct template_file *template, size_t from,
           size_t to, const struct scope *scope)
{
    enum az_status st = AZ_OK;
    for (size_t i = from; st == AZ_OK && i < to;) {
        const struct piece *piece = &template->piece[i];
        if (fill->steps == 0)
            return fill_fault(fill, "the page has too many pieces");
        fill->steps--;
        st = fill_piece(fill, template, i, scope);
        i = piece->end > i ? piece->end : i + 1;
    }
    return st == AZ_OK ? fill->out->status : st;
}

enum az_status
templates_fill(const struct templates *set, const char *name, const json_t *values,
               const json_t *texts, struct buf *out, const char **ret_why)
{
    struct template_filling fill = {
        .set = set, .texts = texts, .out = out, .steps = TEMPLATE_STEPS_MAX};
    const struct scope scope = {values, NULL};
    const struct template_file *template = templates_find(set, name);
    if (template == NULL || !template->checked) {
        *ret_why = "the template is missing or was not checked";
        return AZ_INVALID;
    }
    enum az_status st = fill_range(&fill, template, 0, template->pieces, &scope);
    if (st == AZ_INVALID)
        *ret_why = fill.why != NULL ? fill.why : "the page is too large";
    return st;
}

static enum az_status
take_styles(const struct templates *set, const struct template_file *template,
            template_style_fn *take, void *arg)
{
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < template->html.styles; i++)
        st = take(arg, template->html.style[i].text, template->html.style[i].length);
    for (size_t i = 0; st == AZ_OK && i < template->pieces; i++) {
        const struct template_file *next = template->piece[i].kind == PIECE_INCLUDE
                                               ? templates_find(set, template->piece[i].text)
                                               : NULL;
        if (next != NULL)
            st = take_styles(set, next, take, arg);
    }
    return st;
}

enum az_status
templates_each_style(const struct templates *set, const char *name, template_style_fn *take,
                     void *arg)
{
    const struct template_file *template = templates_find(set, name);
    return template != NULL && template->checked ? take_styles(set, template, take, arg)
                                                 : AZ_INVALID;
}
