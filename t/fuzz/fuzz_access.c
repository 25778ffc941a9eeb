/* The body of AuthZEN requests: what policy is asked is what the body says, with whole defaults. */
#include "config.h"

#include <string.h>

#include "authzen/access_request.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "env.h"
#include "fuzz/fuzz.h"

static const char *const names[] = {"subject", "action", "resource", "context"};

static bool
is_null(const json_t *value)
{
    return value == NULL || json_is_null(value);
}

static bool
is_word(const json_t *value, size_t most)
{
    size_t length = json_is_string(value)
                        ? utf8_length(json_string_value(value), json_string_length(value))
                        : 0;
    return length > 0 && length <= most;
}

/* Check that a value of a request is the sent one without unknown members. Each member that it
 * needs and lacks is that of the default; properties never are. */
static void
check_entity(size_t which, const json_t *value, const json_t *sent, const json_t *otherwise)
{
    const char *name;
    json_t *member;
    if (which == 3) {
        MUST(json_is_object(value) && json_equal(value, sent));
        return;
    }
    json_object_foreach ((json_t *) (uintptr_t) value, name, member) {
        const json_t *own = json_object_get(sent, name);
        if (is_null(own) && strcmp(name, "properties") != 0)
            own = json_object_get(otherwise, name);
        MUST(json_equal(member, own));
        MUST(strcmp(name, "properties") == 0 ? json_is_object(member)
             : which == 1                    ? strcmp(name, "name") == 0
                          : strcmp(name, "type") == 0 || strcmp(name, "id") == 0);
    }
    MUST(is_null(json_object_get(sent, "properties"))
         == (json_object_get(value, "properties") == NULL));
    if (which == 1) {
        MUST(is_word(json_object_get(value, "name"), ACCESS_WORD_MAX));
    } else {
        MUST(is_word(json_object_get(value, "type"), ACCESS_WORD_MAX));
        MUST(is_word(json_object_get(value, "id"), ACCESS_ID_MAX));
    }
}

/* A request has each member of the evaluation, or else of the defaults. */
static void
check_request(const json_t *request, const json_t *evaluation, const json_t *defaults)
{
    size_t members = 0;
    MUST(json_is_object(request) && json_is_object(evaluation));
    for (size_t i = 0; i < 4; i++) {
        const json_t *value = json_object_get(request, names[i]);
        const json_t *sent = json_object_get(evaluation, names[i]);
        if (is_null(sent))
            sent = json_object_get(defaults, names[i]);
        MUST((value == NULL) == is_null(sent) && (value != NULL || i == 3));
        members += value != NULL;
        if (value != NULL)
            check_entity(i, value, sent, json_object_get(defaults, names[i]));
    }
    MUST(json_object_size(request) == members);
}

static void
check_batch(const json_t *body, const struct access_request *asked)
{
    const json_t *evaluations = json_object_get(body, "evaluations");
    const json_t *semantic =
        json_object_get(json_object_get(body, "options"), "evaluations_semantic");
    size_t next = 0, octets = 0;
    MUST(asked->count == json_array_size(evaluations) && asked->count <= ACCESS_EVALUATIONS_MAX);
    MUST(is_null(semantic)
             ? asked->semantic == ACCESS_EXECUTE_ALL
             : strcmp(json_string_value(semantic), access_semantic_words[asked->semantic]) == 0);
    for (size_t i = 0; i < asked->count; i++)
        if (asked->faults[i] == NULL)
            check_request(json_array_get(asked->requests, next++), json_array_get(evaluations, i),
                          body);
    MUST(next == json_array_size(asked->requests));
    octets = json_dumpb(asked->requests, NULL, 0, JSON_COMPACT);
    MUST(octets <= ACCESS_DEFAULTS_MAX + json_dumpb(body, NULL, 0, JSON_COMPACT) + 64 * next + 2);
}

static bool
read_once(TALLOC_CTX *mem, const json_t *body, bool several, struct access_request *asked)
{
    struct op op = env_op(mem, NULL);
    enum az_status st = access_request_read(&op, body, several, asked);
    MUST(st == op.fault.status);
    MUST(st == AZ_OK || st == AZ_INVALID_REQUEST || st == AZ_TOO_LARGE);
    MUST((st == AZ_OK) == (*op.fault.public_text == '\0'));
    return st == AZ_OK;
}

static void
check_body(TALLOC_CTX *mem, const json_t *body)
{
    struct access_request single, several, wrapped;
    json_t *one = jsonx_own(mem, json_pack("{s:[O]}", "evaluations", body));
    bool good = read_once(mem, body, false, &single);
    if (good) {
        MUST(!single.batch && single.count == 1 && json_array_size(single.requests) == 1);
        check_request(json_array_get(single.requests, 0), body, NULL);
    }
    /* The same request as the only evaluation of a batch. */
    MUST(read_once(mem, one, true, &wrapped) && wrapped.batch);
    MUST((wrapped.faults[0] == NULL) == good);
    MUST(!good || json_equal(wrapped.requests, single.requests));
    if (!read_once(mem, body, true, &several))
        return;
    if (several.batch)
        check_batch(body, &several);
    else
        MUST(good && json_equal(several.requests, single.requests));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *body = NULL;
    if (jsonx_parse(mem, (const char *) data, size, ACCESS_DEPTH_MAX, &body, NULL) == AZ_OK)
        check_body(mem, body);
    talloc_free(mem);
    return 0;
}
