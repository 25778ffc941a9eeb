/* Rules of single values that several tables of fields share (field_rule_fn in base/json/fields.h).
 * The value is a string. */
#ifndef AZ_BASE_JSON_FIELD_RULES_H
#define AZ_BASE_JSON_FIELD_RULES_H

#include <jansson.h>
#include <talloc.h>

/* Longest values of fields, in code points (specification 8). */
#define FIELD_NAME_MAX 256    /* ids and names that are shown on pages */
#define FIELD_URI_MAX 512     /* URIs that are linked to or fetched from; redirect URIs: URI_MAX */
#define FIELD_SUBJECT_MAX 512 /* ids of people, which identity providers choose */
#define FIELD_SECRET_MAX 512  /* secrets: eight times the longest that the service makes */
#define FIELD_WORD_MAX 64     /* words of a protocol, versions and digests */

/* Return the text of a fault, made by printf on mem; without memory a constant one, because NULL
 * would mean that there is no fault. */
const char *field_fault_text(TALLOC_CTX *mem, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Refuse a name, contact or version that cannot be shown on pages and in logs. */
const char *field_rule_visible(TALLOC_CTX *mem, const json_t *value);

/* Refuse a URI that no code may be sent to (oauth.md 3.2). */
const char *field_rule_redirect_uri(TALLOC_CTX *mem, const json_t *value);

/* Refuse a URI that a page must not link to: javascript: and data: would run there. */
const char *field_rule_web_uri(TALLOC_CTX *mem, const json_t *value);

/* Refuse a URI that keys cannot be fetched from. Any scheme is accepted here: https is required
 * with private_key_jwt alone (specification 4.7, oauth.md S12), and by the fetch, whatever is
 * registered (specification 5, rule 6). */
const char *field_rule_keys_uri(TALLOC_CTX *mem, const json_t *value);

/* Refuse a text that is no scope, or one with more than SCOPE_WORDS_MAX words (RFC 6749 3.3). */
const char *field_rule_scope(TALLOC_CTX *mem, const json_t *value);

#endif
