/* The position in an HTML text, which decides what a template may safely put there. Reads a strict
 * subset of HTML and refuses the rest, so that no browser reads it in another way. */
#ifndef AZ_HTTP_PAGE_TEMPLATE_HTML_H
#define AZ_HTTP_PAGE_TEMPLATE_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* Significant characters of an element's or attribute's name; no name that we look for is longer.
 */
#define HTML_NAME_MAX 23

/* Most <style> elements of one template; the hash of each goes into a header. */
#define HTML_STYLES_MAX 4

enum html_place {
    HTML_TEXT,         /* between tags */
    HTML_LESS,         /* after a < */
    HTML_DECLARATION,  /* within <!doctype ...> */
    HTML_ELEMENT,      /* in the name of an element */
    HTML_TAG,          /* within a tag, between attributes */
    HTML_ATTRIBUTE,    /* in the name of an attribute */
    HTML_EQUALS,       /* between a name and its value */
    HTML_VALUE_DOUBLE, /* in a value between " */
    HTML_VALUE_SINGLE, /* in a value between ' */
    HTML_STYLE,        /* within <style> */
};

/* The content of a <style> element, in the text that was scanned. */
struct html_style {
    const char *text; /* not NUL-terminated */
    size_t length;    /* octets */
};

/* State of a scan; starts as all zero. */
struct html_scan {
    enum html_place place; /* after the last octet */
    bool closing;          /* the tag is </...> */
    const char *plain;     /* title or textarea if inside one: no tag but its end is allowed */
    char element[HTML_NAME_MAX + 1];   /* name in the tag, in lower case, cut */
    char attribute[HTML_NAME_MAX + 1]; /* name of the attribute, in lower case, cut */
    struct html_style style[HTML_STYLES_MAX];
    size_t styles; /* used entries of style */
};

/*
 * Continue the scan. Returns NULL, or the fault as a text for the author with its place in *ret_at.
 * Refuses what cannot work under our Content-Security-Policy (scripts, frames, style attributes),
 * values without quotes, comments that would be sent, and tags where a browser might not read one.
 */
const char *html_scan(struct html_scan *scan, const char *text, size_t length, size_t *ret_at);

/* Return why no escaped value may stand here, or NULL. Values may stand in text and in quoted
 * attributes, except those that hold a style, a script or an address that the browser loads by
 * itself; src of img holds pictures only (data: URLs). */
const char *html_value_fault(const struct html_scan *scan);

/* True in text that may contain tags: templates begin, end and are included only there. */
bool html_is_between(const struct html_scan *scan);

/* Return why no section may begin or end here, or NULL. */
const char *html_section_fault(const struct html_scan *scan);

/* True if both are at the same kind of place, so that the text between them can be left out or
 * repeated. */
bool html_same(const struct html_scan *a, const struct html_scan *b);

#endif
