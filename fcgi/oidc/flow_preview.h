/* The early gate (decisions.md "Early gate"): policy is asked what /token would say before the user
 * is asked for consent and before a code is issued. */
#ifndef AZ_OIDC_FLOW_PREVIEW_H
#define AZ_OIDC_FLOW_PREVIEW_H

#include "http/request.h"
#include "policy/decide/ask.h"
#include "store/people/sessions.h"
#include "token/authorization.h"

/*
 * Ask the issue entrypoint with `evaluation: "preview"` about a request of a signed-in user. AZ_OK:
 * *ret_granted is the request with what would be granted, *ret_verdict the answer, and the audit
 * entry has both documents; the caller writes it together with what the revision must be acceptable
 * for. *ret_stale: policy denies, but the client has changed or the revision may not decide, and
 * nothing was written; *ret_verdict is set. Otherwise the outcome for the client: a denial, whose
 * audit row is written, or AZ_UNAVAILABLE without an answer of the engine.
 */
enum az_status flow_preview(struct request *req, const struct session *session,
                            const struct authorization *asked, struct authorization *ret_granted,
                            struct verdict *ret_verdict, bool *ret_stale);

#endif
