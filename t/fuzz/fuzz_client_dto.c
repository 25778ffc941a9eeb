/* ClientDto against its table: an input is the object, which is read as a creation and as a change.
 */
#include "config.h"

#include <string.h>

#include "admin/client_dto.h"
#include "base/jsonx.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

#define DEPTH 32
#define URIS 3 /* SVC_MAX_REDIRECT_URIS */
#define ID_MAX 256

/* Every column that may be written with what the caller sent. */
static const char *const columns[] = {
    "client_name", "client_type", "client_uri",         "logo_uri",
    "enabled",     "jwks",        "redirect_uris",      "post_logout_redirect_uris",
    "jwks_uri",    "auth_method", "software_statement", "software_statement_json",
};

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

static void
check_columns(TALLOC_CTX *mem, const struct client_dto *dto)
{
    const char *name;
    json_t *value, *row = NULL;
    MUST(jsonx_parse(mem, dto->columns, strlen(dto->columns), DEPTH, &row, NULL) == AZ_OK);
    json_object_foreach (row, name, value)
        MUST(is_column(name) && !json_is_null(value));
    const char *type = json_string_value(json_object_get(row, "client_type"));
    const char *method = json_string_value(json_object_get(row, "auth_method"));
    MUST(type != NULL && strcmp(type, dto->confidential ? "confidential" : "public") == 0);
    /* RFC 6749 section 2.1: none without a secret, never with one. */
    MUST(dto->confidential ? method == NULL || strcmp(method, "none") != 0
                           : method != NULL && strcmp(method, "none") == 0);
    MUST(dto->confidential || dto->secret == NULL);
    MUST(json_object_get(row, "jwks") == NULL || json_object_get(row, "jwks_uri") == NULL);
    check_uris(json_object_get(row, "redirect_uris"));
    check_uris(json_object_get(row, "post_logout_redirect_uris"));
}

static void
check_good(TALLOC_CTX *mem, const struct client_dto *dto, const struct client_dto_rules *rules)
{
    size_t length = strlen(dto->client_id);
    MUST(length > 0 && utf8_length(dto->client_id, length) <= ID_MAX);
    for (size_t i = 0; i < length; i++)
        MUST((unsigned char) dto->client_id[i] >= 0x20 && dto->client_id[i] != 0x7f);
    MUST(rules->path_id == NULL || strcmp(rules->path_id, dto->client_id) == 0);
    if (rules->state != NULL && dto->confidential)
        MUST(rules->state->has_secret || dto->secret != NULL);
    check_columns(mem, dto);
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

/* Reads a copy, for the reader adds the clientId of the path. */
static enum az_status
read_once(TALLOC_CTX *mem, const json_t *given, const struct client_dto_rules *rules)
{
    struct client_dto dto = {.client_id = "as it was"};
    unsigned faults = 0;
    json_t *object = jsonx_own(mem, json_deep_copy(given));
    enum az_status st = client_dto_read(mem, object, rules, collect, &faults, &dto);
    MUST(st == AZ_OK || st == AZ_INVALID);
    MUST((st == AZ_OK) == (faults == 0));
    if (st == AZ_OK)
        check_good(mem, &dto, rules);
    else
        MUST(strcmp(dto.client_id, "as it was") == 0 && dto.columns == NULL && dto.secret == NULL);
    return st;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct client_state with = {true, true, "confidential", "ADMIN", NULL},
                                     without = {true, false, "public", "DCR", NULL},
                                     stated = {true, true, "confidential", "STATEMENT",
                                               "{\"iss\":\"x\"}"};
    static const struct client_dto_rules rules[] = {
        {URIS, NULL, NULL    },
        {URIS, "c",  &with   },
        {URIS, "c",  &without},
        {URIS, "c",  &stated },
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
