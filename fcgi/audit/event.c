#include "config.h"

#include "audit/event.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/words.h"

/* Nesting of a stored document: that of its writers is less (base/json/jsonx.h). */
#define DOCUMENT_DEPTH_MAX 256

/* Parse a stored object. One that is none stays NULL: the export in json and the lines have it. */
static enum az_status
parse(TALLOC_CTX *mem, const char *text, json_t **ret)
{
    json_t *value = NULL;
    enum az_status st = text != NULL
                            ? jsonx_parse(mem, text, strlen(text), DOCUMENT_DEPTH_MAX, &value, NULL)
                            : AZ_OK;
    *ret = json_is_object(value) ? value : NULL;
    return st == AZ_INVALID ? AZ_OK : st;
}

enum az_status
audit_event_begin(struct audit_event *event)
{
    const struct audit_row *row = event->row;
    if (row->created_at == NULL
        || iso8601_parse(row->created_at, strlen(row->created_at), &event->time_ms) != AZ_OK)
        event->time_ms = 0;
    enum az_status st = parse(event->mem, row->summary, &event->summary);
    if (st == AZ_OK)
        st = parse(event->mem, row->input, &event->input);
    return st == AZ_OK ? parse(event->mem, row->decision, &event->decision) : st;
}

static json_t *
text_or_null(const char *text)
{
    return text != NULL && *text != '\0' ? json_string(text) : NULL;
}

json_t *
event_value(const struct audit_event *event, const struct event_member *member)
{
    if (member->text != NULL)
        return json_string(member->text);
    if (member->value != NULL)
        return member->value(event);
    return text_or_null(
        *(const char *const *) (const void *) ((const char *) event->row + member->column));
}

/* Set a value at a path, with the objects on the way. */
static void
put_at(json_t *object, const char *path, json_t *value, bool *lost)
{
    const char *dot = strchr(path, '.');
    if (dot == NULL) {
        *lost = json_object_set_new(object, path, value) != 0 || *lost;
        return;
    }
    char name[64];
    size_t length = (size_t) (dot - path);
    if (length >= sizeof(name)) {
        json_decref(value);
        *lost = true;
        return;
    }
    memcpy(name, path, length);
    name[length] = '\0';
    json_t *inner = json_object_get(object, name);
    if (inner == NULL && json_object_set_new(object, name, json_object()) == 0)
        inner = json_object_get(object, name);
    if (inner != NULL) {
        put_at(inner, dot + 1, value, lost);
        return;
    }
    json_decref(value);
    *lost = true;
}

void
event_put(struct jsonx_build *object, const struct audit_event *event,
          const struct event_member *table)
{
    for (; table->path != NULL; table++) {
        json_t *value = event_value(event, table);
        if (value != NULL)
            put_at(object->value, table->path, value, &object->lost);
    }
}

bool
event_of_admin(const struct audit_event *event)
{
    return event->row->endpoint != NULL && strncmp(event->row->endpoint, "/admin/", 7) == 0;
}

bool
event_outcome_is(const struct audit_event *event, const char *outcome)
{
    return event->row->outcome != NULL && strcmp(event->row->outcome, outcome) == 0;
}

/* ---- columns ---- */

json_t *
event_time_ms(const struct audit_event *event)
{
    return json_integer(event->time_ms);
}

json_t *
event_uid(const struct audit_event *event)
{
    return json_sprintf("%d/%lld", event->epoch, (long long) event->row->id);
}

json_t *
event_row_id(const struct audit_event *event)
{
    return json_integer(event->row->id);
}

json_t *
event_client(const struct audit_event *event)
{
    return event_of_admin(event) ? NULL : text_or_null(event->row->client_id);
}

json_t *
event_admin(const struct audit_event *event)
{
    return event_of_admin(event) ? text_or_null(event->row->client_id) : NULL;
}

json_t *
event_status(const struct audit_event *event)
{
    return event->row->http_status > 0 ? json_integer(event->row->http_status) : NULL;
}

json_t *
event_leaf_hash(const struct audit_event *event)
{
    return text_or_null(event->leaf_hash);
}

/* ---- documents ---- */

/* Return a member that is a text of its own, a new reference. */
static json_t *
text_member(const json_t *object, const char *name)
{
    return text_or_null(json_string_value(json_object_get(object, name)));
}

json_t *
event_codes_text(const struct audit_event *event)
{
    json_t *codes = event_codes(event);
    const char *text = json_array_size(codes) > 0 ? words_join_texts(event->mem, codes) : NULL;
    json_decref(codes);
    return text_or_null(text);
}

json_t *
event_codes(const struct audit_event *event)
{
    size_t i;
    json_t *reason, *code;
    const char *noted = json_string_value(json_object_get(event->summary, "denyCodes"));
    const json_t *reasons = json_object_get(event->decision, "deny_reasons");
    if (noted != NULL)
        return words_split_texts(noted);
    json_t *list = json_array_size(reasons) > 0 ? json_array() : NULL;
    json_array_foreach (reasons, i, reason)
        if (json_is_string(code = json_object_get(reason, "code")))
            json_array_append(list, code);
    return list;
}

json_t *
event_error(const struct audit_event *event)
{
    return text_member(event->summary, "error");
}

json_t *
event_scopes(const struct audit_event *event)
{
    const json_t *scopes = json_object_get(event->decision, "scopes");
    return json_array_size(scopes) > 0 ? jsonx_copy(scopes) : NULL;
}

json_t *
event_scope_text(const struct audit_event *event)
{
    size_t i;
    json_t *scope;
    char *text = NULL;
    json_array_foreach (json_object_get(event->decision, "scopes"), i, scope) {
        const char *name = json_string_value(scope);
        if (name != NULL)
            text = text == NULL ? talloc_strdup(event->mem, name)
                                : talloc_asprintf_append(text, " %s", name);
    }
    return text != NULL ? json_string(text) : text_member(event->summary, "scope");
}

json_t *
event_resource(const struct audit_event *event)
{
    const json_t *asked = json_object_get(event->input, "resource");
    json_t *noted = text_member(event->summary, "resource");
    if (noted != NULL)
        return noted;
    return json_is_object(asked) ? text_member(asked, "id")
                                 : text_or_null(json_string_value(asked));
}

json_t *
event_revision(const struct audit_event *event)
{
    return text_member(event->decision, "revision");
}

json_t *
event_summary(const struct audit_event *event)
{
    return json_incref(event->summary);
}
