/* How a set of templates is kept: for template.c, which reads them, and template_fill.c. */
#ifndef AZ_HTTP_PAGE_TEMPLATE_PRIVATE_H
#define AZ_HTTP_PAGE_TEMPLATE_PRIVATE_H

#include <stdbool.h>

#include "http/page/template.h"
#include "http/page/template_html.h"

enum piece_kind { PIECE_TEXT, PIECE_VALUE, PIECE_SECTION, PIECE_INVERTED, PIECE_INCLUDE };

/* A piece of a template. What a section holds are the pieces up to `end`. */
struct piece {
    enum piece_kind kind;
    const char *text; /* PIECE_TEXT: what is sent; else the name, NUL-terminated */
    size_t length;    /* octets of it */
    size_t end;       /* index after the last piece of a section */
    unsigned line;    /* where it stands, from 1 */
};

struct template_file {
    const char *name, *file;
    struct piece *piece;
    size_t pieces;
    struct html_scan html; /* its styles */
    bool checked;          /* it can be filled: includes no circle */
};

struct templates {
    struct template_file **item;
    size_t count;
};

/* The template of that name, or NULL. */
struct template_file *templates_find(const struct templates *set, const char *name);

#endif
