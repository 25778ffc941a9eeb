#include "config.h"

#include "policy/decide/decision.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "policy/decide/details.h"
#include "policy/decide/registry.h"

/* Names that a policy may not put into `claims`: the server sets them (draft AuthZEN issuance
 * profile). */
static const char *const reserved_claims[] = {"iss",       "iat",   "jti", "sub",
                                              "aud",       "exp",   "nbf", "scope",
                                              "client_id", "cnf",   "act", "authorization_details",
                                              "may_act",   "active"};

static enum az_status
refuse_member(struct op *op, const char *member, const char *what)
{
    return op_fail(op, AZ_UNAVAILABLE, NULL, "policy answer refused: %s %s", member, what);
}

/* Return a member, or NULL if it is absent or null; *ret_ok becomes false if it has another type.
 */
static json_t *
typed_member(const json_t *result, const char *name, json_type type, bool *ret_ok)
{
    json_t *value = json_object_get(result, name);
    if (value == NULL || json_is_null(value))
        return NULL;
    if (json_typeof(value) != type)
        *ret_ok = false;
    return value;
}

/* Drop repeated items: a rule that joins lists may name a scope twice, but a scope is a set (RFC
 * 6749 3.3). */
static void
drop_repeats(json_t *array)
{
    for (size_t i = json_array_size(array); i-- > 1;)
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(array, i), json_array_get(array, j))) {
                json_array_remove(array, i);
                break;
            }
}

/* Read the members whose value must be an array or an object. */
static enum az_status
read_containers(struct op *op, const json_t *result, struct decision *decision)
{
    const struct {
        const char *name;
        json_type type;
        bool strings;
        json_t **at;
    } members[] = {
        {"scopes",                JSON_ARRAY,  true,  &decision->scopes        },
        {"resource_types",        JSON_ARRAY,  true,  &decision->resource_types},
        {"authorization_details", JSON_ARRAY,  false, &decision->details       },
        {"obligations",           JSON_OBJECT, false, &decision->obligations   },
        {"deny_reasons",          JSON_ARRAY,  false, &decision->reasons       },
        {"matched_segments",      JSON_ARRAY,  true,  &decision->segments      },
        {"extensions",            JSON_OBJECT, false, &decision->extensions    },
        {"opaque",                JSON_ARRAY,  true,  &decision->opaque        },
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        bool ok = true;
        *members[i].at = typed_member(result, members[i].name, members[i].type, &ok);
        if (!ok
            || (members[i].strings && *members[i].at != NULL && !jsonx_is_texts(*members[i].at)))
            return refuse_member(op, members[i].name, "has a wrong type");
    }
    drop_repeats(decision->scopes);
    return AZ_OK;
}

/* Read a boolean; absent and null count as false. */
static enum az_status
read_flag(struct op *op, const json_t *result, const char *name, bool *ret)
{
    const json_t *flag = json_object_get(result, name);
    if (flag != NULL && !json_is_null(flag) && !json_is_boolean(flag))
        return refuse_member(op, name, "is not a boolean");
    *ret = json_is_true(flag);
    return AZ_OK;
}

/* Read the scalars: allow, resource, lifetime, single use, refresh. */
static enum az_status
read_decision_scalars(struct op *op, const json_t *result, struct decision *decision)
{
    const json_t *allow = json_object_get(result, "allow");
    bool ok = true;
    if (!json_is_boolean(allow))
        return refuse_member(op, "allow", "is not a boolean");
    decision->allow = json_is_true(allow);
    decision->resource = json_string_value(typed_member(result, "resource", JSON_STRING, &ok));
    if (!ok)
        return refuse_member(op, "resource", "is not a string");
    enum az_status st = read_flag(op, result, "jit_single_use", &decision->jit);
    if (st == AZ_OK)
        st = read_flag(op, result, "refresh", &decision->refresh);
    if (st != AZ_OK)
        return st;
    const json_t *ttl = typed_member(result, "expires_in_override", JSON_INTEGER, &ok);
    if (!ok)
        return refuse_member(op, "expires_in_override", "is not an integer");
    decision->has_ttl = ttl != NULL;
    decision->ttl =
        json_integer_value(ttl) > DECISION_TTL_MAX ? DECISION_TTL_MAX : json_integer_value(ttl);
    return AZ_OK;
}

/* Read the form of a JWT access token (world.md T1). The schema of its row has the same bounds. */
static enum az_status
read_jwt_form(struct op *op, const json_t *result, struct decision *decision)
{
    static const char *const algs[] = {"ES256", "RS256"};
    bool ok = true;
    const json_t *form = typed_member(result, "jwt", JSON_OBJECT, &ok);
    const json_t *ttl = json_object_get(form, "ttl");
    const char *alg = json_string_value(json_object_get(form, "alg"));
    if (ok && form == NULL)
        return AZ_OK;
    for (size_t i = 0; alg != NULL && i < sizeof(algs) / sizeof(algs[0]); i++)
        if (strcmp(alg, algs[i]) == 0)
            decision->jwt_alg = algs[i];
    decision->jwt_ttl = json_integer_value(ttl);
    decision->jwt_claims = json_object_get(form, "claims");
    ok = ok && decision->jwt_alg != NULL && json_is_integer(ttl)
         && decision->jwt_ttl >= DECISION_JWT_TTL_MIN && decision->jwt_ttl <= DECISION_JWT_TTL_MAX
         && jsonx_is_texts(decision->jwt_claims) && decision->resource != NULL;
    return ok ? AZ_OK : refuse_member(op, "jwt", "is not the form of a token");
}

/* Check the resource types. Types beyond the requested ones are accepted only if the registry ties
 * them to the requested resource. */
static enum az_status
check_types(struct op *op, const struct decision *decision, const struct decision_bounds *bounds)
{
    size_t index;
    json_t *type;
    json_array_foreach (decision->resource_types, index, type) {
        if (bounds->open_types || jsonx_array_has(bounds->resource_types, type))
            continue;
        bool tied = false;
        if (bounds->types_by_resource && bounds->resource != NULL && bounds->registry != NULL) {
            tied = registry_row_ties(bounds->registry, json_string_value(type), bounds->resource);
        } else if (bounds->types_by_resource && bounds->resource != NULL) {
            enum az_status st = registry_ties(op, decision->revision, json_string_value(type),
                                              bounds->resource, &tied);
            if (st != AZ_OK)
                return st;
        }
        if (!tied)
            return refuse_member(op, "resource_types", "widens the request");
    }
    return AZ_OK;
}

static enum az_status
check_bounds(struct op *op, const struct decision *decision, const struct decision_bounds *bounds)
{
    if (!bounds->open_scopes && !jsonx_array_within(decision->scopes, bounds->scopes))
        return refuse_member(op, "scopes", "widens the request");
    if (bounds->ceiling != NULL && !jsonx_array_within(decision->scopes, bounds->ceiling))
        return refuse_member(op, "scopes", "widens the ceiling");
    if (decision->resource != NULL
        && (bounds->resource == NULL || strcmp(decision->resource, bounds->resource) != 0))
        return refuse_member(op, "resource", "is not the requested one");
    if (bounds->resource != NULL && decision->resource == NULL)
        return refuse_member(op, "resource",
                             "is missing, which would give a token for every resource");
    if (json_array_size(bounds->resource_types) > 0
        && json_array_size(decision->resource_types) == 0)
        return refuse_member(op, "resource_types",
                             "is missing, which would give a token for every type");
    if (!details_within(decision->details, bounds->details, NULL))
        return refuse_member(op, "authorization_details", "widens the request");
    return check_types(op, decision, bounds);
}

static enum az_status
drop_reserved_claims(struct op *op, json_t *output)
{
    bool ok = true;
    json_t *claims = typed_member(output, "claims", JSON_OBJECT, &ok);
    if (!ok)
        return refuse_member(op, "claims", "is not an object");
    for (size_t i = 0; claims != NULL && i < sizeof(reserved_claims) / sizeof(reserved_claims[0]);
         i++)
        json_object_del(claims, reserved_claims[i]);
    return AZ_OK;
}

enum az_status
decision_read(struct op *op, json_t *result, const struct decision_bounds *bounds,
              struct decision *ret)
{
    struct decision decision = {.output = result, .revision = ret->revision};
    if (!json_is_object(result))
        return refuse_member(op, "result", result == NULL ? "is undefined" : "is not an object");
    enum az_status st = read_decision_scalars(op, result, &decision);
    if (st == AZ_OK)
        st = read_containers(op, result, &decision);
    if (st == AZ_OK)
        st = read_jwt_form(op, result, &decision);
    if (st == AZ_OK && decision.scopes == NULL)
        decision.scopes = jsonx_own(op->mem, json_array());
    if (st == AZ_OK && decision.allow)
        st = check_bounds(op, &decision, bounds);
    if (st == AZ_OK)
        st = drop_reserved_claims(op, result);
    if (st == AZ_OK)
        st = decision_sort_reasons(op, &decision);
    if (st != AZ_OK)
        return st;
    *ret = decision;
    return AZ_OK;
}
