#include "config.h"

#include "admin/restore_fence.h"

#include "base/json/jsonx.h"
#include "store/tokens/fence.h"

enum az_status
restore_fence_handle(struct request *req)
{
    struct fence_counts ended;
    request_fill_audit(req, 200, "allowed");
    enum az_status st = fence_write(&req->op, &req->audit, &ended);
    if (st != AZ_OK)
        return st;
    req->audited = true;
    return respond_json(
        req, 200,
        jsonx_own(req->op.mem,
                  json_pack("{s:I,s:I,s:I,s:I}", "clients", (json_int_t) ended.clients, "sessions",
                            (json_int_t) ended.sessions, "consoleSessions",
                            (json_int_t) ended.console, "pending", (json_int_t) ended.pending)));
}
