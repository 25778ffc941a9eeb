#include "config.h"

#include "token/person_claims.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/status.h"
#include "base/words.h"
#include "store/people/stored_claims.h"

/* Claims about the token or the sign-in. `sub` is the provider's name for the user; ours is
 * another. */
static const char *const protocol_claims[] = {
    "iss",
    "aud",
    "exp",
    "iat",
    "nbf",
    "nonce",
    "at_hash",
    "c_hash",
    "s_hash",
    "azp",
    "sid",
    "jti",
    "auth_time",
    "acr",
    "amr",
    "sub",
    "act",
    "may_act",
    /* The places of claims that the provider did not send, with tokens for them. They are never
     * asked: a token would name the host. */
    "_claim_names",
    "_claim_sources",
    CLAIMS_INCOMPLETE,
    NULL,
};

/* An address, and the claim that proves it (OpenID Connect Core 5.1, 5.7). */
static const struct {
    const char *address, *proof;
} pairs[] = {
    {"email",        "email_verified"       },
    {"phone_number", "phone_number_verified"},
};

/* Claims that are kept first if there are too many, after the pairs. */
static const char *const first_claims[] = {"name", "preferred_username", "groups"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SOURCES 2

/* The claims while they are collected. */
struct keeping {
    json_t *kept;
    size_t octets; /* of the kept claims */
    const struct person_answers *answers;
    json_t *incomplete; /* names as members of an object, which are null */
};

/* True if an answer has a claim itself. What it says to be elsewhere is not all of the claim. */
static bool
has_plainly(const json_t *answer, const char *name)
{
    const json_t *value = json_object_get(answer, name);
    return value != NULL && !json_is_null(value)
           && json_object_get(json_object_get(answer, "_claim_names"), name) == NULL;
}

/* Note that a claim is incomplete, or with CLAIMS_ANY each claim that no answer has plainly. */
static enum az_status
lack_claim(struct keeping *it, const char *name)
{
    const char *const *only = it->answers->only;
    enum az_status st = AZ_OK;
    if (only != NULL && strcmp(name, CLAIMS_ANY) == 0) {
        for (; *only != NULL && st == AZ_OK; only++)
            if (strcmp(*only, CLAIMS_ANY) != 0 && !has_plainly(it->answers->id_token, *only)
                && !has_plainly(it->answers->userinfo, *only))
                st = lack_claim(it, *only);
        return st;
    }
    if (only != NULL && !words_has(only, name))
        return AZ_OK;
    bool any = strlen(name) > PERSON_INCOMPLETE_NAME_MAX
               || (json_object_size(it->incomplete) >= PERSON_INCOMPLETE_MAX
                   && json_object_get(it->incomplete, name) == NULL);
    return json_object_set_new(it->incomplete, any ? CLAIMS_ANY : name, json_null()) == 0
               ? AZ_OK
               : AZ_SERVER_ERROR;
}

/* Return the octets of `"name":value,`. The member is dumped, because an estimate would be too
 * small for a name that has to be escaped. */
static size_t
claim_octets(const char *name, json_t *value)
{
    json_auto_t *member = json_pack("{s:O}", name, value);
    return member != NULL ? json_dumpb(member, NULL, 0, JSON_COMPACT) : 0;
}

/* Add a claim while there is room. */
static enum az_status
add_claim(struct keeping *it, const char *name, json_t *value)
{
    size_t more = claim_octets(name, value);
    if (it->answers->only != NULL && !words_has(it->answers->only, name))
        return AZ_OK;
    if (more == 0)
        return AZ_SERVER_ERROR;
    if (it->octets + more > PERSON_CLAIMS_MAX)
        return lack_claim(it, name);
    it->octets += more;
    return json_object_set(it->kept, name, value) == 0 ? AZ_OK : AZ_SERVER_ERROR;
}

/* Add a claim of an answer, with its type. Pairs are kept apart. */
static enum az_status
keep_claim(struct keeping *it, const char *name, json_t *value)
{
    if (value == NULL || json_is_null(value) || json_object_get(it->kept, name) != NULL
        || words_has(protocol_claims, name))
        return AZ_OK;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (strcmp(name, pairs[i].address) == 0 || strcmp(name, pairs[i].proof) == 0)
            return AZ_OK;
    const char *const *lists = it->answers->lists;
    if (!json_is_string(value) || lists == NULL || !words_has(lists, name))
        return add_claim(it, name, value);
    json_auto_t *list = json_pack("[O]", value);
    return list != NULL ? add_claim(it, name, list) : AZ_SERVER_ERROR;
}

/* Keep an address, and its proof if one answer has both. */
static enum az_status
keep_pair(struct keeping *it, json_t *const *sources, size_t pair, const char **ret_other)
{
    const char *name = pairs[pair].address;
    const char *said[SOURCES] = {NULL, NULL};
    json_t *address = NULL, *proof = NULL;
    for (size_t s = SOURCES; s-- > 0;) { /* backwards, so that the ID token stands */
        json_t *own = json_object_get(sources[s], name);
        json_t *proves = json_object_get(sources[s], pairs[pair].proof);
        said[s] = json_string_value(own);
        if (said[s] != NULL && (proves != NULL || proof == NULL)) {
            address = own;
            proof = proves;
        }
    }
    if (ret_other != NULL && said[0] != NULL && said[1] != NULL && strcmp(said[0], said[1]) != 0)
        *ret_other = name;
    enum az_status st = address != NULL ? add_claim(it, name, address) : AZ_OK;
    if (st == AZ_OK && proof != NULL && json_object_get(it->kept, name) != NULL)
        st = add_claim(it, pairs[pair].proof, proof);
    return st;
}

/* Note the claims that one answer has elsewhere (OpenID Connect Core 5.6.2; hasgroups of Entra) and
 * the other answer has not plainly. */
static enum az_status
lack_elsewhere(struct keeping *it, const json_t *answer, const json_t *other)
{
    const char *name;
    json_t *source, *names = json_object_get(answer, "_claim_names"),
                    *groups = json_object_get(answer, "hasgroups");
    enum az_status st = AZ_OK;
    json_object_foreach (names, name, source)
        if (st == AZ_OK && !has_plainly(other, name))
            st = lack_claim(it, name);
    if (st == AZ_OK && names != NULL && !json_is_null(names) && !json_is_object(names))
        st = lack_claim(it, CLAIMS_ANY); /* it does not say which */
    if (st == AZ_OK && groups != NULL && !json_is_null(groups) && !json_is_false(groups)
        && !has_plainly(other, "groups"))
        st = lack_claim(it, "groups");
    return st;
}

/* Note the claims that the person had at the last sign-in, which could ask for more than an ID
 * token that is exchanged, and that this one lacks. */
static enum az_status
lack_before(struct keeping *it, const json_t *before, const json_t *id_token)
{
    const char *name;
    json_t *value, *listed = json_object_get(before, CLAIMS_INCOMPLETE);
    size_t i;
    enum az_status st = AZ_OK;
    json_object_foreach ((json_t *) (uintptr_t) before, name, value)
        if (st == AZ_OK && value != listed && !has_plainly(id_token, name))
            st = lack_claim(it, name);
    json_array_foreach (listed, i, value)
        if (st == AZ_OK && json_is_string(value)
            && !has_plainly(id_token, json_string_value(value)))
            st = lack_claim(it, json_string_value(value));
    return st;
}

/* Put the sorted names of incomplete claims beside the claims. */
static enum az_status
keep_incomplete(struct keeping *it)
{
    json_auto_t *list = json_array();
    const char *name;
    json_t *mark;
    void *next;
    if (json_object_size(it->incomplete) == 0)
        return AZ_OK;
    /* jansson keeps the order of insertion, so each name goes to its place. */
    json_object_foreach_safe (it->incomplete, next, name, mark) {
        size_t at = 0;
        while (at < json_array_size(list)
               && strcmp(json_string_value(json_array_get(list, at)), name) < 0)
            at++;
        if (json_array_insert_new(list, at, json_string(name)) != 0)
            return AZ_SERVER_ERROR;
    }
    return list != NULL && json_object_set(it->kept, CLAIMS_INCOMPLETE, list) == 0
               ? AZ_OK
               : AZ_SERVER_ERROR;
}

static enum az_status
keep_all(struct keeping *it, json_t *const *sources, const char **ret_other)
{
    const char *name;
    json_t *value;
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < COUNT(pairs) && st == AZ_OK; i++)
        st = keep_pair(it, sources, i, ret_other);
    for (size_t s = 0; s < SOURCES; s++)
        for (size_t i = 0; i < COUNT(first_claims) && st == AZ_OK; i++)
            st = keep_claim(it, first_claims[i], json_object_get(sources[s], first_claims[i]));
    for (size_t s = 0; s < SOURCES && st == AZ_OK; s++)
        json_object_foreach (sources[s], name, value)
            if (st == AZ_OK)
                st = keep_claim(it, name, value);
    return st;
}

json_t *
person_claims_keep(TALLOC_CTX *mem, const struct person_answers *answers, const char **ret_other)
{
    json_t *sources[SOURCES] = {jsonx_own(mem, jsonx_copy(answers->id_token)), NULL};
    struct keeping it = {.kept = jsonx_own(mem, json_object()),
                         .answers = answers,
                         .incomplete = jsonx_own(mem, json_object())};
    if (answers->userinfo != NULL)
        sources[1] = jsonx_own(mem, jsonx_copy(answers->userinfo));
    if (ret_other != NULL)
        *ret_other = NULL;
    if (it.kept == NULL || it.incomplete == NULL || sources[0] == NULL
        || (answers->userinfo != NULL && sources[1] == NULL))
        return NULL;
    for (size_t s = 0; s < SOURCES; s++)
        if (stored_claims_type(sources[s]) != AZ_OK)
            return NULL;
    if (keep_all(&it, sources, ret_other) != AZ_OK
        || lack_elsewhere(&it, sources[0], sources[1]) != AZ_OK
        || lack_elsewhere(&it, sources[1], sources[0]) != AZ_OK
        || lack_before(&it, answers->before, sources[0]) != AZ_OK
        || (answers->lost && lack_claim(&it, CLAIMS_ANY) != AZ_OK))
        return NULL;
    return keep_incomplete(&it) == AZ_OK ? it.kept : NULL;
}
