/* A person on one of the link pages (gateway-admin.md 3.5): the session, the link, and the
 * resource, each checked against the others. */
#ifndef AZ_GATEWAY_LINK_VISIT_H
#define AZ_GATEWAY_LINK_VISIT_H

#include "http/request.h"
#include "store/gateway/links.h"
#include "store/people/sessions.h"

struct managed_resource;
struct managed_secrets;

/* The state of one request for a link page. */
struct link_visit {
    struct session session; /* found or not */
    struct link_request link;
    const struct managed_resource *resource;
    const struct managed_secrets *secrets; /* of the resource; link_visit_secrets() sets it */
};

/*
 * Check a link that was found for the signed-in person: it exists, it is his own, and its resource
 * still has accounts of people. AZ_LINK_INVALID: the link no longer exists; AZ_LINK_OTHER: it
 * belongs to another account, which leaves an audit row and changes nothing. The caller checks if
 * the link was used or has expired.
 */
enum az_status link_visit_check(struct request *req, struct link_visit *visit);

/* Read a managed resource that has accounts of people. AZ_LINK_INVALID if no resource has this
 * name, it is disabled, or it has no such accounts. */
enum az_status link_visit_resource(struct request *req, const char *name,
                                   const struct managed_resource **ret);

/* Open the secrets of the resource. */
enum az_status link_visit_secrets(struct request *req, struct link_visit *visit);

/* Find the authorization server of the resource (provider.h), and the scopes to ask for if the link
 * does not name scopes. */
struct link_provider;
enum az_status link_visit_provider(struct request *req, struct link_visit *visit,
                                   struct link_provider *ret);

/* Fill the audit row: client, flow, resource, and the outcome of the link. */
void link_visit_note(struct request *req, const struct link_visit *visit, const char *result);

/* Send the browser to the end of a link: return_to, or the page of connections, which says what was
 * `answered` ("connected", ...). */
enum az_status link_visit_leave(struct request *req, const struct link_visit *visit,
                                const char *answered);

/* Return the address of a page below /gateway; on op->mem, or NULL if out of memory. */
const char *link_page_href(struct request *req, const char *path);

#endif
