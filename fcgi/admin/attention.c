#include "config.h"

#include "admin/attention.h"

#include <string.h>

#include "admin/health.h"
#include "admin/resource_faults.h"
#include "base/json/jsonx.h"
#include "store/overview/attention.h"

/* Nesting of the list: its entries have texts and numbers. */
#define ATTENTION_DEPTH_MAX 4

enum az_status
attention_list_handle(struct request *req)
{
    const char *text = NULL;
    json_t *stored = NULL, *faults = health_faults(&req->op);
    enum az_status st = faults != NULL ? json_rows_list(&req->op, &attention_rows, NULL, 0, &text)
                                       : op_no_memory(&req->op);
    if (st == AZ_OK)
        st = resource_faults_list(&req->op, faults);
    if (st == AZ_OK && json_array_size(faults) == 0)
        return respond_json_text(req, 200, text);
    if (st == AZ_OK
        && (jsonx_parse(req->op.mem, text, strlen(text), ATTENTION_DEPTH_MAX, &stored, NULL)
                != AZ_OK
            || json_array_extend(faults, stored) != 0))
        st = op_no_memory(&req->op);
    return st == AZ_OK ? respond_json(req, 200, faults) : st;
}
