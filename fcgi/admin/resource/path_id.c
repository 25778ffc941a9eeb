#include "config.h"

#include "admin/resource/path_id.h"

#include "base/digits.h"

enum az_status
path_id_read(struct request *req, int64_t *ret)
{
    return digits_read(req->path_value[0], INT64_MAX, ret)
               ? AZ_OK
               : op_fail(&req->op, AZ_NOT_FOUND, NULL, "the id in the path is not a number");
}
