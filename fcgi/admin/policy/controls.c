#include "config.h"

#include "admin/policy/controls.h"

#include "policy/catalogue/controls.h"

enum az_status
controls_list_handle(struct request *req)
{
    json_t *list;
    enum az_status st = controls_list(&req->op, &list);
    return st == AZ_OK ? respond_json(req, 200, list) : st;
}

enum az_status
controls_settings_handle(struct request *req)
{
    json_t *settings;
    enum az_status st = controls_settings(&req->op, &settings);
    return st == AZ_OK ? respond_json(req, 200, settings) : st;
}

enum az_status
control_get_handle(struct request *req)
{
    json_t *control;
    enum az_status st = controls_describe(&req->op, req->path_value[0], &control);
    if (st != AZ_OK)
        return st;
    return control != NULL ? respond_json(req, 200, control)
                           : op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such control");
}
