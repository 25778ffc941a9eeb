/* The pages, and the values that the template of each may use. */
#ifndef AZ_HTTP_PAGE_PAGE_ROWS_H
#define AZ_HTTP_PAGE_PAGE_ROWS_H

#define PAGES 14

/* Room for the names of one page, with the NULL after them. */
#define PAGE_VALUES 56

/* A page, and the names that its template may use in addition to those of every page (page.c). */
struct page_row {
    const char *name;
    const char
        *values[PAGE_VALUES]; /* ends with NULL; "list.member" for members of a list's objects */
};

extern const struct page_row page_rows[PAGES];

#endif
