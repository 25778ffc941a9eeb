#include "config.h"

#include "policy/decide/trust.h"

#include <string.h>

#include "policy/decide/published.h"

static bool
json_text_is(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* Read an optional member; false if it is present and not an array of strings. */
static bool
read_words(const json_t *entry, const char *name, const json_t **ret)
{
    const json_t *words = json_object_get(entry, name), *word;
    size_t index;
    if (words == NULL)
        return true;
    if (!json_is_array(words))
        return false;
    json_array_foreach (words, index, word)
        if (!json_is_string(word))
            return false;
    *ret = words;
    return true;
}

static bool
read_entry(const json_t *entry, struct trust_issuer *ret)
{
    const json_t *jwks_uri = json_object_get(entry, "jwks_uri");
    struct trust_issuer issuer = {.issuer = json_string_value(json_object_get(entry, "issuer"))};
    if (jwks_uri != NULL && (issuer.jwks_uri = json_string_value(jwks_uri)) == NULL)
        return false;
    if (!read_words(entry, "audiences", &issuer.audiences))
        return false;
    *ret = issuer;
    return true;
}

static bool
find_entry(const json_t *list, const char *issuer, struct trust_issuer *ret)
{
    size_t index;
    const json_t *entry;
    json_array_foreach (list, index, entry) {
        if (json_text_is(entry, issuer)) {
            *ret = (struct trust_issuer){.issuer = json_string_value(entry)};
            return true;
        }
        if (json_text_is(json_object_get(entry, "issuer"), issuer))
            return read_entry(entry, ret);
    }
    return false;
}

/* Return the address of an entry; NULL: it is malformed. */
static const char *
entry_issuer(const json_t *entry)
{
    return json_string_value(json_is_string(entry) ? entry : json_object_get(entry, "issuer"));
}

static const char *const list_names[] = {
    [TRUST_STATEMENTS] = "statement_issuers",
    [TRUST_ID_TOKENS] = "trusted_issuers",
};

enum az_status
trust_find(struct op *op, enum trust_list list, const char *issuer, struct trust_issuer *ret,
           bool *ret_found)
{
    json_t *row;
    enum az_status st = published_row(op, TRUST_ROW, &row);
    if (st != AZ_OK)
        return st;
    const json_t *entries = json_object_get(row, list_names[list]);
    *ret_found = find_entry(entries, issuer, ret);
    if (*ret_found)
        ret->first = entry_issuer(json_array_get(entries, 0));
    return AZ_OK;
}

enum az_status
trust_spiffe(struct op *op, const char *revision, struct trust_spiffe *ret)
{
    const struct published *trust;
    enum az_status st = published_keep(op, TRUST_ROW, revision, &op->az->trust, &trust);
    if (st != AZ_OK)
        return st;
    ret->bundle_url = json_string_value(json_object_get(trust->row, "spiffe_trust_bundle_url"));
    ret->domains = json_object_get(trust->row, "spiffe_trust_domains");
    return AZ_OK;
}
