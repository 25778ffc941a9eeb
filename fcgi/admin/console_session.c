#include "config.h"

#include "admin/console_session.h"

#include <string.h>

#include "admin/credential.h"
#include "base/json/jsonx.h"
#include "store/people/admin_sessions.h"

/* Depth of the times of a session: an object of texts. */
#define TIMES_DEPTH 1

enum az_status
console_session_begin_handle(struct request *req)
{
    unsigned char before[SHA256_OCTETS], hash[SHA256_OCTETS];
    bool had = admin_cookie_read(req, before);
    if (req->admin.id == NULL)
        return respond_empty(req, 204);
    enum az_status st = admin_cookie_make(req, hash);
    if (st == AZ_OK)
        st = admin_session_begin(&req->op, hash, had ? before : NULL, &req->admin, NULL);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

/* Add the times of the session to the answer. */
static enum az_status
add_times(struct request *req, json_t *shown)
{
    unsigned char hash[SHA256_OCTETS];
    const char *text = NULL;
    json_t *times = NULL;
    if (!req->admin_by_session || !admin_cookie_read(req, hash))
        return AZ_OK;
    enum az_status st = admin_session_times(&req->op, hash, &text);
    if (st != AZ_OK || text == NULL)
        return st;
    st = jsonx_parse(req->op.mem, text, strlen(text), TIMES_DEPTH, &times, NULL);
    return st == AZ_OK && json_object_update(shown, times) == 0
               ? AZ_OK
               : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "the times of a session cannot be read");
}

enum az_status
console_session_show_handle(struct request *req)
{
    json_t *shown =
        jsonx_own(req->op.mem, json_pack("{s:s*,s:s*,s:s,s:s}", "keyId", req->admin.id, "subjectId",
                                         req->admin.subject, "label", req->admin.label, "role",
                                         admin_role_word(req->admin.role)));
    enum az_status st = shown != NULL ? add_times(req, shown) : AZ_OK;
    return st == AZ_OK ? respond_json(req, 200, shown) : st;
}

enum az_status
console_session_end_handle(struct request *req)
{
    unsigned char hash[SHA256_OCTETS];
    if (!req->admin_by_session)
        return respond_empty(req, 204);
    if (!admin_cookie_read(req, hash))
        return op_no_memory(&req->op);
    enum az_status st = admin_session_end(&req->op, hash);
    if (st != AZ_OK)
        return st;
    admin_cookie_drop(req);
    return respond_empty(req, 204);
}
