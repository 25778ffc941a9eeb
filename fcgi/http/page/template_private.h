/* The data of a set of templates, shared by template.c and template_fill.c. */
#ifndef AZ_HTTP_PAGE_TEMPLATE_PRIVATE_H
#define AZ_HTTP_PAGE_TEMPLATE_PRIVATE_H

#include <stdbool.h>

#include "http/page/template.h"
#include "http/page/template_html.h"

enum piece_kind {
    PIECE_TEXT,
    PIECE_VALUE,
    PIECE_SAY,
    PIECE_SECTION,
    PIECE_INVERTED,
    PIECE_INCLUDE
};

/* A piece of a template. A section contains the pieces up to `end`. */
struct piece {
    enum piece_kind kind;
    const char *text; /* PIECE_TEXT: the text to send; otherwise the name, NUL-terminated */
    size_t length;    /* octets of a PIECE_TEXT */
    size_t end;       /* index after the last piece of a section */
    unsigned line;    /* line of the file, from 1 */
    bool bare;        /* a value stands where no element may: in an attribute or a title */
};

struct template_file {
    const char *name, *file;
    struct piece *piece;
    size_t pieces;
    struct html_scan html; /* holds the styles */
    bool checked;          /* it can be filled: its includes form no loop */
};

struct templates {
    struct template_file **item;
    size_t count;
};

/* Return the template of that name, or NULL. */
struct template_file *templates_find(const struct templates *set, const char *name);

#endif
