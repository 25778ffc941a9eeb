/* The client of an authorization request that is on its way. */
#ifndef AZ_OIDC_FLOW_CLIENT_H
#define AZ_OIDC_FLOW_CLIENT_H

#include "crypto/digest.h"
#include "http/request.h"
#include "store/people/sessions.h"
#include "token/authorization.h"

/* The client of a request, as the request names it. */
struct flow_name {
    const char *client_id, *redirect_uri;
    const char *code_challenge; /* or NULL */
};

/* Return the client as a stored request names it. */
struct flow_name flow_name_of(const struct authorization *authorization);

/*
 * Find the enabled client of a client_id that has registered the redirect_uri; another port of a
 * loopback redirect_uri needs a challenge if the client is confidential. The client comes from the
 * memory of this process unless `fresh`. Sets req->client and req->failure. *ret_remembered: the
 * client came from memory, so a refusal must be checked again with `fresh`. AZ_UNAUTHORIZED_CLIENT,
 * AZ_INVALID_REQUEST: answered with a page, because no redirect_uri is proved.
 */
enum az_status flow_find_client(struct request *req, const struct flow_name *name, bool fresh,
                                bool *ret_remembered);

/*
 * Find the client again in a later leg of the request. Does what flow_find_client does, and sets
 * req->state and the audit row's flow id. AZ_UNAUTHORIZED_CLIENT: the client is gone, is disabled
 * or no longer has the redirect_uri.
 */
enum az_status flow_resume(struct request *req, const struct authorization *authorization);

/* Return the place whose remembered consents session_find and session_create read for the request;
 * req->client and req->failure are set. */
struct consent_place flow_consent_place(struct request *req);

/* Compute the hash under which a consent is remembered. NULL in *ret: this consent cannot be
 * remembered (loopback and private-scheme redirects). `room` holds the hash. */
enum az_status flow_consent_hash(struct op *op, const struct authorization *authorization,
                                 unsigned char room[SHA256_OCTETS], const unsigned char **ret);

/* *ret: a consent to exactly this authorization is among those of the session. */
enum az_status flow_is_consented(struct op *op, const struct authorization *authorization,
                                 const struct session *session, bool *ret);

/*
 * Decide who vouches for the redirect_uri when a failure is reported, once the session is known
 * (decisions.md "Errors at /authorize", RFC 9700 4.11.2): an administrator who registered the
 * client; the user, who is signed in and has allowed the client at this host before; or, under
 * prompt=none, the session, because no person would see a page. Until this is called, only an
 * administrator vouches, and a failure reads the session by itself.
 */
void flow_judge_redirect(struct request *req, const struct session *session, bool prompt_none);

#endif
