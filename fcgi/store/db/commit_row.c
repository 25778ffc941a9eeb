#include "config.h"

#include "store/db/commit_row.h"

#include <arpa/inet.h>
#include <string.h>

/* A parameter: its length in 4 octets of this host, or IS_NULL; the octets; for text a NUL that is
 * not counted. */
#define IS_NULL UINT32_MAX
/* Head of a PostgreSQL array of one dimension in binary form: number of dimensions, flag of NULLs,
 * type of the elements, their number, first index. */
#define ARRAY_HEAD 5

static const struct {
    char letter;
    uint32_t oid; /* in pg_type.dat of PostgreSQL, which never changes it */
} types[] = {
    {'t', 25  },
    {'b', 17  },
    {'u', 2950},
    {'z', 1184},
};

static uint32_t
type_oid(char letter)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].letter == letter)
            return types[i].oid;
    return 0;
}

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

static unsigned char *
put_number(unsigned char *at, uint32_t number)
{
    uint32_t big = htonl(number);
    memcpy(at, &big, sizeof(big));
    return at + sizeof(big);
}

/* Write column `i` of the rows as an array. Return the first octet behind it. */
static unsigned char *
put_column(unsigned char *at, uint32_t oid, const struct db_params *rows, size_t count, int i)
{
    bool nulls = false;
    for (size_t row = 0; row < count; row++)
        nulls = nulls || rows[row].value[i] == NULL;
    const uint32_t head[ARRAY_HEAD] = {1, nulls, oid, (uint32_t) count, 1};
    for (size_t k = 0; k < ARRAY_HEAD; k++)
        at = put_number(at, head[k]);
    for (size_t row = 0; row < count; row++) {
        const char *value = rows[row].value[i];
        uint32_t length = value != NULL ? (uint32_t) rows[row].length[i] : IS_NULL;
        at = put_number(at, length);
        if (value != NULL)
            memcpy(at, value, length);
        at += value != NULL ? length : 0;
    }
    return at;
}

bool
commit_rows_bind(TALLOC_CTX *mem, const struct commit_kind *kind,
                 const struct commit_row *const *rows, size_t count, struct db_params *params)
{
    size_t columns = strlen(kind->types), total = columns * ARRAY_HEAD * sizeof(uint32_t);
    struct db_params *read = talloc_array(mem, struct db_params, (unsigned) count);
    for (size_t row = 0; row < count && read != NULL; row++) {
        if (!commit_row_read(rows[row], kind, &read[row]))
            return false;
        total += rows[row]->length;
    }
    unsigned char *at = talloc_array(mem, unsigned char, (unsigned) total);
    if (read == NULL || at == NULL)
        return false;
    for (size_t i = 0; i < columns; i++) {
        unsigned char *end = put_column(at, type_oid(kind->types[i]), read, count, (int) i);
        db_octets(params, at, (size_t) (end - at));
        at = end;
    }
    talloc_free(read);
    return true;
}
