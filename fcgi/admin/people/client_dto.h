/* ClientDto (specification 2.1): its field table and the rules between its fields. Knows nothing of
 * HTTP. */
#ifndef AZ_ADMIN_CLIENT_DTO_H
#define AZ_ADMIN_CLIENT_DTO_H

#include "admin/resource/resource_body.h"

/*
 * `stored` of a reading is a struct client_state. The claims of a statement that the service is to
 * sign are in the column software_statement.
 *
 * clientId: any text that survives a header, a log line and a URL: no control or formatting
 * characters, no space at its ends, not "." or "..". An https URL is allowed: the administrator's
 * row then stands for that client, and no metadata document is fetched for it.
 */
extern const struct resource_body client_body;

/* ClientDto: the members of the body. */
extern const struct field_table client_table;

/* ClientDto (specification 2.1). */
extern const struct field_table client_table;

#endif
