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

/* Functions of store/uma: read all objects of an owner, read an object, end an object. */
typedef enum az_status uma_list_fn(struct op *op, const struct uma_owner *owner, const char **ret);
typedef enum az_status uma_get_fn(struct op *op, const unsigned char id[UUID7_OCTETS],
                                  const struct uma_owner *owner, const char **ret);
typedef enum az_status uma_end_fn(struct op *op, const unsigned char id[UUID7_OCTETS],
                                  const struct uma_owner *owner, const struct audit_entry *audit,
                                  bool *ret_found);

/* Answer with the objects of the owner; with the one that the path names; or end that, with its id
 * as `member` in the audit row. */
enum az_status uma_respond_list(struct request *req, uma_list_fn *list);
enum az_status uma_respond_object(struct request *req, uma_get_fn *get);
enum az_status uma_respond_ended(struct request *req, uma_end_fn *end, const char *member);

#endif
