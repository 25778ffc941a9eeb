/* The description of the interface: OpenAPI 3.1.0, made from the routing table and the tables of
 * fields that its rows name. There is no other list of endpoints or members. */
#ifndef AZ_HTTP_API_DOCUMENT_H
#define AZ_HTTP_API_DOCUMENT_H

#include "base/json/jsonx.h"
#include "http/route.h"

/* Version of the interface (specification 1), which is not the version of the program. */
#define API_VERSION "0.65.0"

/* Return the document on mem, with `issuer` as the server's address; NULL: no memory. */
json_t *api_document(TALLOC_CTX *mem, const char *issuer);

/* GET /openapi.json: answer 200 with the document, or 404 when SVC_SWAGGER_ENABLED is false. */
enum az_status api_document_handle(struct request *req);

/* GET /admin/api/schemas/{name}: answer 200 with the JSON Schema of a body of the admin API, whose
 * references stay within the answer; also when SVC_SWAGGER_ENABLED is false. */
enum az_status api_schema_handle(struct request *req);

#endif
