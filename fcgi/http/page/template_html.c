#include "config.h"

#include "http/page/template_html.h"

#include <string.h>
#include <strings.h>

#include "base/words.h"

#define BLANKS " \t\r\n\f"

/* Elements that run, load or show what the pages' policy forbids, that change the target of URLs,
 * or whose content one browser reads as tags and another as text. */
static const char *const refused_elements[] = {
    "script", "iframe", "frame",   "object",   "embed",    "applet",    "portal",
    "base",   "xmp",    "noembed", "noframes", "noscript", "plaintext", NULL};

/* Elements in which a browser reads no tags, so a tag that the scan found there would end at
 * another place. */
static const char *const plain_elements[] = {"title", "textarea"};

/* Attributes whose value is a style, a document or an address that the browser loads without a
 * click. */
static const char *const loading_attributes[] = {"style",      "src",    "srcset",     "srcdoc",
                                                 "data",       "poster", "background", "content",
                                                 "http-equiv", NULL};

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_name(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == ':' || c == '_';
}

static bool
html_is_blank(char c)
{
    return c != '\0' && strchr(BLANKS, c) != NULL;
}

/* Append in lower case. Longer names are cut, because no name that we look for is so long. */
static void
name_push(char name[HTML_NAME_MAX + 1], char c)
{
    size_t length = strlen(name);
    if (length == HTML_NAME_MAX)
        return;
    name[length] = c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
    name[length + 1] = '\0';
}

/* Return the element's entry in plain_elements, or NULL. */
static const char *
plain_element(const char *element)
{
    for (size_t i = 0; i < sizeof(plain_elements) / sizeof(plain_elements[0]); i++)
        if (strcmp(element, plain_elements[i]) == 0)
            return plain_elements[i];
    return NULL;
}

static const char *
element_end(struct html_scan *scan, enum html_place next)
{
    scan->place = next;
    if (scan->plain != NULL && plain_element(scan->element) != scan->plain)
        return "title and textarea cannot contain other tags";
    if (words_has(refused_elements, scan->element))
        return "this element does not work on these pages (no scripts, frames or plug-ins)";
    return NULL;
}

static const char *
attribute_end(struct html_scan *scan, enum html_place next)
{
    scan->place = next;
    if (strcmp(scan->attribute, "style") == 0)
        return "a style attribute does not work on these pages; use the style element and a class";
    if (strncmp(scan->attribute, "on", 2) == 0)
        return "scripts do not work on these pages";
    return NULL;
}

static const char *
tag_end(struct html_scan *scan)
{
    bool style = !scan->closing && strcmp(scan->element, "style") == 0;
    scan->place = style ? HTML_STYLE : HTML_TEXT;
    scan->plain = scan->closing ? NULL : plain_element(scan->element);
    if (style && scan->styles == HTML_STYLES_MAX)
        return "too many style elements";
    return NULL;
}

static const char *
step_less(struct html_scan *scan, char c)
{
    if (c == '/' && !scan->closing) {
        scan->closing = true;
        return NULL;
    }
    if (c == '!' && !scan->closing) {
        scan->place = HTML_DECLARATION;
        return NULL;
    }
    if (!is_letter(c))
        return "a < that does not begin a tag must be written &lt;";
    if (scan->plain != NULL && !scan->closing)
        return "title and textarea cannot contain other tags";
    scan->element[0] = '\0';
    name_push(scan->element, c);
    scan->place = HTML_ELEMENT;
    return NULL;
}

static const char *
step_declaration(struct html_scan *scan, char c)
{
    if (c == '>')
        scan->place = HTML_TEXT;
    else if (c == '-' || c == '[')
        return "write comments as {{! ... }}, which are not sent to the browser";
    return NULL;
}

static const char *
step_element(struct html_scan *scan, char c)
{
    const char *why = NULL;
    if (is_name(c))
        name_push(scan->element, c);
    else if (html_is_blank(c) || c == '/')
        why = element_end(scan, HTML_TAG);
    else if (c == '>')
        why = (why = element_end(scan, HTML_TAG)) != NULL ? why : tag_end(scan);
    else
        why = "an element's name cannot contain this character";
    return why;
}

static const char *
step_tag(struct html_scan *scan, char c)
{
    if (html_is_blank(c) || c == '/')
        return NULL;
    if (c == '>')
        return tag_end(scan);
    if (!is_name(c))
        return "an attribute cannot begin with this character";
    scan->attribute[0] = '\0';
    name_push(scan->attribute, c);
    scan->place = HTML_ATTRIBUTE;
    return NULL;
}

static const char *
step_attribute(struct html_scan *scan, char c)
{
    const char *why = NULL;
    if (is_name(c))
        name_push(scan->attribute, c);
    else if (c == '=')
        why = attribute_end(scan, HTML_EQUALS);
    else if (html_is_blank(c) || c == '/')
        why = attribute_end(scan, HTML_TAG);
    else if (c == '>')
        why = (why = attribute_end(scan, HTML_TAG)) != NULL ? why : tag_end(scan);
    else
        why = "an attribute's name cannot contain this character";
    return why;
}

static const char *
html_step(struct html_scan *scan, char c)
{
    switch (scan->place) {
    case HTML_TEXT:
        if (c == '<') {
            scan->place = HTML_LESS;
            scan->closing = false;
        }
        return NULL;
    case HTML_LESS:
        return step_less(scan, c);
    case HTML_DECLARATION:
        return step_declaration(scan, c);
    case HTML_ELEMENT:
        return step_element(scan, c);
    case HTML_TAG:
        return step_tag(scan, c);
    case HTML_ATTRIBUTE:
        return step_attribute(scan, c);
    case HTML_EQUALS:
        if (c != '"' && c != '\'')
            return "an attribute's value must be in quotes, directly after the =";
        scan->place = c == '"' ? HTML_VALUE_DOUBLE : HTML_VALUE_SINGLE;
        return NULL;
    case HTML_VALUE_DOUBLE:
    case HTML_VALUE_SINGLE:
        if (c == (scan->place == HTML_VALUE_DOUBLE ? '"' : '\''))
            scan->place = HTML_TAG;
        return NULL;
    case HTML_STYLE:
        break;
    }
    return NULL;
}

static bool
ends_style(const char *text, size_t length)
{
    return length >= 8 && strncasecmp(text, "</style", 7) == 0
           && (html_is_blank(text[7]) || text[7] == '/' || text[7] == '>');
}

/* Read a style up to the first </style. Within svg a browser would read tags before that, so any
 * other tag is refused. *ret_read: octets read, up to the fault if there is one. */
static const char *
read_style(struct html_scan *scan, const char *text, size_t length, size_t *ret_read)
{
    for (size_t i = 0; i < length; i++) {
        *ret_read = i;
        if (text[i] != '<')
            continue;
        if (ends_style(text + i, length - i)) {
            scan->style[scan->styles++] = (struct html_style){text, i};
            scan->place = HTML_ELEMENT;
            scan->closing = true;
            *ret_read = i + 7;
            return NULL;
        }
        if (i + 1 < length && (is_letter(text[i + 1]) || strchr("/!?", text[i + 1]) != NULL))
            return "a style element cannot contain other tags";
    }
    *ret_read = length;
    return NULL;
}

const char *
html_scan(struct html_scan *scan, const char *text, size_t length, size_t *ret_at)
{
    for (size_t at = 0; at < length;) {
        size_t read = 0;
        bool style = scan->place == HTML_STYLE;
        const char *why =
            style ? read_style(scan, text + at, length - at, &read) : html_step(scan, text[at]);
        if (why != NULL) {
            *ret_at = at + read;
            return why;
        }
        at += style ? read : 1;
    }
    return NULL;
}

const char *
html_value_fault(const struct html_scan *scan)
{
    if (scan->place == HTML_TEXT)
        return NULL;
    if (scan->place != HTML_VALUE_DOUBLE && scan->place != HTML_VALUE_SINGLE)
        return "a value can stand only in text or in a quoted attribute";
    /* The Content-Security-Policy of the pages lets an img load data: URLs alone, which ask no
     * server. */
    if (strcmp(scan->element, "img") == 0 && strcmp(scan->attribute, "src") == 0)
        return NULL;
    if (words_has(loading_attributes, scan->attribute))
        return "a value cannot stand in an attribute that styles or loads something";
    return NULL;
}

const char *
html_section_fault(const struct html_scan *scan)
{
    if (scan->place == HTML_TEXT || scan->place == HTML_TAG || scan->place == HTML_VALUE_DOUBLE
        || scan->place == HTML_VALUE_SINGLE)
        return NULL;
    return "a section must open and close in text, between attributes, or in a quoted value";
}

bool
html_is_between(const struct html_scan *scan)
{
    return scan->place == HTML_TEXT && scan->plain == NULL;
}

bool
html_same(const struct html_scan *a, const struct html_scan *b)
{
    if (a->place != b->place || a->plain != b->plain)
        return false;
    return a->place == HTML_TEXT
           || (a->closing == b->closing && strcmp(a->element, b->element) == 0
               && (a->place == HTML_TAG || strcmp(a->attribute, b->attribute) == 0));
}
