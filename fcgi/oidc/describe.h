/* The parts of pages about a request: the client, the requested access, the signed-in user. */
#ifndef AZ_OIDC_DESCRIBE_H
#define AZ_OIDC_DESCRIBE_H

#include "base/json/jsonx.h"
#include "http/request.h"
#include "store/clients/clients.h"
#include "store/people/sessions.h"

/* The requested access, or NULL. */
struct described_access {
    const char *scope;      /* words separated by spaces */
    const char *resource;   /* RFC 8707 */
    json_t *resource_types; /* array of type URIs */
    json_t *details;        /* RFC 9396 array */
};

/* Append the scopes of a text (or NULL) to a list of the page: name, text, description and
 * words_lang of each. `words` is of scope_words_read(). False: no memory. */
bool describe_scopes(struct request *req, const json_t *words, const char *scope, json_t *list);

/* Set scopes, details and resource: all of what would be granted, or fail. Takes one trip. */
enum az_status describe_access(struct request *req, const struct described_access *access,
                               struct jsonx_build *values);

/* Set client_id, client_name, client_host and verified. Show a host only if it is proved: a
 * metadata document was fetched from its host, and an administrator has checked the address of a
 * client that he registered. Any other client could name a host that is not its own. */
void describe_client(struct request *req, const struct client *client, struct jsonx_build *values);

/* Set `links`, the privacy policy and terms of service that the client named: each has `policy` or
 * `terms` (true), a text in English, href and host. */
void describe_links(struct request *req, const struct client *client, struct jsonx_build *values);

/* Set subject_name and idp_name of the signed-in user. One trip. */
enum az_status describe_user(struct request *req, const struct session *session,
                             struct jsonx_build *values);

/* Return the text if all of it is visible, else the other one. */
const char *describe_seen(const char *text, const char *other);

#endif
