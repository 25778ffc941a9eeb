/* scope, resource, resource_types and authorization_details: what is read keeps to its grammar. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "fuzz/fuzz.h"
#include "oauth/parameters/parameters.h"
#include "token/issue.h"

/* RFC 6749 3.3: scope-token. */
static bool
is_scope_token(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (*c < 0x21 || *c > 0x7e || *c == '"' || *c == '\\')
            return false;
    return *text != '\0';
}

static void
check_twice(json_t *list)
{
    size_t index, other;
    json_t *item, *twin;
    json_array_foreach (list, index, item)
        json_array_foreach (list, other, twin)
            MUST(index == other || !json_equal(item, twin));
}

static void
check_scope(TALLOC_CTX *mem, const char *text)
{
    struct op op = {.mem = mem}, again = {.mem = mem};
    json_t *words = NULL, *second = NULL, *word;
    size_t index;

    enum az_status st = scope_parse(&op, text, &words);
    MUST(st == op.fault.status && (st == AZ_OK || st == AZ_INVALID_SCOPE));
    MUST((st == AZ_OK) == (words != NULL));
    MUST(json_array_size(words) <= SCOPE_WORDS_MAX);
    json_array_foreach (words, index, word)
        MUST(is_scope_token(json_string_value(word)));
    check_twice(words);
    if (st == AZ_OK) {
        /* A granted scope is stored as text and read again. */
        MUST(scope_parse(&again, words_join(mem, words), &second) == AZ_OK);
        MUST(json_equal(words, second));
    }
}

static void
check_uri(const char *text)
{
    size_t length = strlen(text);
    MUST(length > 2 && length <= RESOURCE_MAX && strchr(text, ':') != NULL);
    MUST(strpbrk(text, "# \t\r\n\"<>\\^`{|}\x7f") == NULL);
    for (const char *c = text; *c != '\0'; c++)
        MUST(*c > ' ');
}

static void
check_resources(TALLOC_CTX *mem, const char *text)
{
    struct op op = {.mem = mem}, list_op = {.mem = mem};
    json_t *types = NULL, *type;
    size_t index;

    enum az_status st = resource_check(&op, text);
    MUST(st == op.fault.status && (st == AZ_OK || st == AZ_INVALID_TARGET));
    if (st == AZ_OK)
        check_uri(text);
    st = resource_types_parse(&list_op, text, &types);
    MUST(st == list_op.fault.status && (st == AZ_OK || st == AZ_INVALID_REQUEST));
    MUST((st == AZ_OK) == (types != NULL) && json_array_size(types) <= RESOURCE_TYPES_MAX);
    json_array_foreach (types, index, type)
        check_uri(json_string_value(type));
    check_twice(types);
}

static void
check_details(TALLOC_CTX *mem, const char *text)
{
    struct op op = {.mem = mem};
    json_t *details = NULL, *entry;
    size_t index;

    enum az_status st = details_parse(&op, text, &details);
    MUST(st == op.fault.status && (st == AZ_OK || details == NULL)); /* an empty array is absent */
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST || st == AZ_INVALID_AUTHORIZATION_DETAILS);
    MUST(details == NULL || (json_is_array(details) && strlen(text) <= DETAILS_TEXT_MAX));
    MUST(json_array_size(details) <= DETAILS_MAX);
    json_array_foreach (details, index, entry)
        MUST(json_string_length(json_object_get(entry, "type")) > 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = talloc_strndup(mem, (const char *) data, size);
    check_scope(mem, text);
    check_resources(mem, text);
    check_details(mem, text);
    talloc_free(mem);
    return 0;
}
