/* Where in an HTML text one is, for the templates of pages: what is safe to put there depends on
 * it. Reads a strict part of HTML and refuses the rest, so that no browser reads it another way. */
#ifndef AZ_HTTP_PAGE_TEMPLATE_HTML_H
#define AZ_HTTP_PAGE_TEMPLATE_HTML_H

#include <stdbool.h>
#include <stddef.h>

/* Characters of an element's or attribute's name that are told apart; no name we know is longer. */
#define HTML_NAME_MAX 23

/* <style> elements of one template: each is a hash in a header. */
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

/* Begin with one that is all zero. */
struct html_scan {
    enum html_place place;             /* after the last octet */
    bool closing;                      /* the tag is </...> */
    const char *plain;                 /* title or textarea, within which no tag but its end is */
    char element[HTML_NAME_MAX + 1];   /* of the tag, in lower case, cut */
    char attribute[HTML_NAME_MAX + 1]; /* the same, of the attribute */
    struct html_style style[HTML_STYLES_MAX];
    size_t styles; /* in it */
};

/*
 * Reads on. NULL, or what is wrong as a text for the author, with its place in *ret_at. Refused:
 * what a page with our Content-Security-Policy cannot do (scripts, frames, inline styles of an
 * element), values without quotes, comments that would be sent, and tags where a browser might
 * read none.
 */
const char *html_scan(struct html_scan *scan, const char *text, size_t length, size_t *ret_at);

/* Why no escaped value may stand here, or NULL: only text and quoted attributes that are no style,
 * script or address a browser loads by itself take one. */
const char *html_value_fault(const struct html_scan *scan);

/* Whether this is text that can hold tags: a template begins and ends there, and is included there.
 */
bool html_is_between(const struct html_scan *scan);

/* Why no section may begin or end here, or NULL. */
const char *html_section_fault(const struct html_scan *scan);

/* Whether both are at the same kind of place, so that what lies between can be left out or come
 * again. */
bool html_same(const struct html_scan *a, const struct html_scan *b);

#endif
