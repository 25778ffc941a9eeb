/* Lists in pages: the rows of a resource that has a `page` statement (store/db/rows/json_rows.h).
 */
#ifndef AZ_ADMIN_RESOURCE_RESOURCE_PAGE_H
#define AZ_ADMIN_RESOURCE_RESOURCE_PAGE_H

#include "http/route.h"

/* Rows of a page: by default, as the console shows, and at most. */
#define RESOURCE_PAGE_SIZE 50
#define RESOURCE_PAGE_SIZE_MAX 200
/* Largest offset of a page: the database reads and skips the rows before it. */
#define RESOURCE_PAGE_OFFSET_MAX 100000

/* The place of a page, the last parameters of its list of struct route_param. */
/* clang-format off */
#define RESOURCE_PAGE_PARAMS \
    {.name = "page", .max = INT32_MAX, .help = "Number of the page, from 0"}, \
    {.name = "size", .min = 1, .max = RESOURCE_PAGE_SIZE_MAX, .help = "Rows of a page"}
/* clang-format on */

/* Answer 200 with the array of a page, and with X-Total-Count, the number of rows on all pages; 400
 * with fieldErrors. Without page and size the list is the first page of as many rows as the
 * resource says (list_max). The values of the path and the other parameters of the route are
 * filters, in the order of the parameters of the statement; an empty one counts as absent. */
enum az_status resource_page_handle(struct request *req);

#endif
