#include "config.h"

#include "oauth/ciba/bc_callback.h"

#include <string.h>
#include <strings.h>

#include "oauth/ciba/ciba_rules.h"
#include "store/tokens/ciba_answers.h"

static enum az_status
refuse_bearer(struct request *req, const char *detail)
{
    req->challenge = "Bearer error=\"invalid_token\"";
    return op_fail(&req->op, AZ_INVALID_TOKEN, NULL, "%s", detail);
}

/* Return the callback token: the text after the scheme Bearer (RFC 6750 2.1). It is no access
 * token, so the scheme DPoP does not do, or NULL. */
static const char *
callback_token(const struct request *req)
{
    const char *header = request_header(req, "HTTP_AUTHORIZATION");
    if (header == NULL || strncasecmp(header, "Bearer ", 7) != 0)
        return NULL;
    const char *text = header + 7 + strspn(header + 7, " ");
    return *text != '\0' ? text : NULL;
}

/* Find the request of the callback token. Its hash is the key of the row: only we can sign the
 * token, and only the provider got it. */
static enum az_status
find_request(struct request *req, struct ciba_waiting *ret)
{
    const char *text = callback_token(req);
    unsigned char hash[SHA256_OCTETS];
    bool found = false;
    if (text == NULL)
        return refuse_bearer(req, "the request has no Bearer token");
    if (sha256(text, strlen(text), hash) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    enum az_status st = ciba_waiting_find_callback(&req->op, hash, ret, &found);
    if (st != AZ_OK)
        return st;
    if (!found)
        return refuse_bearer(req, "no request has this callback token");
    req->proved = true;
    req->audit.client_id = ret->client_id;
    req->audit.subject_id = ret->subject;
    req->audit.flow_id = ret->flow_id;
    return AZ_OK;
}

/* Record the fault of a member; the first one stays. */
static void
callback_fault(void *arg, const char *path, const char *why)
{
    struct request *req = arg;
    const char *text = talloc_asprintf(req->op.mem, "%s%s%s", path, *path != '\0' ? " " : "", why);
    op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

static enum az_status
read_body(struct request *req, struct ciba_callback *ret)
{
    struct ciba_callback callback = {.status = NULL};
    enum az_status st = fields_read(req->op.mem, &ciba_callback_table, req->json, callback_fault,
                                    req, &callback, NULL);
    if (st == AZ_INVALID)
        return op_failed(req->op.fault.status);
    if (st != AZ_OK)
        return op_fail(&req->op, st, NULL, "out of memory for a body");
    const char *fault = ciba_callback_fault(&callback, op_now(&req->op));
    if (fault != NULL)
        return op_fail(&req->op, AZ_INVALID_REQUEST, fault, NULL);
    *ret = callback;
    return AZ_OK;
}

static enum az_status
store_answer(struct request *req, const struct ciba_waiting *waiting,
             const struct ciba_callback *callback)
{
    bool done = false;
    const struct ciba_answer answer = {
        .approved = ciba_callback_approves(callback),
        .auth_time = callback->auth_time,
        .acr = callback->acr,
    };
    request_fill_audit(req, 200, "allowed");
    req->audit.summary = answer.approved ? "{\"answer\":\"approved\"}" : "{\"answer\":\"denied\"}";
    enum az_status st = ciba_request_answer(&req->op, waiting->id, &answer, &req->audit, &done);
    if (st != AZ_OK)
        return st;
    req->audited = done;
    return done ? respond_empty(req, 200)
                : op_fail(&req->op, AZ_NOT_WAITING, NULL, "it was answered or has expired");
}

enum az_status
bc_callback_handle(struct request *req)
{
    struct ciba_waiting waiting;
    struct ciba_callback callback;
    enum az_status st = find_request(req, &waiting);
    if (st == AZ_OK)
        st = read_body(req, &callback);
    if (st != AZ_OK)
        return st;
    if (callback.sub != NULL && strcmp(callback.sub, waiting.upstream_sub) != 0)
        return op_fail(&req->op, AZ_NOT_WAITING, "The answer is that of another person",
                       "sub is not that of the request's subject");
    if (!waiting.pending)
        return op_fail(&req->op, AZ_NOT_WAITING, NULL, "it was answered or has expired");
    return store_answer(req, &waiting, &callback);
}
