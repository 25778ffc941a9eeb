/* Admin keys, found by an HMAC under the pepper; their plaintext is stored sealed (specification
 * 5.1, 5.5). */
#ifndef AZ_STORE_PEOPLE_ADMIN_KEYS_H
#define AZ_STORE_PEOPLE_ADMIN_KEYS_H

#include <jansson.h>

#include "base/json/fields.h"
#include "base/op.h"
#include "store/db/rows/json_rows.h"

/* Longest label, in characters. It is shown in lists and in audit rows. */
#define ADMIN_KEY_LABEL_MAX 128

/* Roles, which say what a key may do (gateway-admin.md 3.9), in the order of their rights. */
enum admin_role {
    ADMIN_ROLE_NONE,     /* nothing */
    ADMIN_ROLE_AUDITOR,  /* read, and ask policy */
    ADMIN_ROLE_OPERATOR, /* write, but no keys */
    ADMIN_ROLE_OWNER,    /* everything */
};

/* The words of the roles, from auditor on, ending with NULL. */
extern const char *const admin_role_words[];

/* Return the word of a role; NULL for ADMIN_ROLE_NONE. */
const char *admin_role_word(enum admin_role role);

/* Return the role of a word; ADMIN_ROLE_NONE for NULL and for any other word. */
enum admin_role admin_role_of(const char *word);

/* A user of the admin API: a key that is neither revoked nor past its end, or a person who signed
 * in at an identity provider (admin_sessions.h). On op->mem. */
struct admin_key {
    const char *id;      /* of the key's row; NULL: there is no such key */
    const char *subject; /* the person; NULL: a key */
    const char *label;   /* of the key, or the subject again */
    enum admin_role role;
    const char *idp_id; /* where the person signed in; NULL: a key */
    json_t *claims;     /* object: claims of that sign-in, or NULL */
};

/* Make the row of SVC_ADMIN_API_KEY (managedBy environment), and revoke the key that was configured
 * before. */
enum az_status admin_key_register_configured(struct op *op);

/* Find the valid key with this plaintext, and note that it is used, once a minute. One trip. */
enum az_status admin_key_find(struct op *op, const char *plaintext, struct admin_key *ret);

/* A key to be made. */
struct admin_key_wish {
    const char *label;
    const char *role;       /* a word of admin_role_words */
    int64_t expires_ms;     /* end in milliseconds since 1970, or 0 */
    const char *created_by; /* label of the key that makes it, or authzctl */
};

/* Make a key: *ret_plaintext is shown once and is wiped with op->mem; *ret_id is the id of its row,
 * on op->mem. */
enum az_status admin_key_mint(struct op *op, const struct admin_key_wish *wish,
                              const char **ret_plaintext, const char **ret_id);

/* Revoke a key by id. AZ_NOT_FOUND; AZ_CONFLICT for the configured key, and for an owner's if no
 * other key of an owner is valid. */
enum az_status admin_key_revoke(struct op *op, const char *id);

/* Open the plaintext of a key, revoked or not; it is wiped with op->mem. AZ_NOT_FOUND. */
enum az_status admin_key_reveal(struct op *op, const char *id, const char **ret_plaintext);

/* The keys and people in a list of those who may do something who are still there. */
struct admin_keys_named {
    bool key;    /* an admin key that is valid and may save */
    bool person; /* a person who has signed in, as person:SUBJECT */
    const char
        *configured; /* id of SVC_ADMIN_API_KEY, named or not; NULL: the setting is not set */
};

/* Look at a JSON array of ids of keys and of people. One trip. */
enum az_status admin_keys_named_find(struct op *op, const json_t *list,
                                     struct admin_keys_named *ret);

/* AdminApiKeyView (specification 2.8) of all keys, active and revoked, and its members. */
extern const struct json_rows admin_key_rows;
extern const struct field_table admin_key_view;

#endif
