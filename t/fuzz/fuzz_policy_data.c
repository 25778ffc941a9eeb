/* Data keys and the PolicyDataDto of a PUT. An input is the key, a line break and the object;
 * without line break it is a key. */
#include "config.h"

#include <string.h>

#include "admin/policy/policy_data.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "http/fake_io.h"
#include "store/db/db.h"

#define VERSION_MAX 64

/* Specification 2.5, letter by letter. */
static bool
is_key(const char *key)
{
    char before = '.';
    size_t length = strlen(key);
    for (size_t i = 0; i < length; before = key[i++]) {
        bool word = (key[i] >= 'a' && key[i] <= 'z') || (key[i] >= 'A' && key[i] <= 'Z')
                    || (key[i] >= '0' && key[i] <= '9') || key[i] == '_' || key[i] == '-';
        if (!word && (key[i] != '.' || before == '.'))
            return false;
    }
    return length <= POLICY_DATA_KEY_MAX && before != '.';
}

/* An absent text is as good as a text of 1 to max characters. */
static bool
text_good(const json_t *value, size_t max)
{
    size_t length = utf8_length(json_string_value(value), json_string_length(value));
    return value == NULL || json_is_null(value)
           || (json_is_string(value) && length > 0 && (max == 0 || length <= max));
}

static bool
payload_good(TALLOC_CTX *mem, const json_t *payload)
{
    json_t *value;
    return json_is_string(payload)
           && jsonx_parse(mem, json_string_value(payload), json_string_length(payload),
                          POLICY_DATA_DEPTH_MAX, &value, NULL)
                  == AZ_OK;
}

static bool
members_known(const json_t *object)
{
    static const char *const known =
        " id dataKey payload version inBundle updatedAt updatedAtFormatted ";
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value) {
        char word[32];
        snprintf(word, sizeof(word), " %s ", name);
        if (strlen(name) > 20 || strchr(name, ' ') != NULL || strstr(known, word) == NULL)
            return false;
    }
    return true;
}

static bool
dto_good(TALLOC_CTX *mem, const char *key, const json_t *object)
{
    const json_t *given = json_object_get(object, "dataKey"),
                 *in_bundle = json_object_get(object, "inBundle");
    return members_known(object) && text_good(given, POLICY_DATA_KEY_MAX)
           && (!json_is_string(given) || strcmp(json_string_value(given), key) == 0)
           && text_good(json_object_get(object, "version"), VERSION_MAX)
           && payload_good(mem, json_object_get(object, "payload"))
           && (in_bundle == NULL || json_is_null(in_bundle) || json_is_boolean(in_bundle));
}

/* Without a database, what was read ends the request: a good one as unavailable. */
static void
put(TALLOC_CTX *mem, const char *key, json_t *object)
{
    static const char *const set[] = {NULL};
    const struct settings cfg = {.oidc_issuer = "https://as.example"};
    struct az az = {.cfg = &cfg, .db = db_new(mem, "host=/nonexistent")};
    struct request *req = fake_request(mem, fake_new(mem, set, ""), policy_data_params);

    req->op.az = &az;
    if (*key != '\0')
        req->param[req->params++] = (struct http_param){"dataKey", key};
    req->json = object;
    enum az_status st = policy_data_put_handle(req);
    MUST(st == req->op.fault.status);
    MUST(st == (is_key(key) && dto_good(mem, key, object) ? AZ_UNAVAILABLE : AZ_INVALID_FIELDS));
    /* A refusal names at least one field. */
    const json_t *fields = json_object_get(req->error_body, "fieldErrors");
    MUST((st == AZ_INVALID_FIELDS) == (json_object_size(fields) > 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *text = (const char *) data;
    const char *line = size > 0 ? memchr(text, '\n', size) : NULL;
    size_t length = line != NULL ? (size_t) (line - text) : size;
    char *key = talloc_strndup(mem, text, length);
    json_t *object = NULL;

    MUST((policy_data_key_fault(key) == NULL) == is_key(key));
    if (line != NULL)
        jsonx_parse(mem, line + 1, size - length - 1, HTTP_JSON_DEPTH_MAX, &object, NULL);
    /* Parameters are UTF-8: http/form.c refuses all else before a handler hears of it. */
    if (json_is_object(object) && utf8_valid(key, strlen(key)))
        put(mem, key, object);
    talloc_free(mem);
    return 0;
}
