#include "config.h"

#include "oauth/registration/statement_kind.h"

#include <string.h>
#include <strings.h>

#include "token/software_statement.h"

const char *const statement_types[] = {SOFTWARE_STATEMENT_TYP, "JWT", NULL};
static const char *const telling_types[] = {SOFTWARE_STATEMENT_TYP, NULL};

/* Claims of tokens about users and requests, which a statement about software does not have. */
static const char *const others_claims[] = {"nonce", "at_hash", "c_hash", "auth_time", "azp", "sid",
                                            "act",   "cnf",     "events", "htm",       NULL};

bool
statement_type_is(const char *typ, const char *const *wanted)
{
    if (strncasecmp(typ, "application/", 12) == 0)
        typ += 12;
    for (; *wanted != NULL; wanted++)
        if (strcasecmp(typ, *wanted) == 0)
            return true;
    return false;
}

/* Return the first claim of another kind of token, or NULL. */
static const char *
find_others_claim(const json_t *claims)
{
    for (size_t i = 0; others_claims[i] != NULL; i++)
        if (json_object_get(claims, others_claims[i]) != NULL)
            return others_claims[i];
    return NULL;
}

static bool
names_audience(const struct jwt_claims *claims, const char *wanted)
{
    for (size_t i = 0; i < claims->aud_count; i++)
        if (strcmp(claims->aud[i], wanted) == 0)
            return true;
    return false;
}

static bool
names_one_of(const struct jwt_claims *claims, const json_t *audiences)
{
    size_t index;
    const json_t *wanted;
    json_array_foreach (audiences, index, wanted)
        if (names_audience(claims, json_string_value(wanted)))
            return true;
    return false;
}

/* Return why sub or aud show that the token is for another party. The subject of a statement is the
 * software; that of an ID token is a user, that of an access token a user or a service. */
static const char *
others_fault(const struct statement_kind *kind, const char *software_id, const char **ret_detail)
{
    const struct jwt_claims *claims = kind->claims;
    if (kind->audiences != NULL) {
        *ret_detail = "aud names none of the audiences in the entry of its issuer";
        return names_one_of(claims, kind->audiences)
                   ? NULL
                   : "The software statement has another audience";
    }
    *ret_detail = "sub is not its software_id, and the entry of its issuer lists no audiences";
    if (claims->sub != NULL && (software_id == NULL || strcmp(claims->sub, software_id) != 0))
        return "The software statement has another subject";
    *ret_detail = "aud does not name this service, and the entry of its issuer lists no audiences";
    return json_object_get(claims->object, "aud") == NULL || names_audience(claims, kind->us)
               ? NULL
               : "The software statement has another audience";
}

const char *
statement_kind_fault(TALLOC_CTX *mem, const struct statement_kind *kind, const char **ret_detail)
{
    const json_t *claims = kind->claims->object;
    const char *other = find_others_claim(claims);
    const char *software_id = json_string_value(json_object_get(claims, "software_id"));
    bool typed = kind->typ != NULL && statement_type_is(kind->typ, telling_types);
    *ret_detail = NULL;
    if (kind->typ != NULL && !statement_type_is(kind->typ, statement_types)) {
        *ret_detail = "the typ in its header";
        return "The typ of the software statement is not accepted";
    }
    if (other != NULL) {
        *ret_detail = talloc_asprintf(mem, "it has the claim %s", other);
        return "The software statement is a token of another kind";
    }
    if (!typed && (software_id == NULL || *software_id == '\0')) {
        *ret_detail = "neither software_id nor typ " SOFTWARE_STATEMENT_TYP
                      ": an ID token or access token has neither";
        return "The software statement has neither software_id nor "
               "the typ " SOFTWARE_STATEMENT_TYP;
    }
    return others_fault(kind, software_id, ret_detail);
}
