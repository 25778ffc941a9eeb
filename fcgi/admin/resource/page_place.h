/* The place of a page in a list: the parameters page and size. */
#ifndef AZ_ADMIN_PAGE_PLACE_H
#define AZ_ADMIN_PAGE_PLACE_H

#include <stdint.h>

#include "http/request.h"

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

/* Read the place; each fault is in the answer's fieldErrors. */
struct page_place page_place_read(struct request *req, const struct page_limits *limits);

#endif
