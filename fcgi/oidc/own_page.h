/* Pages of ours that need a browser session and that no client asks for: the approval page of CIBA,
 * and the pages of the gateway on which people connect accounts (specification 5.7). */
#ifndef AZ_OIDC_OWN_PAGE_H
#define AZ_OIDC_OWN_PAGE_H

#include "base/json/jsonx.h"
#include "http/request.h"
#include "store/people/sessions.h"

/* Find the session of the browser; ret->found false: it has none. Sets req->proved and the subject
 * of the audit row. */
enum az_status own_page_session(struct request *req, struct session *ret);

/* Let the person sign in; the callback leads back to `back`, an address of ours (NULL: no memory
 * for it). The parameter idp_hint names the provider. */
enum az_status own_page_sign_in(struct request *req, const char *back);

/* The same at the provider `idp_id` (NULL, or one that is not enabled: the person chooses), for a
 * session of the console: the session that this sign-in makes is marked (session_take_console). */
enum az_status own_page_sign_in_console(struct request *req, const char *back, const char *idp_id);

/* Set what all these pages show: logout_href, and the signed-in person. One trip. */
enum az_status own_page_describe(struct request *req, const struct session *session,
                                 struct jsonx_build *values);

/* Return the purpose of the form that disconnects the account at a resource (gateway/link), which
 * the account page shows too. NULL: no memory. */
const char *own_page_disconnect(struct request *req, const char *resource);

/*
 * True if a form is from this session's page with this purpose, and from no other site: `token` is
 * the form's. A failure is not recorded.
 */
bool own_page_form_is_ours(struct request *req, const char *purpose, const char *token);

#endif
