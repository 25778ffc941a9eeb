#include "config.h"

#include "policy/impact/examples.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/random.h"

/* The examples of one class. */
struct kept {
    json_t *list;    /* array */
    json_t *clients; /* object: clients with an example, and how many */
    uint64_t seen;   /* decisions of this class by clients that have an example */
};

struct impact_examples {
    struct kept kept[IMPACT_CLASSES];
    size_t most;
};

struct impact_examples *
examples_new(TALLOC_CTX *mem, size_t most)
{
    struct impact_examples *examples = talloc_zero(mem, struct impact_examples);
    bool made = examples != NULL;
    for (int i = 0; made && i < IMPACT_CLASSES; i++) {
        examples->kept[i].list = jsonx_own(examples, json_array());
        examples->kept[i].clients = jsonx_own(examples, json_object());
        made = examples->kept[i].list != NULL && examples->kept[i].clients != NULL;
    }
    if (!made)
        TALLOC_FREE(examples);
    else
        examples->most = most;
    return examples;
}

/* ---- one side */

/* Return the names of the members of an object, as values of claims and obligations may be about a
 * person: a new reference. */
static json_t *
names_of(const json_t *object)
{
    struct jsonx_build names = {json_array(), false};
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value)
        jsonx_append(&names, json_string(name));
    if (names.lost)
        json_decref(names.value);
    return jsonx_built(&names);
}

/* Add the members in which this side differs from the other. */
static void
add_different(struct jsonx_build *out, const json_t *members, const json_t *other)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) members, name, value)
        if (!json_equal(value, json_object_get(other, name)))
            jsonx_set(out, name, json_is_object(value) ? names_of(value) : json_incref(value));
}

static json_t *
codes_of(const struct effect *effect)
{
    struct jsonx_build codes = {json_array(), false};
    size_t index;
    json_t *reason;
    json_array_foreach (effect->reasons, index, reason) {
        json_t *code = json_object_get(reason, "code");
        if (json_is_string(code))
            jsonx_append(&codes, json_incref(code));
    }
    if (codes.lost)
        json_decref(codes.value);
    return jsonx_built(&codes);
}

/* Return what one side does, as far as the other does something else: a new reference. */
static json_t *
side_json(TALLOC_CTX *mem, const struct effect *effect, const struct effect *other)
{
    static const char *const outcomes[] = {
        [EFFECT_NONE] = "none", [EFFECT_DENY] = "deny", [EFFECT_ALLOW] = "allow"};
    struct jsonx_build out = {json_pack("{s:s}", "outcome", outcomes[effect->outcome]), false};
    add_different(&out, effect->rights, other->rights);
    add_different(&out, effect->rest, other->rest);
    jsonx_set(&out, "reasons", codes_of(effect));
    char *text = out.lost ? NULL : jsonx_dump(mem, out.value);
    if (text != NULL && strlen(text) > IMPACT_EXAMPLE_OCTETS) {
        json_decref(out.value);
        out.value = json_pack("{s:s,s:b}", "outcome", outcomes[effect->outcome], "truncated", 1);
    }
    talloc_free(text);
    if (out.lost || text == NULL) {
        json_decref(out.value);
        return NULL;
    }
    return out.value;
}

static json_t *
example_json(TALLOC_CTX *mem, const struct impact_decision *d)
{
    json_t *id = d->request_id != NULL ? json_string(d->request_id) : json_integer(d->audit_id);
    return json_pack(
        "{s:o,s:I,s:s*,s:s*,s:s*,s:s*,s:o,s:o}", d->request_id != NULL ? "requestId" : "auditId",
        id, "index", (json_int_t) d->index, "createdAt", d->created_at, "endpoint", d->endpoint,
        "clientId", d->client, "subjectId", d->subject, "before",
        side_json(mem, d->base, d->candidate), "after", side_json(mem, d->candidate, d->base));
}

/* ---- choosing */

/* Return the index of the last example of another client, or the size of the list. */
static size_t
place_of_double(const struct kept *kept)
{
    size_t size = json_array_size(kept->list);
    for (size_t i = size; i-- > 0;) {
        const char *client =
            json_string_value(json_object_get(json_array_get(kept->list, i), "clientId"));
        json_int_t count =
            json_integer_value(json_object_get(kept->clients, client != NULL ? client : ""));
        if (count > 1)
            return i;
    }
    return size;
}

/* Return the place that a decision takes, `most` if none. */
static size_t
choose_place(const struct impact_examples *examples, struct kept *kept, bool first)
{
    size_t size = json_array_size(kept->list);
    uint64_t number;
    if (size < examples->most)
        return size;
    if (first)
        return size > 0 ? place_of_double(kept) : examples->most;
    kept->seen++;
    if (random_nonce(&number, sizeof(number)) != AZ_OK || number % kept->seen >= examples->most)
        return examples->most;
    return place_of_double(kept);
}

/* Change the number of examples of a client. */
static bool
count_client(struct kept *kept, const char *client, int by)
{
    const char *name = client != NULL ? client : "";
    json_int_t now = json_integer_value(json_object_get(kept->clients, name)) + by;
    return now > 0 ? json_object_set_new(kept->clients, name, json_integer(now)) == 0
                   : json_object_del(kept->clients, name) == 0;
}

bool
examples_add(struct impact_examples *examples, const struct impact_decision *decision,
             enum impact_class class)
{
    struct kept *kept = &examples->kept[class];
    const char *client = decision->client != NULL ? decision->client : "";
    size_t place = choose_place(examples, kept, json_object_get(kept->clients, client) == NULL);
    if (place >= examples->most)
        return true;
    json_t *example = example_json((void *) examples, decision);
    if (example == NULL)
        return false;
    if (place == json_array_size(kept->list))
        return json_array_append_new(kept->list, example) == 0 && count_client(kept, client, 1);
    const char *before =
        json_string_value(json_object_get(json_array_get(kept->list, place), "clientId"));
    return count_client(kept, before, -1) && json_array_set_new(kept->list, place, example) == 0
           && count_client(kept, client, 1);
}

json_t *
examples_json(const struct impact_examples *examples)
{
    struct jsonx_build out = {json_object(), false};
    for (int i = IMPACT_NEWLY_DENIED; i < IMPACT_CLASSES; i++)
        if (json_array_size(examples->kept[i].list) > 0)
            jsonx_set(&out, impact_class_names[i], json_incref(examples->kept[i].list));
    if (out.lost)
        json_decref(out.value);
    return jsonx_built(&out);
}
