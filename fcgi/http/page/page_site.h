/* The name and the logo that all pages show: SVC_PAGES_NAME and SVC_PAGES_LOGO. */
#ifndef AZ_HTTP_PAGE_PAGE_SITE_H
#define AZ_HTTP_PAGE_PAGE_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/settings/settings.h"

/* Longest SVC_PAGES_NAME, in characters: it stands in one line of a page 320 px wide, or two. */
#define PAGE_NAME_MAX 64

/* Largest logo, in octets. Each page contains it, a third larger, and a template has room for
 * 64 KiB. */
#define PAGE_LOGO_MAX (32 * 1024)

/* The template that shows the logo; it is empty without one. */
#define PAGE_LOGO_TEMPLATE "site_logo"

struct page_site {
    const char *host; /* of the issuer */
    const char *name; /* SVC_PAGES_NAME; the host if that is not set */
    const char *logo; /* text of PAGE_LOGO_TEMPLATE: an img element, or "" */
};

/*
 * Read name and logo; the texts are on mem. False: at least one is not usable. Each fault is a line
 * of `problems` that names the setting and the remedy; the lines are allocated on problems_mem.
 *
 * The logo is a file of SVC_WWW_DIR and becomes part of each page as a data: address. So it needs
 * no further request, which would start another process under CGI, no address of its own where a
 * browser could open an SVG as a document, and no exception in the Content-Security-Policy; and no
 * server of others learns who signs in. Scripts in an SVG never run in an img element.
 */
bool page_site_load(TALLOC_CTX *mem, const struct settings *cfg, struct page_site *ret,
                    struct problems *problems, TALLOC_CTX *problems_mem);

/* Read a file of at most `most` octets, and at most one octet more than that, so that the caller
 * sees that it is longer. NULL with errno. */
char *page_read_file(TALLOC_CTX *mem, const char *path, size_t most, size_t *ret_length);

#endif
