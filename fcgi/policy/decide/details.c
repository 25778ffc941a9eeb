#include "config.h"

#include "policy/decide/details.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"

/* Members whose items are a choice (RFC 9396 2.2). A list of any other name may exclude or order
 * things, so that fewer items may mean more. */
static const char *const choices[] = {"locations", "actions", "datatypes", "privileges"};

static bool
is_choice(const char *name)
{
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
        if (strcmp(choices[i], name) == 0)
            return true;
    return false;
}

static bool
entry_within(const json_t *entry, const json_t *wide)
{
    const char *name;
    json_t *value;
    if (!json_is_object(entry) || !json_is_object(wide)
        || json_object_size(entry) != json_object_size(wide))
        return false;
    json_object_foreach ((json_t *) (uintptr_t) entry, name, value) {
        const json_t *limit = json_object_get(wide, name);
        bool lists = is_choice(name) && json_is_array(value) && json_is_array(limit);
        if (!json_equal(value, limit)
            && !(lists && json_array_size(value) > 0 && jsonx_array_within(value, limit)))
            return false;
    }
    return true;
}

/* An assignment of narrow entries to wide ones. */
struct details_match {
    const json_t *narrow, *wide;
    size_t owner[DETAILS_MAX]; /* of each wide entry: number of the narrow one plus 1, 0 for none */
    bool seen[DETAILS_MAX];    /* wide entries tried for the current narrow one */
};

/* Find a wide entry for a narrow one, moving others to another choice if necessary (augmenting
 * paths of bipartite matching). */
static bool
match_entry(struct details_match *match, size_t index)
{
    const json_t *entry = json_array_get(match->narrow, index);
    for (size_t i = 0; i < json_array_size(match->wide); i++) {
        if (match->seen[i] || !entry_within(entry, json_array_get(match->wide, i)))
            continue;
        match->seen[i] = true;
        if (match->owner[i] == 0 || match_entry(match, match->owner[i] - 1)) {
            match->owner[i] = index + 1;
            return true;
        }
    }
    return false;
}

/* True for NULL and for an array that is not too long. */
static bool
is_list(const json_t *details)
{
    return details == NULL || (json_is_array(details) && json_array_size(details) <= DETAILS_MAX);
}

bool
details_within(const json_t *narrow, const json_t *wide, size_t *ret_entry)
{
    struct details_match match = {.narrow = narrow, .wide = wide};
    size_t entry = 0, count = json_array_size(narrow);
    if (ret_entry != NULL)
        *ret_entry = 0;
    if (!is_list(narrow) || (count > 0 && !is_list(wide)))
        return false;
    for (; entry < count; entry++) {
        memset(match.seen, 0, sizeof(match.seen));
        if (!match_entry(&match, entry))
            break;
    }
    if (ret_entry != NULL)
        *ret_entry = entry;
    return entry == count;
}

const char *
details_name(TALLOC_CTX *mem, const json_t *details, size_t entry)
{
    const char *type = json_string_value(json_object_get(json_array_get(details, entry), "type"));
    if (type == NULL)
        return talloc_asprintf(mem, "authorization_details[%zu]", entry);
    return talloc_asprintf(mem, "authorization_details[%zu] of type '%.*s'", entry,
                           UTF8_SHOWN(type, DETAILS_SHOWN));
}
