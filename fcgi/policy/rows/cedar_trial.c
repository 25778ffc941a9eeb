#include "config.h"

#include "policy/rows/cedar_trial.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "cedar/read.h"
#include "cedar/rego.h"

/* Nesting of an input: that of the request, and at each level an entity or a value of an extension
 * type has two more. */
#define CEDAR_TRIAL_DEPTH_MAX (3 * CEDAR_NESTING_MAX)

static enum az_status
refuse_trial(TALLOC_CTX *mem, const char *why, const char **ret_why)
{
    *ret_why = talloc_asprintf(mem, "is no request of Cedar: %s", why);
    return *ret_why != NULL ? AZ_INVALID : AZ_SERVER_ERROR;
}

/* Return what is wrong with the names of the members, or NULL. A misspelt name would make a
 * different request. */
static const char *
member_fault(TALLOC_CTX *mem, const json_t *request)
{
    static const char *const names[] = {"principal", "action",   "resource",
                                        "context",   "entities", NULL};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) request, name, value)
        if (!words_has(names, name))
            return talloc_asprintf(mem, "it has a member `%.*s`", UTF8_SHOWN(name, 100));
    return NULL;
}

/* Return the text of the input; NULL: no memory. */
static const char *
trial_text(TALLOC_CTX *mem, const struct cedar_request *request,
           const struct cedar_entities *entities)
{
    const char *question = cedar_rego_request(mem, request),
               *document = cedar_rego_entities(mem, entities);
    if (question == NULL || document == NULL)
        return NULL;
    /* The entities are one member more. */
    return talloc_asprintf(mem, "{\"cedar\":%.*s,\"entities\":%s}}", (int) strlen(question) - 1,
                           question, document);
}

enum az_status
cedar_trial_input(TALLOC_CTX *mem, const json_t *request, json_t **ret, const char **ret_why)
{
    struct cedar_reader reader = {.mem = mem};
    struct cedar_fault fault;
    struct cedar_json json;
    struct cedar_request question;
    struct cedar_entities entities = {NULL, 0};
    const char *text = jsonx_dump(mem, request), *why = member_fault(mem, request);
    if (text == NULL)
        return AZ_SERVER_ERROR;
    if (why == NULL && !cedar_json_parse(mem, text, strlen(text), &json, &fault))
        why = fault.text;
    if (why != NULL)
        return refuse_trial(mem, why, ret_why);
    const struct cedar_json *list = cedar_json_get(&json, "entities");
    if (!cedar_read_request(&reader, &json, &question)
        || (list != NULL && !cedar_read_entities(&reader, list, &entities)))
        return refuse_trial(mem, reader.why, ret_why);
    text = trial_text(mem, &question, &entities);
    if (text == NULL)
        return AZ_SERVER_ERROR;
    if (jsonx_parse(mem, text, strlen(text), CEDAR_TRIAL_DEPTH_MAX, ret, &why) != AZ_OK)
        return refuse_trial(mem, why != NULL ? why : "out of memory", ret_why);
    return AZ_OK;
}
