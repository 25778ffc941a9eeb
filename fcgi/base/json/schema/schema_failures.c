#include "config.h"

#include "base/json/schema/schema_failures.h"

#include "base/buf.h"
#include "base/json/jsonx.h"

void
schema_append_token(struct buf *pointer, const char *name)
{
    buf_append_char(pointer, '/');
    for (const char *c = name; *c != '\0' && pointer->status == AZ_OK; c++)
        if (*c == '~' || *c == '/')
            buf_append_text(pointer, *c == '~' ? "~0" : "~1");
        else
            buf_append_char(pointer, *c);
}

static void
append_pointer(struct buf *pointer, const struct schema_place *place)
{
    if (place == NULL)
        return;
    append_pointer(pointer, place->up);
    if (place->name != NULL)
        schema_append_token(pointer, place->name);
    else
        buf_append_format(pointer, "/%zu", place->index);
}

/* Return the pointer to a place, or to its nearest ancestor whose pointer is short enough. */
static json_t *
make_pointer(struct schema_failures *failures, const struct schema_place *place)
{
    for (; place != NULL; place = place->up) {
        BUF_AUTO pointer;
        buf_init(&pointer, failures->mem, SCHEMA_PATH_MAX);
        append_pointer(&pointer, place);
        if (pointer.status == AZ_OK)
            return json_stringn(pointer.data, pointer.len);
        failures->out_of_memory |= pointer.status == AZ_SERVER_ERROR;
    }
    return json_string("");
}

bool
schema_failures_full(const struct schema_failures *failures)
{
    return failures->out_of_memory || json_array_size(failures->list) >= SCHEMA_FAILURES_MAX;
}

void
schema_fail(struct schema_failures *failures, const struct schema_place *place, const char *message)
{
    if (schema_failures_full(failures))
        return;
    json_t *failure = message != NULL ? json_pack("{s:o,s:s}", "path",
                                                  make_pointer(failures, place), "message", message)
                                      : NULL;
    if (json_array_append_new(failures->list, failure) != 0)
        failures->out_of_memory = true;
}

void
schema_fail_rule(struct schema_failures *failures, const struct schema_place *place,
                 const char *text, const json_t *rule, const char *unit)
{
    const char *value =
        json_is_string(rule) ? json_string_value(rule) : jsonx_dump(failures->mem, rule);
    schema_fail(failures, place,
                value != NULL ? talloc_asprintf(failures->mem, "%s %s%s", text, value, unit)
                              : NULL);
}

void
schema_failures_append(struct schema_failures *failures, const json_t *list)
{
    size_t index;
    json_t *failure;
    json_array_foreach (list, index, failure)
        if (!schema_failures_full(failures) && json_array_append(failures->list, failure) != 0)
            failures->out_of_memory = true;
}
