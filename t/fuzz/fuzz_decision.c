/* Answers of the policy engine. An input is the bounds, a line break and the answer; without line
 * break the bounds are those below. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "fuzz/fuzz.h"
#include "policy/decide/decision.h"

#define DEPTH 32

static const char usual[] =
    "{\"scopes\":[\"a\",\"b\"],\"resource\":\"https://r.example\",\"types\":[\"urn:t:1\"],"
    "\"details\":[{\"type\":\"pay\",\"amount\":50,\"actions\":[\"read\",\"write\"]}]}";

static json_t *
parse(TALLOC_CTX *mem, const char *text, size_t length)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, length, DEPTH, &value, NULL) == AZ_OK ? value : NULL;
}

static json_t *
array_or_null(const json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_array(value) ? value : NULL;
}

static bool
holds(json_t *array, const json_t *wanted)
{
    size_t index;
    json_t *item;
    json_array_foreach (array, index, item)
        if (json_equal(item, (json_t *) (uintptr_t) wanted))
            return true;
    return false;
}

static void
check_within(json_t *inner, json_t *outer)
{
    size_t index;
    json_t *item;
    json_array_foreach (inner, index, item)
        MUST(json_is_string(item) && holds(outer, item));
}

/* An entry has the members of one that was asked, and no other value for a plain one. */
static void
check_details(json_t *details, json_t *asked)
{
    size_t index, at;
    json_t *entry, *wider;
    MUST(json_array_size(details) <= json_array_size(asked));
    json_array_foreach (details, index, entry) {
        bool covered = false;
        json_array_foreach (asked, at, wider)
            covered =
                covered
                || (json_is_object(entry) && json_object_size(entry) == json_object_size(wider)
                    && json_equal(json_object_get(entry, "type"), json_object_get(wider, "type")));
        MUST(covered);
    }
}

static void
check_allow(const struct decision *decision, const struct decision_bounds *bounds)
{
    check_within(decision->scopes, bounds->scopes);
    if (bounds->ceiling != NULL)
        check_within(decision->scopes, bounds->ceiling);
    check_within(decision->resource_types, bounds->resource_types);
    MUST((decision->resource == NULL) == (bounds->resource == NULL));
    MUST(decision->resource == NULL || strcmp(decision->resource, bounds->resource) == 0);
    MUST(json_array_size(decision->resource_types) > 0
         || json_array_size(bounds->resource_types) == 0);
    check_details(decision->details, bounds->details);
}

static void
check_decision(const struct decision *decision)
{
    const json_t *claims = json_object_get(decision->output, "claims");
    const char *text;
    MUST(json_is_array(decision->scopes) && json_is_array(decision->reasons));
    MUST(json_is_boolean(json_object_get(decision->output, "allow")));
    MUST(!decision->has_ttl || decision->ttl <= DECISION_TTL_MAX);
    MUST(json_object_get(claims, "sub") == NULL && json_object_get(claims, "active") == NULL);
    enum az_status st = decision_deny_status(decision->output, decision, decision->scopes,
                                             decision->details, &text);
    MUST(st != AZ_OK && st != AZ_UNAVAILABLE && st != AZ_SERVER_ERROR);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *) data, *line = memchr(data, '\n', size);
    const char *rest = line != NULL ? line + 1 : text;
    TALLOC_CTX *mem = talloc_new(NULL);
    struct op op = {.mem = mem}, again = {.mem = mem};
    struct decision decision = {.revision = "r1"}, second = {.revision = "r1"};
    json_t *asked =
        line != NULL ? parse(mem, text, (size_t) (line - text)) : parse(mem, usual, strlen(usual));
    const struct decision_bounds bounds = {
        .scopes = array_or_null(asked, "scopes"),
        .ceiling = array_or_null(asked, "ceiling"),
        .resource = json_string_value(json_object_get(asked, "resource")),
        .resource_types = array_or_null(asked, "types"),
        .details = array_or_null(asked, "details"),
    };
    json_t *answer = parse(mem, rest, size - (size_t) (rest - text));

    enum az_status st = decision_read(&op, answer, &bounds, &decision);
    MUST(st == op.fault.status && (st == AZ_OK || st == AZ_UNAVAILABLE));
    if (st == AZ_OK) {
        check_decision(&decision);
        if (decision.allow)
            check_allow(&decision, &bounds);
        /* The stored answer is read again at introspection. */
        MUST(decision_read(&again, decision.output, &bounds, &second) == AZ_OK);
        MUST(second.allow == decision.allow && json_equal(second.scopes, decision.scopes));
    } else {
        MUST(decision.output == NULL && !decision.allow);
    }
    talloc_free(mem);
    return 0;
}
