#include "config.h"

#include "admin/keys.h"

#include <string.h>

#include "admin/resource/resource.h"
#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "store/tokens/signing_keys_turn.h"

/* ---- the list ---- */

/* Read a time of a key. False: the key does not have it. */
static bool
key_time(const json_t *key, const char *member, int64_t *ret_ms)
{
    const char *text = json_string_value(json_object_get(key, member));
    return text != NULL && iso8601_parse(text, strlen(text), ret_ms) == AZ_OK;
}

/* Return for how many seconds a retired key of the use stays published. */
static int64_t
key_retirement(const struct settings *cfg, const json_t *key)
{
    const char *use = json_string_value(json_object_get(key, "use"));
    return use != NULL && strcmp(use, signing_use_name(SIGNING_STATEMENT)) == 0
               ? cfg->statement_key_retirement
               : cfg->key_retirement_seconds;
}

/* Add the age of a key, and the end of its publication. */
static void
describe_key(const struct op *op, json_t *key)
{
    struct jsonx_build build = {key, false};
    char until[ISO8601_MS_SIZE];
    int64_t since, retired;
    if (key_time(key, "activatedAt", &since) || key_time(key, "createdAt", &since))
        jsonx_set(&build, "ageSeconds",
                  json_integer(op->now_ms > since ? (op->now_ms - since) / 1000 : 0));
    const char *use = json_string_value(json_object_get(key, "use"));
    if (use != NULL && strcmp(use, signing_use_name(SIGNING_AUDIT)) != 0
        && key_time(key, "retiredAt", &retired)
        && iso8601_format_ms(retired + key_retirement(op->az->cfg, key) * 1000, until) == AZ_OK)
        jsonx_set(&build, "publishedUntil", json_string(until));
}

enum az_status
keys_list_handle(struct request *req)
{
    json_t *keys, *key;
    size_t index;
    enum az_status st = signing_keys_list(&req->op, &keys);
    if (st != AZ_OK)
        return st;
    json_array_foreach (keys, index, key)
        describe_key(&req->op, key);
    return respond_json(req, 200, keys);
}

/* ---- the rotation ---- */

/* The body {"use": USE}, which is optional. */
struct rotation_asked {
    const char *use;
};

/* In the order of enum signing_use; the first one is the default. */
static const char *const key_uses[] = {"oidc", "statement", "audit", "access", NULL};

static const struct field key_rotation_fields[] = {
    {"use", FIELD_TEXT, .words = key_uses, FIELD_INTO(struct rotation_asked, use),
     .help = "oidc: keys of ID tokens, the default; statement: keys of software statements; "
             "audit: keys of the audit log; access: keys of JWT access "
             "tokens", .example = "\"statement\""},
};
const struct field_table key_rotation_table = FIELD_TABLE("KeyRotation", key_rotation_fields, 0);

static enum az_status
read_use(struct request *req, enum signing_use *ret)
{
    struct rotation_asked asked = {.use = NULL};
    enum az_status st = resource_read_fields(req, &key_rotation_table, &asked);
    if (st != AZ_OK)
        return st;
    *ret = SIGNING_OIDC;
    for (int use = 0; use < SIGNING_USES && asked.use != NULL; use++)
        if (strcmp(asked.use, signing_use_name((enum signing_use) use)) == 0)
            *ret = (enum signing_use) use;
    resource_note(req, "keyUse", signing_use_name(*ret));
    return AZ_OK;
}

/* Check first that the stored keys open: a new key would be sealed under another credential key
 * than they, and some processes could not read it. */
enum az_status
keys_rotate_handle(struct request *req)
{
    enum signing_use use;
    enum az_status st = read_use(req, &use);
    if (st == AZ_OK)
        st = signing_keys_check(&req->op);
    if (st == AZ_OK)
        st = signing_keys_rotate(&req->op, use);
    return st == AZ_OK ? keys_list_handle(req) : st;
}
