/* `context` of /introspect: an input that is taken is the JSON object that it seems to be. */
#include "config.h"

#include <string.h>

#include "base/jsonx.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "oauth/introspect.h"
#include "oauth/parameters.h"

/* The limits of decisions.md "Introspection callers", as in oauth/introspect.c. */
#define TEXT_MAX 16384
#define DEPTH_MAX 16

static bool
scopes_good(struct op *op, const json_t *scopes)
{
    size_t index;
    json_t *word, *words;
    if (json_is_string(scopes))
        return scope_parse(op, json_string_value(scopes), &words) == AZ_OK;
    json_array_foreach ((json_t *) (uintptr_t) scopes, index, word)
        if (!json_is_string(word))
            return false;
    return scopes == NULL || json_is_array(scopes);
}

static bool
is_good(TALLOC_CTX *mem, const char *text)
{
    struct op op = {.mem = mem};
    json_t *value = NULL;
    return strlen(text) <= TEXT_MAX
           && jsonx_parse(mem, text, strlen(text), DEPTH_MAX, &value, NULL) == AZ_OK
           && json_is_object(value) && scopes_good(&op, json_object_get(value, "scopes"));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = talloc_strndup(mem, (const char *) data, size);
    struct request *req = fake_request(mem, NULL, introspect_params);
    json_t *context = NULL;

    if (*text != '\0') {
        req->param[req->params++] = (struct http_param){"context", text};
        enum az_status st = introspect_read_context(req, &context);
        MUST(st == req->op.fault.status);
        MUST(st == AZ_OK || st == AZ_INVALID_REQUEST || st == AZ_INVALID_SCOPE);
        MUST((st == AZ_OK) == is_good(mem, text));
        MUST((st == AZ_OK) == json_is_object(context));
        const json_t *scopes = json_object_get(context, "scopes");
        MUST(scopes == NULL || json_is_array(scopes));
    }
    talloc_free(mem);
    return 0;
}
