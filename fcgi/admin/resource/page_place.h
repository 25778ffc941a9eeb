/* The place of a page in a list: the parameters page and size. */
#ifndef AZ_ADMIN_PAGE_PLACE_H
#define AZ_ADMIN_PAGE_PLACE_H

#include <stdint.h>

#include "http/route.h"

/* Limits of one list. */
struct page_limits {
    int64_t size;       /* rows of a page by default */
    int64_t size_max;   /* most rows of a page */
    int64_t offset_max; /* largest offset of a page */
    const char *beyond; /* advice for rows beyond that offset, for the text of a fault */
};

struct page_place {
    int64_t number, size; /* from 0; rows */
};

/* Return the value of a filter of a list; NULL: absent or empty. A word that the parameter does not
 * list is a fault. */
const char *page_filter_read(struct request *req, const struct route_param *param);

/* Read the place; each fault is in the answer's fieldErrors. */
struct page_place page_place_read(struct request *req, const struct page_limits *limits);

#endif
