#include "config.h"

#include "policy/save/bundle/bundle_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/text_diff.h"

/* The two kinds of rows: members of bundle_history_content. */
static const struct row_kind {
    const char *list; /* in the content, and in the answer */
    const char *name; /* member with its name */
    const char *text; /* member with its text */
    bool json;        /* the text is JSON */
} kinds[] = {
    {"rules", "path",    "content", false},
    {"data",  "dataKey", "payload", true },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A row of a content; texts are borrowed from it. */
struct row {
    const char *name, *text, *version;
    bool disabled;
};

/* Rows of one kind, sorted by name. */
struct row_pair {
    struct row *row;
    size_t count;
};

/* State of one diff. */
struct work {
    TALLOC_CTX *mem; /* of the diff alone */
    const struct row_kind *kind;
    struct text_diff_room room;
    json_t *added, *removed, *changed; /* borrowed from the answer */
};

static int
compare_rows(const void *a, const void *b)
{
    return strcmp(((const struct row *) a)->name, ((const struct row *) b)->name);
}

/* Return a member, "" if it is missing: the service wrote the content itself. */
static const char *
row_member(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

static bool
read_rows(const struct work *work, const json_t *content, struct row_pair *ret)
{
    const json_t *list = json_object_get(content, work->kind->list);
    ret->count = json_array_size(list);
    ret->row = talloc_size(work->mem, (ret->count + 1) * sizeof(struct row));
    if (ret->row == NULL)
        return false;
    for (size_t i = 0; i < ret->count; i++) {
        const json_t *row = json_array_get(list, i);
        ret->row[i] = (struct row){row_member(row, work->kind->name),
                                   row_member(row, work->kind->text), row_member(row, "version"),
                                   json_is_false(json_object_get(row, "enabled"))};
    }
    qsort(ret->row, ret->count, sizeof(struct row), compare_rows);
    return true;
}

/* Return JSON as it is compared: one member to a line, sorted. A payload that is not JSON is
 * compared as it is. */
static char *
pretty(TALLOC_CTX *mem, const char *payload)
{
    json_t *value = json_loads(payload, JSON_DECODE_ANY, NULL);
    char *text =
        value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_INDENT(2)) : NULL;
    char *copy = text != NULL ? talloc_asprintf(mem, "%s\n", text) : talloc_strdup(mem, payload);
    free(text);
    json_decref(value);
    return copy;
}

/* True if two rows differ in something beside the text. */
static bool
marks_differ(const struct row *from, const struct row *to)
{
    return strcmp(from->version, to->version) != 0 || from->disabled != to->disabled;
}

/* Return an entry of `changed`; its diff is null if it does not fit. */
static json_t *
changed_entry(const struct row_kind *kind, const struct row *from, const struct row *to,
              const char *diff)
{
    json_t *versions = strcmp(from->version, to->version) != 0
                           ? json_pack("[s,s]", from->version, to->version)
                           : NULL;
    json_t *enabled =
        from->disabled != to->disabled ? json_pack("[b,b]", !from->disabled, !to->disabled) : NULL;
    return json_pack("{s:s,s:s?,s:o*,s:o*}", kind->name, from->name, "diff", diff, "versions",
                     versions, "enabled", enabled);
}

/* Compare a row that is in both bundles, and add an entry if it differs. */
static bool
compare_texts(struct work *work, const struct row *from, const struct row *to)
{
    TALLOC_CTX *mem = talloc_new(work->mem);
    const struct text_diff_pair pair = {
        .name = from->name,
        .from = work->kind->json ? pretty(mem, from->text) : from->text,
        .to = work->kind->json ? pretty(mem, to->text) : to->text,
    };
    char *diff = NULL;
    enum az_status st = mem != NULL && pair.from != NULL && pair.to != NULL
                            ? text_diff(mem, &pair, &work->room, &diff)
                            : AZ_SERVER_ERROR;
    bool good = st != AZ_SERVER_ERROR;
    if (good && (diff == NULL || *diff != '\0' || marks_differ(from, to)))
        good = json_array_append_new(work->changed, changed_entry(work->kind, from, to, diff)) == 0;
    talloc_free(mem);
    return good;
}

static bool
compare_pair(struct work *work, const struct row *from, const struct row *to)
{
    if (strcmp(from->text, to->text) == 0 && !marks_differ(from, to))
        return true;
    return compare_texts(work, from, to);
}

/* Compare two sorted lists in one walk. */
static bool
compare_lists(struct work *work, const struct row_pair *from, const struct row_pair *to)
{
    size_t i = 0, j = 0;
    bool good = true;
    while (good && (i < from->count || j < to->count)) {
        int order = i == from->count ? 1
                    : j == to->count ? -1
                                     : strcmp(from->row[i].name, to->row[j].name);
        if (order < 0)
            good = json_array_append_new(work->removed, json_string(from->row[i++].name)) == 0;
        else if (order > 0)
            good = json_array_append_new(work->added, json_string(to->row[j++].name)) == 0;
        else
            good = compare_pair(work, &from->row[i++], &to->row[j++]);
    }
    return good;
}

static bool
compare_kind(struct work *work, const json_t *from, const json_t *to, json_t *answer)
{
    struct row_pair before, after;
    json_t *part = json_pack("{s:[],s:[],s:[]}", "added", "removed", "changed");
    if (json_object_set_new(answer, work->kind->list, part) != 0)
        return false;
    work->added = json_object_get(part, "added");
    work->removed = json_object_get(part, "removed");
    work->changed = json_object_get(part, "changed");
    return read_rows(work, from, &before) && read_rows(work, to, &after)
           && compare_lists(work, &before, &after);
}

json_t *
bundle_diff(TALLOC_CTX *mem, const json_t *from, const json_t *to)
{
    struct work work = {
        .mem = talloc_new(mem), .room = {BUNDLE_DIFF_STEPS_MAX, BUNDLE_DIFF_OCTETS_MAX}
    };
    json_t *answer = jsonx_own(mem, json_object());
    bool good = answer != NULL && work.mem != NULL;
    for (size_t i = 0; good && i < KINDS; i++) {
        work.kind = &kinds[i];
        good = compare_kind(&work, from, to, answer);
    }
    talloc_free(work.mem);
    return good ? answer : NULL;
}
