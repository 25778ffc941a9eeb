/* The reader of the description: a page, its script and its style, files of SVC_DATA_DIR/www. */
#ifndef AZ_HTTP_API_READER_H
#define AZ_HTTP_API_READER_H

#include "http/request.h"

/* A file of the reader. Rows of the routing table name one (route.h, arg), so no part of a request
 * becomes part of a file's name. */
struct reader_file {
    const char *name; /* below SVC_DATA_DIR/www, or SVC_WWW_DIR where it has the file */
    const char *type; /* Content-Type */
};

extern const struct reader_file reader_page;
extern const struct reader_file reader_style;
extern const struct reader_file reader_script;

/* GET /swagger-ui: redirect to /swagger-ui/, to which the addresses in the page are relative. */
enum az_status reader_open_handle(struct request *req);

/* Answer with the file of the row, or with 404 when SVC_SWAGGER_ENABLED is false. */
enum az_status reader_file_handle(struct request *req);

#endif
