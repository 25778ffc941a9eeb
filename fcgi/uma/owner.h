/* The parts that the endpoints of UMA and delegation share. */
#ifndef AZ_UMA_OWNER_H
#define AZ_UMA_OWNER_H

#include "http/route.h"
#include "store/uma/owners.h"

/* Scopes of one resource, of one permission, and of one delegation. */
#define UMA_SCOPES_MAX 100
/* Characters of one scope; it may be a URI. */
#define UMA_SCOPE_CHARS_MAX 256

/* A PAT: a token with the scope uma_protection or introspection; and a token with the scope
 * delegation_management (specification 5). */
extern const struct route_credential credential_pat;
extern const struct route_credential credential_delegation;

/* Return the owner: the client and the subject of the request's token. */
struct uma_owner uma_request_owner(const struct request *req);

/* Read the id in the path. AZ_NOT_FOUND: it has not the form of our ids. The answer is the same for
 * an id of another owner, so that a caller does not learn which exist. */
enum az_status uma_path_id(struct request *req, unsigned char ret[UUID7_OCTETS]);
enum az_status uma_no_such(struct request *req);

/* Make an id; `text` gets its text. */
enum az_status uma_new_id(struct op *op, unsigned char ret[UUID7_OCTETS],
                          char text[UUID7_TEXT_LENGTH + 1]);

/* Read an object by its table into `target`. AZ_INVALID_REQUEST names the first faulty member. */
enum az_status uma_read(struct request *req, const struct field_table *table, const json_t *object,
                        void *target);

/* A rule of field tables (base/json/fields.h): the name of a scope has the characters of RFC
 * 6749 3.3.
 */
const char *uma_scope_rule(TALLOC_CTX *mem, const json_t *value);

/* Prepare the audit row of a write that will answer with `status`. It is written by the write's own
 * statement; `summary` (NULL if out of memory) tells what is written. */
enum az_status uma_note_write(struct request *req, int status, json_t *summary);

/* Refuse: the owner's client was deleted while the request was served, and its token with it. */
enum az_status uma_owner_gone(struct request *req);

/* Answer a read with JSON text, and with its audit row; not found for NULL. */
enum az_status uma_respond_read(struct request *req, const char *json);

#endif
