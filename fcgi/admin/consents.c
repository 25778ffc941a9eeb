#include "config.h"

#include "admin/consents.h"

#include <stdlib.h>
#include <string.h>

#include "store/people/consents.h"
#include "store/people/session_ends.h"

/* Digits of an id: any bigint. */
#define ID_DIGITS_MAX 18

const struct route_param consents_params[] = {
    {"subjectId", false},
    {"clientId",  false},
    {NULL,        false},
};
const struct route_param sessions_params[] = {
    {"subjectId", false},
    {NULL,        false},
};

enum az_status
consents_list_handle(struct request *req)
{
    json_t *list;
    enum az_status st = consent_list(&req->op, request_param(req, "subjectId"),
                                     request_param(req, "clientId"), &list);
    return st == AZ_OK ? respond_json(req, 200, list) : st;
}

enum az_status
consent_delete_handle(struct request *req)
{
    const char *id = req->path_value[0];
    size_t length = strlen(id);
    if (length > ID_DIGITS_MAX || strspn(id, "0123456789") != length)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no id: %.40s", id);
    enum az_status st = consent_delete(&req->op, strtoll(id, NULL, 10));
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

enum az_status
sessions_list_handle(struct request *req)
{
    json_t *list;
    enum az_status st = session_list(&req->op, request_param(req, "subjectId"), &list);
    return st == AZ_OK ? respond_json(req, 200, list) : st;
}

enum az_status
session_delete_handle(struct request *req)
{
    enum az_status st = session_delete(&req->op, req->path_value[0]);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}
