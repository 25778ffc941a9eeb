/* ClientDto against its table: an input is the object, which is read as a creation and as a change.
 */
#include "config.h"

#include <string.h>

#include "admin/people/client_dto.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "base/words.h"
#include "fuzz/fuzz.h"
#include "store/clients/clients_admin.h"

#define DEPTH 32
#define URIS 3 /* SVC_MAX_REDIRECT_URIS */
#define ID_MAX 256

/* Every column that may be written with what the caller sent. */
static const char *const columns[] = {
    "client_name",
    "client_type",
    "client_uri",
    "logo_uri",
    "enabled",
    "jwks",
    "redirect_uris",
    "post_logout_redirect_uris",
    "jwks_uri",
    "auth_method",
    "software_statement",
    "software_statement_json",
    "scope",
    "id_token_signed_response_alg",
};

/* Columns that null empties, where an absent member keeps the stored value. */
static const char *const kept[] = {"scope", "id_token_signed_response_alg", NULL};

static void
collect(void *arg, const char *path, const char *why)
{
    unsigned *faults = arg;
    MUST(path != NULL && why != NULL && *why != '\0');
    (*faults)++;
}

static bool
is_column(const char *name)
{
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strcmp(columns[i], name) == 0)
            return true;
    return false;
}

static void
check_uris(const json_t *list)
{
    size_t index;
    json_t *uri;
    MUST(list == NULL || (json_is_array(list) && json_array_size(list) <= URIS));
    json_array_foreach ((json_t *) (uintptr_t) list, index, uri)
        MUST(json_is_string(uri) && uri_redirect_fault(json_string_value(uri)) == NULL);
}

static bool
check_columns(const struct resource_reading *dto)
{
    const char *name;
    json_t *value, *row = dto->columns;
    json_object_foreach (row, name, value)
        MUST(is_column(name) && (!json_is_null(value) || words_has(kept, name)));
    const char *type = json_string_value(json_object_get(row, "client_type"));
    const char *method = json_string_value(json_object_get(row, "auth_method"));
    MUST(type != NULL && (strcmp(type, "confidential") == 0 || strcmp(type, "public") == 0));
    bool confidential = strcmp(type, "confidential") == 0;
    /* RFC 6749 section 2.1: none without a secret, never with one. */
    MUST(confidential ? method == NULL || strcmp(method, "none") != 0
                      : method != NULL && strcmp(method, "none") == 0);
    MUST(confidential || dto->secret == NULL);
    MUST(json_object_get(row, "jwks") == NULL || json_object_get(row, "jwks_uri") == NULL);
    check_uris(json_object_get(row, "redirect_uris"));
    check_uris(json_object_get(row, "post_logout_redirect_uris"));
    return confidential;
}

static void
check_good(const struct resource_reading *dto)
{
    size_t length = strlen(dto->key);
    const struct client_state *stored = dto->stored;
    bool confidential = check_columns(dto);
    MUST(length > 0 && utf8_length(dto->key, length) <= ID_MAX);
    for (size_t i = 0; i < length; i++)
        MUST((unsigned char) dto->key[i] >= 0x20 && dto->key[i] != 0x7f);
    MUST(dto->path_key == NULL || strcmp(dto->path_key, dto->key) == 0);
    if (stored != NULL && confidential)
        MUST(stored->has_secret || dto->secret != NULL);
}

static bool
drop_nulls(json_t *object)
{
    const char *name;
    void *next;
    json_t *value;
    bool any = false;
    json_object_foreach_safe (object, next, name, value)
        if (json_is_null(value))
            any = json_object_del(object, name) == 0;
    return any;
}

/* The rules that a creation or a replacement is read by. */
struct rules {
    const char *path_key;
    const struct client_state *stored;
};

/* Read a copy: the reader adds the clientId of the path. */
static enum az_status
read_once(TALLOC_CTX *mem, const json_t *given, const struct rules *rules)
{
    static const char *algs[] = {"RS256", NULL};
    static const struct settings cfg = {.max_redirect_uris = URIS, .id_token_algs = algs};
    unsigned faults = 0;
    struct resource_reading dto = {.mem = mem,
                                   .cfg = &cfg,
                                   .object = jsonx_own(mem, json_deep_copy(given)),
                                   .path_key = rules->path_key,
                                   .stored = rules->stored,
                                   .fault = collect,
                                   .fault_arg = &faults};
    enum az_status st = resource_body_read(&client_body, &dto);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (faults == 0));
    if (st == AZ_OK)
        check_good(&dto);
    else
        MUST(dto.key == NULL && dto.columns == NULL && dto.secret == NULL);
    return st;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct client_state with = {.has_secret = true,
                                             .type = "confidential",
                                             .registration = "ADMIN"},
                                     without = {.type = "public",
                                                .registration = "DCR",
                                                .id_token_alg = "ES256"},
                                     stated = {.has_secret = true,
                                               .type = "confidential",
                                               .registration = "STATEMENT",
                                               .statement = "{\"iss\":\"x\"}"};
    static const struct rules rules[] = {
        {NULL, NULL    },
        {"c",  &with   },
        {"c",  &without},
        {"c",  &stated },
    };
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *object = NULL;

    jsonx_parse(mem, (const char *) data, size, DEPTH, &object, NULL);
    for (size_t i = 0; json_is_object(object) && i < sizeof(rules) / sizeof(rules[0]); i++) {
        enum az_status st = read_once(mem, object, &rules[i]);
        /* null is absent, and what the table does not name is refused. */
        json_t *other = jsonx_own(mem, json_deep_copy(object));
        if (drop_nulls(other))
            MUST(read_once(mem, other, &rules[i]) == st || st == AZ_INVALID);
        json_object_set_new(other, "Enabled", json_true());
        MUST(read_once(mem, other, &rules[i]) == AZ_INVALID);
    }
    talloc_free(mem);
    return 0;
}
