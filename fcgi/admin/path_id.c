#include "config.h"

#include "admin/path_id.h"

#include <string.h>

bool
path_id_parse(const char *text, int64_t max, int64_t *ret)
{
    int64_t number = 0;
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (number > (max - (*text - '0')) / 10)
            return false;
        number = number * 10 + (*text - '0');
    }
    *ret = number;
    return true;
}

enum az_status
path_id_read(struct request *req, int64_t *ret)
{
    return path_id_parse(req->path_value[0], INT64_MAX, ret)
               ? AZ_OK
               : op_fail(&req->op, AZ_NOT_FOUND, NULL, "the id in the path is not a number");
}
