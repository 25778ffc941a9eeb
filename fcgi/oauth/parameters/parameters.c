#include "config.h"

#include "oauth/parameters/parameters.h"

#include <ctype.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "oauth/parameters/audience.h"

enum az_status
scope_parse(struct op *op, const char *text, json_t **ret)
{
    if (text != NULL && strlen(text) > SCOPE_TEXT_MAX)
        return op_fail(op, AZ_INVALID_SCOPE, "The scope is too long", NULL);
    if (text != NULL && !scope_characters(text))
        return op_fail(op, AZ_INVALID_SCOPE, "The scope has a forbidden character", NULL);
    json_t *words = words_split(op->mem, text);
    if (words == NULL)
        return op_no_memory(op);
    if (json_array_size(words) > SCOPE_WORDS_MAX)
        return op_fail(op, AZ_INVALID_SCOPE, "The request has too many scopes", NULL);
    *ret = words;
    return AZ_OK;
}

/* True for scheme ":" hier-part without a fragment (RFC 3986 4.3). */
static bool
is_absolute_uri(const char *text, size_t length)
{
    size_t scheme = 0;
    if (length == 0 || length > RESOURCE_MAX || !isalpha((unsigned char) text[0]))
        return false;
    while (scheme < length
           && (isalnum((unsigned char) text[scheme]) || strchr("+-.", text[scheme]) != NULL))
        scheme++;
    if (scheme + 1 >= length || text[scheme] != ':')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isgraph((unsigned char) text[i]) || strchr("#\"<>\\^`{|}", text[i]) != NULL)
            return false;
    return true;
}

enum az_status
resource_check(struct op *op, const char *text)
{
    if (!is_absolute_uri(text, strlen(text)))
        return op_fail(op, AZ_INVALID_TARGET,
                       "The resource must be an absolute URI without a fragment", NULL);
    return AZ_OK;
}

enum az_status
resource_read(struct op *op, const char *text, const char **ret)
{
    enum az_status st = resource_check(op, text);
    if (st != AZ_OK)
        return st;
    *ret = audience_without_slash(op->mem, op->az->cfg->oidc_issuer, text);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
resource_types_parse(struct op *op, const char *text, json_t **ret)
{
    if (text == NULL) {
        *ret = NULL;
        return AZ_OK;
    }
    const char *rest = text, *word;
    size_t length;
    while (words_next(&rest, &word, &length))
        if (!is_absolute_uri(word, length))
            return op_fail(op, AZ_INVALID_REQUEST, "resource_types must be absolute URIs", NULL);
    json_t *types = words_split(op->mem, text);
    if (types == NULL)
        return op_no_memory(op);
    if (json_array_size(types) > RESOURCE_TYPES_MAX)
        return op_fail(op, AZ_INVALID_REQUEST, "The request has too many resource_types", NULL);
    *ret = types;
    return AZ_OK;
}

/* Return the fault of one entry, as a text that fits after its name, or NULL. */
static const char *
detail_fault(const json_t *entry)
{
    static const struct {
        const char *member, *fault;
    } lists[] = {
        {"locations",  "has locations that are not an array of strings" },
        {"actions",    "has actions that are not an array of strings"   },
        {"datatypes",  "has datatypes that are not an array of strings" },
        {"privileges", "has privileges that are not an array of strings"},
    };
    const json_t *identifier = json_object_get(entry, "identifier"), *list;
    if (json_string_length(json_object_get(entry, "type")) == 0)
        return "has no type";
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if ((list = json_object_get(entry, lists[i].member)) != NULL && !jsonx_is_texts(list))
            return lists[i].fault;
    return identifier == NULL || json_is_string(identifier) ? NULL
                                                            : "has an identifier that is no string";
}

enum az_status
details_parse(struct op *op, const char *text, json_t **ret)
{
    json_t *details = NULL, *entry;
    const char *why = NULL;
    size_t index;
    if (text == NULL) {
        *ret = NULL;
        return AZ_OK;
    }
    if (strlen(text) > DETAILS_TEXT_MAX)
        return op_fail(op, AZ_INVALID_REQUEST, "authorization_details is too long", NULL);
    if (jsonx_parse(op->mem, text, strlen(text), DETAILS_DEPTH_MAX, &details, &why) != AZ_OK
        || !json_is_array(details))
        return op_fail(op, AZ_INVALID_REQUEST, "authorization_details must be a JSON array", "%s",
                       why != NULL ? why : "not an array");
    if (json_array_size(details) > DETAILS_MAX)
        return op_fail(op, AZ_INVALID_AUTHORIZATION_DETAILS,
                       "authorization_details has too many entries", NULL);
    json_array_foreach (details, index, entry)
        if ((why = detail_fault(entry)) != NULL)
            return op_fail(
                op, AZ_INVALID_AUTHORIZATION_DETAILS,
                talloc_asprintf(op->mem, "%s %s", details_name(op->mem, details, index), why),
                NULL);
    *ret = json_array_size(details) > 0 ? details : NULL;
    return AZ_OK;
}

enum az_status
context_parse(struct op *op, const char *text, json_t **ret)
{
    const char *why = NULL;
    json_t *context = NULL, *words;
    if (text == NULL) {
        *ret = NULL;
        return AZ_OK;
    }
    if (strlen(text) > CONTEXT_TEXT_MAX)
        return op_fail(op, AZ_INVALID_REQUEST, "context is too long", NULL);
    if (jsonx_parse(op->mem, text, strlen(text), CONTEXT_DEPTH_MAX, &context, &why) != AZ_OK
        || !json_is_object(context))
        return op_fail(op, AZ_INVALID_REQUEST, "context must be a JSON object", "%s",
                       why != NULL ? why : "not an object");
    const json_t *scopes = json_object_get(context, "scopes");
    if (json_is_string(scopes)) {
        enum az_status st = scope_parse(op, json_string_value(scopes), &words);
        if (st != AZ_OK)
            return st;
        if (json_object_set(context, "scopes", words) != 0)
            return op_no_memory(op);
    } else if (scopes != NULL && !jsonx_is_texts(scopes)) {
        return op_fail(op, AZ_INVALID_REQUEST,
                       "context.scopes must be an array of strings or a string", NULL);
    }
    *ret = context;
    return AZ_OK;
}
