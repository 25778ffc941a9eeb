#include "config.h"

#include "admin/admin_keys.h"

#include "store/people/admin_keys.h"

enum az_status
admin_keys_list_handle(struct request *req)
{
    json_t *list;
    enum az_status st = admin_key_list(&req->op, &list);
    return st == AZ_OK ? respond_json(req, 200, list) : st;
}
