/* Rules of single values that several tables of fields share (base/fields.h): what is wrong with
 * one, as a text that fits after its name, or NULL. The value is a string. */
#ifndef AZ_BASE_FIELD_RULES_H
#define AZ_BASE_FIELD_RULES_H

#include <jansson.h>
#include <talloc.h>

/* Names, contacts and versions stand on pages and in logs. */
const char *field_rule_visible(TALLOC_CTX *mem, const json_t *value);

/* Where codes may be sent (oauth.md 3.2). */
const char *field_rule_redirect_uri(TALLOC_CTX *mem, const json_t *value);

/* Pages link to it: javascript: and data: would run there. */
const char *field_rule_web_uri(TALLOC_CTX *mem, const json_t *value);

/* Any scheme: https is asked of it with private_key_jwt alone (specification 4.7, oauth.md S12),
 * and of the fetch, whatever is registered (specification 5, rule 6). */
const char *field_rule_keys_uri(TALLOC_CTX *mem, const json_t *value);

#endif
