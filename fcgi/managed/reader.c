#include "config.h"

#include "managed/reader.h"

#include <stdarg.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"

/* Longest path of a field. Names in it may come from the caller. */
#define PATH_MAX_SHOWN 160

/* ---- faults and members */

/* Note the fault of a part of a stored document, which is left out for the first one. */
static void
part_fault(struct reader *reader, const char *path, const char *why)
{
    char whole[PATH_MAX_SHOWN];
    if (reader->part->why != NULL)
        return;
    utf8_print(whole, sizeof(whole), "%s%s", reader->at != NULL ? reader->at : "", path);
    reader->part->why =
        talloc_asprintf(reader->mem, "%s%s%s", whole, *whole != '\0' ? " " : "", why);
    reader->lost = reader->lost || reader->part->why == NULL;
}

void
reader_tell(void *arg, const char *path, const char *why)
{
    struct reader *reader = arg;
    const struct managed_reading *reading = reader->reading;
    char whole[PATH_MAX_SHOWN];
    if (reader->part != NULL) {
        part_fault(reader, path, why);
        return;
    }
    reader->faulty = true;
    if (reading->fault == NULL)
        return;
    utf8_print(whole, sizeof(whole), "%s%s", reader->at != NULL ? reader->at : "", path);
    /* A fault of a whole object: "routes[2]." without its dot. */
    if (*path == '\0' && *whole != '\0')
        whole[strlen(whole) - 1] = '\0';
    reading->fault(reading->fault_arg, whole, why);
}

void
reader_tell_text(struct reader *reader, const char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *why = talloc_vasprintf(reader->mem, format, args);
    va_end(args);
    reader_tell(reader, path, why != NULL ? why : "is not valid");
}

bool
reader_fields(struct reader *reader, const struct field_table *table, const json_t *object,
              void *ret)
{
    enum az_status st = fields_read(reader->mem, table, object, reader_tell, reader, ret, NULL);
    reader->lost = reader->lost || st == AZ_SERVER_ERROR;
    return st == AZ_OK;
}

bool
reader_part(struct reader *reader, const char *member, const struct field_table *table,
            const json_t *object, void *ret)
{
    const char *outer = reader->at;
    if (object == NULL)
        return true;
    reader->at = talloc_asprintf(reader->mem, "%s%s.", outer, member);
    bool good = reader->at != NULL && reader_fields(reader, table, object, ret);
    reader->at = outer;
    return good;
}

const char **
reader_list(struct reader *reader, const json_t *array)
{
    const char **list = array != NULL ? words_array_list(reader->mem, array) : NULL;
    reader->lost = reader->lost || (array != NULL && list == NULL);
    return list;
}

void
reader_missing(struct reader *reader, const char *what)
{
    if (reader->resource->missing == NULL)
        reader->resource->missing = what;
}

/* ---- parts that may be left out */

struct managed_left_out *
reader_parts(struct reader *reader, const json_t *list)
{
    struct managed_left_out *parts =
        talloc_zero_array(reader->mem, struct managed_left_out, (unsigned) json_array_size(list));
    reader->lost = reader->lost || parts == NULL;
    return parts;
}

void
reader_part_begin(struct reader *reader, const char *kind, const char *by, const json_t *list,
                  size_t index, struct managed_left_out *parts)
{
    const char *place = talloc_asprintf(reader->mem, "%ss[%zu]", kind, index);
    const char *name = json_string_value(json_object_get(json_array_get(list, index), by));
    bool stored = reader->reading->stored;
    parts[index].kind = kind;
    parts[index].name = name != NULL ? name : place;
    reader->part = stored ? &parts[index] : NULL;
    reader->at = stored ? "" : talloc_asprintf(reader->mem, "%s.", place);
    reader->lost = reader->lost || place == NULL || reader->at == NULL;
}

void
reader_parts_end(struct reader *reader, const struct managed_left_out *parts, size_t count)
{
    struct managed_resource *resource = reader->resource;
    reader->part = NULL;
    reader->at = "";
    for (size_t i = 0; i < count; i++) {
        if (parts[i].why == NULL)
            continue;
        struct managed_left_out *more =
            talloc_realloc(reader->mem, (struct managed_left_out *) (uintptr_t) resource->left_out,
                           struct managed_left_out, (unsigned) resource->left_outs + 1);
        if (more == NULL) {
            reader->lost = true;
            return;
        }
        more[resource->left_outs++] = parts[i];
        resource->left_out = more;
    }
}
