#include "config.h"

#include "store/db/commit_row.h"

#include <string.h>

/* A parameter: its length in 4 octets of this host, or IS_NULL; the octets; for text a NUL that is
 * not counted. */
#define IS_NULL UINT32_MAX

static size_t
param_length(const struct db_params *params, int i)
{
    return params->format[i] == 0 ? strlen(params->value[i]) : (size_t) params->length[i];
}

bool
commit_row_write(struct commit_row *row, const struct commit_kind *kind, uint32_t bucket,
                 uint32_t day, const struct db_params *params)
{
    size_t total = 0;
    if (params->lost || (size_t) params->count != strlen(kind->types))
        return false;
    for (int i = 0; i < params->count; i++) {
        bool text = kind->types[i] == 't';
        total += sizeof(uint32_t);
        if (params->value[i] == NULL)
            continue;
        if (text != (params->format[i] == 0))
            return false;
        total += param_length(params, i) + text;
    }
    if (total > COMMIT_ROW_MAX)
        return false;
    unsigned char *at = row->data;
    for (int i = 0; i < params->count; i++) {
        uint32_t length = params->value[i] != NULL ? (uint32_t) param_length(params, i) : IS_NULL;
        memcpy(at, &length, sizeof(length));
        at += sizeof(length);
        if (length == IS_NULL)
            continue;
        size_t octets = length + (kind->types[i] == 't');
        memcpy(at, params->value[i], octets);
        at += octets;
    }
    row->kind = kind->number;
    row->bucket = bucket;
    row->day = day;
    row->tag = 0;
    row->length = (uint32_t) total;
    return true;
}

bool
commit_row_read(const struct commit_row *row, const struct commit_kind *kind, struct db_params *ret)
{
    const unsigned char *at = row->data;
    size_t left = row->length <= COMMIT_ROW_MAX ? row->length : 0;
    ret->count = 0;
    ret->lost = false;
    for (const char *type = kind->types; *type != '\0'; type++) {
        uint32_t length;
        if (row->kind != kind->number || left < sizeof(length))
            return false;
        memcpy(&length, at, sizeof(length));
        at += sizeof(length);
        left -= sizeof(length);
        size_t octets = length == IS_NULL ? 0 : (size_t) length + (*type == 't');
        if (octets > left || (octets > 0 && *type == 't' && at[length] != '\0'))
            return false;
        if (length == IS_NULL)
            db_text(ret, NULL);
        else if (*type == 't')
            db_text(ret, (const char *) at);
        else
            db_octets(ret, at, length);
        ret->length[ret->count - 1] = (int) (length == IS_NULL ? 0 : length);
        at += octets;
        left -= octets;
    }
    return true;
}
