#include "config.h"

#include "store/people/admin_keys.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uuid7.h"
#include "crypto/keyring.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "crypto/token.h"
#include "store/db/db.h"
#include "store/db/keep/locks.h"
#include "store/people/admin_keys_private.h"

const char *const admin_role_words[] = {"auditor", "operator", "owner", NULL};

enum admin_key_find_column { FIND_ID, FIND_LABEL, FIND_ROLE };
static const struct db_stmt admin_key_find_stmt = {
    "admin_key_find",
    "WITH found AS (SELECT id, label, role FROM admin_key k WHERE lookup = $1 "
    "AND " ADMIN_KEY_IS_VALID "), used AS (" ADMIN_KEY_USED ") SELECT id, label, role FROM found",
    1};
static const struct db_stmt admin_key_insert_stmt = {
    "admin_key_insert",
    "INSERT INTO admin_key (id, label, managed_by, lookup, sealed, role, expires_at, created_by)"
    " VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8)",
    8};
/* A configured key that was replaced and is configured again becomes valid again. */
static const struct db_stmt admin_key_configure_stmt = {
    "admin_key_configure",
    "WITH old AS (UPDATE admin_key SET revoked_at = now() WHERE managed_by = 'environment' AND "
    "lookup <> $4 AND revoked_at IS NULL)"
    " INSERT INTO admin_key (id, label, managed_by, lookup, sealed) VALUES ($1::uuid, $2, $3, $4, "
    "$5)"
    " ON CONFLICT (lookup) DO UPDATE SET managed_by = 'environment', revoked_at = NULL, "
    "role = 'owner', expires_at = NULL"
    " WHERE admin_key.managed_by <> 'environment' OR admin_key.revoked_at IS NOT NULL",
    5};
/* clang-format off */
#define VIEW                                                                                       \
    "SELECT json_strip_nulls(row_to_json(k)) FROM (SELECT id, label, \"managedBy\","               \
    "  role, to_char(\"createdAt\"" DB_TIME " AS \"createdAt\", \"createdBy\","                     \
    "  to_char(\"expiresAt\"" DB_TIME " AS \"expiresAt\","                                         \
    "  to_char(\"lastUsedAt\"" DB_TIME " AS \"lastUsedAt\","                                       \
    "  to_char(\"revokedAt\"" DB_TIME " AS \"revokedAt\","                                         \
    "  (SELECT count(*) FROM admin_session s WHERE s.admin_key = d.id AND " ADMIN_SESSION_IS_LIVE  \
    "  ) AS sessions FROM admin_key_dto d) k"
static const struct db_stmt admin_key_list_stmt = {
    "admin_key_list", VIEW " ORDER BY k.\"createdAt\", k.id", 0};
static const struct db_stmt admin_key_fetch_stmt = {
    "admin_key_fetch", VIEW " WHERE k.id::text = $1", 1};
/* clang-format on */
/* clang-format off */
static const struct field admin_key_fields[] = {
    {"id",        FIELD_TEXT, .required = true, .example = "\"01a203bf-f3df-7ccb-8af8-2718d30dbf12\""},
    {"label",     FIELD_TEXT, .required = true, .help = "Name of the key in the audit log", .example = "\"deploy-robot\""},
    {"managedBy", FIELD_TEXT, .required = true, .help = "environment: it is a setting; admin: it was made by this API", .example = "\"admin\""},
    {"role",      FIELD_TEXT, .required = true, .words = admin_role_words, .help = "auditor: reads and asks policy; operator: writes too, but no keys; owner: everything", .example = "\"operator\""},
    {"createdAt", FIELD_TEXT, .required = true, .example = "\"2026-01-31T12:00:00Z\""},
    {"createdBy", FIELD_TEXT, .help = "Label of the key that made it; absent for the configured key and for keys of earlier versions"},
    {"expiresAt", FIELD_TEXT, .help = "End of the key; absent: it is valid until it is revoked"},
    {"lastUsedAt", FIELD_TEXT, .help = "Last use, to the minute"},
    {"revokedAt", FIELD_TEXT, .help = "Absent while the key is valid"},
    {"sessions", FIELD_INTEGER, .required = true, .example = "1",
     .help = "Sessions of the console that are signed in with the key, which end with it"},
};
/* clang-format on */
const struct field_table admin_key_view =
    FIELD_TABLE("AdminApiKeyView", admin_key_fields, FIELDS_ANSWER);

const struct json_rows admin_key_rows = {
    .noun = "admin key",
    .list = &admin_key_list_stmt,
    .fetch = &admin_key_fetch_stmt,
};

enum admin_keys_named_column { NAMED_KEY, NAMED_PERSON, NAMED_CONFIGURED };
static const struct db_stmt admin_keys_named_stmt = {
    "admin_keys_named",
    "WITH l AS (SELECT json_array_elements_text($1::json) AS name)"
    " SELECT EXISTS (SELECT 1 FROM admin_key k JOIN l ON l.name = k.id::text"
    "   WHERE k.role <> 'auditor' AND " ADMIN_KEY_IS_VALID ") AS key,"
    "  EXISTS (SELECT 1 FROM l JOIN subject s ON s.subject = substr(l.name, 8)"
    "   WHERE l.name LIKE 'person:%') AS person,"
    "  (SELECT k.id FROM admin_key k WHERE k.managed_by = 'environment'"
    "   AND " ADMIN_KEY_IS_VALID " LIMIT 1) AS configured",
    1};

enum az_status
admin_keys_named_find(struct op *op, const json_t *list, struct admin_keys_named *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    const char *text = jsonx_dump(op->mem, list);
    if (text == NULL)
        return op_no_memory(op);
    db_text(&params, text);
    enum az_status st = db_exec(op, &admin_keys_named_stmt, &params, true, &result);
    if (st != AZ_OK)
        return st;
    *ret = (struct admin_keys_named){.key = db_get_bool(result, 0, NAMED_KEY),
                                     .person = db_get_bool(result, 0, NAMED_PERSON),
                                     .configured = db_get(result, 0, NAMED_CONFIGURED)};
    return AZ_OK;
}

static const struct db_stmt admin_key_sealed_stmt = {
    "admin_key_sealed", "SELECT sealed FROM admin_key WHERE id::text = $1", 1};

enum admin_key_revoke_column { REVOKE_MANAGED_BY, REVOKE_DONE };
static const struct db_stmt admin_key_revoke_stmt = {
    "admin_key_revoke",
    "WITH asked AS (SELECT id, managed_by FROM admin_key WHERE id::text = $1),"
    " u AS (UPDATE admin_key SET revoked_at = now() WHERE id = (SELECT id FROM asked)"
    "  AND managed_by <> 'environment'"
    "  AND (role <> 'owner' OR EXISTS (SELECT 1 FROM admin_key k WHERE k.role = 'owner'"
    "   AND " ADMIN_KEY_IS_VALID " AND k.id <> (SELECT id FROM asked))) RETURNING 1)"
    " SELECT managed_by, (SELECT count(*) FROM u) AS done FROM asked",
    1};

/* Return the place that a plaintext is sealed for. */
static char *
sealed_place(TALLOC_CTX *mem, const char *id)
{
    return talloc_asprintf(mem, "admin_key/sealed/%s", id);
}

/* Bind id, label, managed_by, lookup and sealed plaintext of a key. */
static enum az_status
bind_key(struct op *op, struct db_params *params, unsigned char id[UUID7_OCTETS], const char *label,
         const char *managed_by, const char *plaintext)
{
    unsigned char random[UUID7_RANDOM_OCTETS], *box;
    unsigned char *lookup = talloc_array(op->mem, unsigned char, SHA256_OCTETS);
    char text[UUID7_TEXT_LENGTH + 1];
    size_t box_length;
    enum az_status st = random_octets(random, sizeof(random));
    uuid7_make((uint64_t) op->now_ms, random, id);
    uuid7_format(id, text);
    if (st == AZ_OK && lookup != NULL)
        st = keyring_admin_lookup(op->az->keyring, plaintext, lookup);
    if (st == AZ_OK)
        st = keyring_seal(op->mem, op->az->keyring, KEYRING_ADMIN_KEY, sealed_place(op->mem, text),
                          plaintext, strlen(plaintext), &box, &box_length);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "an admin key cannot be encrypted");
    db_octets(params, id, UUID7_OCTETS);
    db_text(params, label);
    db_text(params, managed_by);
    db_octets(params, lookup, SHA256_OCTETS);
    db_octets(params, box, box_length);
    return AZ_OK;
}

enum az_status
admin_key_register_configured(struct op *op)
{
    unsigned char id[UUID7_OCTETS];
    struct db_params params = {.count = 0};
    enum az_status st =
        bind_key(op, &params, id, "SVC_ADMIN_API_KEY", "environment", op->az->cfg->admin_api_key);
    return st == AZ_OK ? db_exec(op, &admin_key_configure_stmt, &params, false, NULL) : st;
}

const char *
admin_role_word(enum admin_role role)
{
    return role == ADMIN_ROLE_NONE ? NULL : admin_role_words[role - ADMIN_ROLE_AUDITOR];
}

enum admin_role
admin_role_of(const char *word)
{
    for (int i = 0; word != NULL && admin_role_words[i] != NULL; i++)
        if (strcmp(word, admin_role_words[i]) == 0)
            return (enum admin_role)(ADMIN_ROLE_AUDITOR + i);
    return ADMIN_ROLE_NONE;
}

enum az_status
admin_key_find(struct op *op, const char *plaintext, struct admin_key *ret)
{
    unsigned char lookup[SHA256_OCTETS];
    struct db_params params = {.count = 0};
    PGresult *result;
    *ret = (struct admin_key){.id = NULL};
    enum az_status st = keyring_admin_lookup(op->az->keyring, plaintext, lookup);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "HMAC failed");
    db_octets(&params, lookup, sizeof(lookup));
    /* Sent again after a lost connection: the use is noted once a minute at most. */
    st = db_exec(op, &admin_key_find_stmt, &params, true, &result);
    if (st == AZ_OK && PQntuples(result) > 0)
        *ret = (struct admin_key){.id = db_get(result, 0, FIND_ID),
                                  .label = db_get(result, 0, FIND_LABEL),
                                  .role = admin_role_of(db_get(result, 0, FIND_ROLE))};
    return st;
}

enum az_status
admin_key_mint(struct op *op, const struct admin_key_wish *wish, const char **ret_plaintext,
               const char **ret_id)
{
    struct token_text text;
    struct token_parts parts;
    unsigned char id[UUID7_OCTETS];
    char id_text[UUID7_TEXT_LENGTH + 1];
    struct db_params params = {.count = 0};
    if (token_make(TOKEN_ADMIN_KEY, TOKEN_NO_EXPIRY, op->now_ms, &text, &parts) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "an admin key cannot be created");
    enum az_status st = bind_key(op, &params, id, wish->label, "admin", text.text);
    const char *plaintext = secret_copy(op->mem, text.text, strlen(text.text));
    token_text_done(&text);
    if (st != AZ_OK)
        return st;
    uuid7_format(id, id_text);
    *ret_id = talloc_strdup(op->mem, id_text);
    *ret_plaintext = plaintext;
    /* Without these a key would be stored that its owner never sees. */
    if (plaintext == NULL || *ret_id == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no memory for an admin key");
    db_text(&params, wish->role);
    if (wish->expires_ms != 0)
        db_time(&params, wish->expires_ms);
    else
        db_text(&params, NULL);
    db_text(&params, wish->created_by);
    return db_exec(op, &admin_key_insert_stmt, &params, false, NULL);
}

/* One at a time: two who revoke the last two keys would each see the other one as active. */
enum az_status
admin_key_revoke(struct op *op, const char *id)
{
    struct db_batch *batch = db_batch_new(op);
    db_batch_begin(batch);
    lock_add(batch, LOCK_ADMIN_KEY, "", 0);
    struct db_step *revoke = db_batch_add(batch, &admin_key_revoke_stmt);
    db_text(&revoke->params, id);
    db_batch_commit(batch);
    enum az_status st = db_run(op, batch, false);
    if (st != AZ_OK)
        return st;
    const PGresult *result = revoke->result;
    if (PQntuples(result) == 0)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no admin key %s", id);
    if (db_get_number(result, 0, REVOKE_DONE, 0) == 1)
        return AZ_OK;
    bool configured = strcmp(db_get(result, 0, REVOKE_MANAGED_BY), "environment") == 0;
    return op_fail(op, AZ_CONFLICT,
                   configured ? "The configured key can only be changed with SVC_ADMIN_API_KEY"
                              : "The last valid key of an owner cannot be revoked",
                   NULL);
}

enum az_status
admin_key_reveal(struct op *op, const char *id, const char **ret_plaintext)
{
    struct db_params params = {.count = 0};
    const unsigned char *sealed = NULL;
    unsigned char *plain;
    size_t sealed_length, length;
    PGresult *result;
    db_text(&params, id);
    enum az_status st = db_exec(op, &admin_key_sealed_stmt, &params, true, &result);
    if (st == AZ_OK)
        st = db_read_octets(op, result, 0, 0, &sealed, &sealed_length);
    if (st != AZ_OK)
        return st;
    if (sealed == NULL)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no admin key %s", id);
    if (keyring_open(op->mem, op->az->keyring, KEYRING_ADMIN_KEY, sealed_place(op->mem, id), sealed,
                     sealed_length, &plain, &length)
        != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "admin key %s cannot be decrypted with SVC_CREDENTIAL_KEY", id);
    *ret_plaintext = secret_copy(op->mem, (const char *) plain, length);
    secret_wipe(plain, length);
    return *ret_plaintext != NULL
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "no memory for an admin key");
}
