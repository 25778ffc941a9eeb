#include "config.h"

#include "cli/cedar/cedar_case.h"

#include <stdlib.h>
#include <string.h>

#include "cedar/parse.h"
#include "cedar/read.h"
#include "cli/lib/dir.h"

/* A folder of the corpus as its cases name it, and as its archive has it. */
#define NAMED "corpus-tests/"
#define PLACED "corpus/"

static int
id_order(const void *a, const void *b)
{
    return cedar_text_compare(*(const struct cedar_text *) a, *(const struct cedar_text *) b);
}

static void
sort_ids(struct cedar_ids *ids)
{
    if (ids->count > 1)
        qsort(ids->id, ids->count, sizeof(*ids->id), id_order);
}

void
cedar_answer_sort(struct cedar_answer *answer)
{
    sort_ids(&answer->reason);
    sort_ids(&answer->errors);
}

static bool
equal_ids(const struct cedar_ids *a, const struct cedar_ids *b)
{
    for (size_t i = 0; i < a->count && a->count == b->count; i++)
        if (cedar_text_compare(a->id[i], b->id[i]) != 0)
            return false;
    return a->count == b->count;
}

bool
cedar_answer_equal(const struct cedar_answer *a, const struct cedar_answer *b)
{
    return a->allow == b->allow && equal_ids(&a->reason, &b->reason)
           && equal_ids(&a->errors, &b->errors);
}

static void
put_ids(struct buf *buf, const char *before, const struct cedar_ids *ids)
{
    buf_append_text(buf, before);
    for (size_t i = 0; i < ids->count; i++) {
        buf_append_text(buf, i > 0 ? "," : "");
        cedar_json_put(buf, ids->id[i]);
    }
}

char *
cedar_answer_text(TALLOC_CTX *mem, const struct cedar_answer *answer)
{
    size_t length;
    BUF_AUTO buf;
    /* Each octet of an id has at most six in JSON; ids are parts of one file of policies. */
    buf_init(&buf, mem, 16 * (size_t) CEDAR_FILE_MAX);
    buf_append_format(&buf, "{\"decision\":\"%s\"", answer->allow ? "allow" : "deny");
    put_ids(&buf, ",\"reason\":[", &answer->reason);
    put_ids(&buf, "],\"errors\":[", &answer->errors);
    buf_append_text(&buf, "]}");
    return buf_take(&buf, &length);
}

/* Read a list of ids. */
static bool
read_ids(TALLOC_CTX *mem, const struct cedar_json *json, struct cedar_ids *ret)
{
    if (json == NULL || json->kind != CEDAR_JSON_ARRAY)
        return false;
    ret->count = json->count;
    ret->id = talloc_array(mem, struct cedar_text, json->count);
    for (size_t i = 0; ret->id != NULL && i < json->count; i++)
        if (json->child[i].kind != CEDAR_JSON_STRING)
            return false;
        else
            ret->id[i] = json->child[i].text;
    return ret->id != NULL;
}

static bool
read_request_case(struct cedar_reader *reader, const struct cedar_json *json,
                  struct cedar_trial *ret)
{
    const struct cedar_json *description = cedar_json_get(json, "description"),
                            *decision = cedar_json_get(json, "decision");
    if (decision == NULL || decision->kind != CEDAR_JSON_STRING
        || !read_ids(reader->mem, cedar_json_get(json, "reason"), &ret->expected.reason)
        || !read_ids(reader->mem, cedar_json_get(json, "errors"), &ret->expected.errors))
        return false;
    ret->description = description != NULL && description->kind == CEDAR_JSON_STRING
                           ? description->text
                           : CEDAR_TEXT("");
    ret->expected.allow = cedar_text_is(decision->text, "allow");
    cedar_answer_sort(&ret->expected);
    return cedar_read_request(reader, json, &ret->request);
}

/* Read a file that the case names. NULL: *ret_why says why not. */
static char *
read_named_file(TALLOC_CTX *mem, int root, const struct cedar_json *json, const char *member,
                size_t max, size_t *ret_length, const char **ret_why)
{
    const struct cedar_json *name = cedar_json_get(json, member);
    char *path = name != NULL && name->kind == CEDAR_JSON_STRING
                     ? talloc_strndup(mem, name->text.at, name->text.length)
                     : NULL;
    const char *why = "no path";
    if (path != NULL && strncmp(path, NAMED, strlen(NAMED)) == 0)
        path = talloc_asprintf(mem, PLACED "%s", path + strlen(NAMED));
    char *text = path != NULL && *path != '/' && strstr(path, "..") == NULL
                     ? dir_read(mem, root, path, max, ret_length, &why)
                     : NULL;
    if (text == NULL)
        *ret_why = talloc_asprintf(mem, "%s: %s: %s", member, path != NULL ? path : "-", why);
    return text;
}

static const char *
fault_text(TALLOC_CTX *mem, const char *what, const struct cedar_fault *fault)
{
    return talloc_asprintf(mem, "%s: line %u, column %u: %s", what, fault->place.line,
                           fault->place.column, fault->text);
}

static bool
read_policies(TALLOC_CTX *mem, int root, const struct cedar_json *json, struct cedar_case *ret)
{
    struct cedar_fault fault;
    size_t length;
    const char *text =
        read_named_file(mem, root, json, "policies", CEDAR_FILE_MAX, &length, &ret->refused);
    if (text == NULL)
        return false;
    ret->policies = (struct cedar_text){text, length};
    ret->file = cedar_parse(mem, text, length, &fault);
    if (ret->file == NULL)
        ret->refused = fault_text(mem, "policies", &fault);
    return ret->file != NULL;
}

static bool
read_entities(struct cedar_reader *reader, int root, const struct cedar_json *json,
              struct cedar_case *ret)
{
    struct cedar_json entities;
    struct cedar_fault fault;
    size_t length;
    const char *text = read_named_file(reader->mem, root, json, "entities", CEDAR_JSON_MAX, &length,
                                       &ret->refused);
    if (text == NULL)
        return false;
    if (!cedar_json_parse(reader->mem, text, length, &entities, &fault)) {
        ret->refused = fault_text(reader->mem, "entities", &fault);
        return false;
    }
    return cedar_read_entities(reader, &entities, &ret->entities);
}

void
cedar_case_read(TALLOC_CTX *mem, int root, const char *path, struct cedar_case *ret)
{
    struct cedar_reader reader = {.mem = mem};
    struct cedar_json json;
    struct cedar_fault fault;
    size_t length;
    const char *why = NULL;
    *ret = (struct cedar_case){.name = talloc_strdup(mem, path)};
    char *text = dir_read(mem, root, path, CEDAR_JSON_MAX, &length, &why);
    if (text == NULL) {
        ret->is_case = true;
        ret->refused = why;
        return;
    }
    if (!cedar_json_parse(mem, text, length, &json, &fault)) {
        ret->is_case = true;
        ret->refused = fault_text(mem, "the case", &fault);
        return;
    }
    const struct cedar_json *requests = cedar_json_get(&json, "requests");
    ret->is_case = requests != NULL && requests->kind == CEDAR_JSON_ARRAY;
    if (!ret->is_case)
        return;
    reader.typed = cedar_json_get(&json, "schema") != NULL;
    ret->trials = requests->count;
    ret->trial = talloc_zero_array(mem, struct cedar_trial, requests->count);
    bool fine = ret->trial != NULL && read_policies(mem, root, &json, ret)
                && read_entities(&reader, root, &json, ret);
    for (size_t i = 0; fine && i < ret->trials; i++)
        fine = read_request_case(&reader, &requests->child[i], &ret->trial[i]);
    if (!fine && ret->refused == NULL)
        ret->refused = *reader.why != '\0' ? talloc_strdup(mem, reader.why)
                                           : "a request has no decision, reason or errors";
}
