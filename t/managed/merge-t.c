/* What a save keeps of the stored resource: secrets and tools (gateway-admin.md 3.2, 3.3), also if
 * memory runs out. */
#include "config.h"

#include "managed/merge.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "scarce.h"
#include "tap.h"

static const char sent_document[] =
    "{\"upstreamAuth\":{\"type\":\"oauth_link\",\"clientSecret\":\"new\",\"privateKeyJwt\":null}}";
static const char kept_document[] = "{\"upstreamAuth\":{\"type\":\"oauth_link\",\"clientSecret\":{"
                                    "\"set\":true}}}";
static const char was_set[] = "{\"clientSecret\":\"then\"}";
static const char stored_tools[] =
    "[{\"name\":\"a\",\"upstreamName\":\"up_a\",\"description\":\"d\",\"enabled\":false,"
    "\"pin\":{\"sha256\":\"0\"}},{\"name\":\"up_b\",\"pin\":{\"sha256\":\"1\"}}]";
static const char sent_tools[] =
    "[{\"name\":\"c\",\"upstreamName\":\"up_a\",\"description\":\"mine\",\"scopes\":[\"s\"],"
    "\"pin\":{\"sha256\":\"2\"}}]";

static json_t *
read_json(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, strlen(text), 16, &value, NULL) == AZ_OK ? value : NULL;
}

/* Return document, given and set as one text, or NULL after a failure. */
static const char *
take(TALLOC_CTX *mem, const char *document, const char *type, const char *was)
{
    struct managed_secrets_change change;
    json_t *read = read_json(mem, document), *set = was != NULL ? read_json(mem, was) : NULL;
    if (read == NULL || (was != NULL && set == NULL)
        || managed_secrets_take(mem, read, type, set, "now", &change) != AZ_OK)
        return NULL;
    const char *shown = jsonx_dump(mem, read), *given = jsonx_dump(mem, change.given),
               *times = jsonx_dump(mem, change.set);
    return shown != NULL && given != NULL && times != NULL
               ? talloc_asprintf(mem, "%s %s %s %d", shown, given, times, change.any_change)
               : NULL;
}

static const char *
merge(TALLOC_CTX *mem, bool is_mcp)
{
    json_t *sent = read_json(mem, sent_tools), *stored = read_json(mem, stored_tools);
    json_t *made =
        sent != NULL && stored != NULL ? managed_tools_merge(mem, sent, stored, is_mcp) : NULL;
    return made != NULL ? jsonx_dump_sorted(mem, made) : NULL;
}

static void
test_secrets(TALLOC_CTX *mem)
{
    is_str(take(mem, sent_document, "oauth_link", was_set),
           "{\"upstreamAuth\":{\"type\":\"oauth_link\",\"clientSecret\":{\"set\":true,"
           "\"updatedAt\":\"now\"},\"privateKeyJwt\":null}} {\"clientSecret\":\"new\"} "
           "{\"clientSecret\":\"now\"} 1",
           "a secret that is sent is taken out of the document");
    is_str(take(mem, kept_document, "oauth_link", was_set),
           "{\"upstreamAuth\":{\"type\":\"oauth_link\",\"clientSecret\":{\"set\":true,"
           "\"updatedAt\":\"then\"}}} {} {\"clientSecret\":\"then\"} 0",
           "{\"set\": true} keeps the stored one");
    is_str(take(mem, kept_document, "basic", "{\"password\":\"then\"}"),
           "{\"upstreamAuth\":{\"type\":\"oauth_link\"}} {} {} 1",
           "... not one of another type, which is cleared");
    is_str(take(mem, "{\"upstreamAuth\":{\"type\":\"oauth_link\",\"clientSecret\":null}}",
                "oauth_link", was_set),
           "{\"upstreamAuth\":{\"type\":\"oauth_link\"}} {} {} 1", "null clears it");
}

static void
test_tools(TALLOC_CTX *mem)
{
    is_str(merge(mem, true),
           "[{\"description\":\"d\",\"name\":\"c\",\"pin\":{\"sha256\":\"0\"},\"scopes\":[\"s\"],"
           "\"upstreamName\":\"up_a\"},{\"name\":\"up_b\",\"pin\":{\"sha256\":\"1\"}}]",
           "description and pin are the upstream's; name, scopes and enabled are the operator's; a "
           "tool that was not sent stays");
    is_str(
        merge(mem, false),
        "[{\"description\":\"mine\",\"name\":\"c\",\"scopes\":[\"s\"],\"upstreamName\":\"up_a\"}]",
        "without an upstream's tools the sent ones are stored, without a pin");
}

/* ---- memory */

struct wanted {
    const char *document, *text; /* document NULL: tools */
};

static enum scarce_outcome
attempt(TALLOC_CTX *mem, void *arg)
{
    const struct wanted *wanted = arg;
    const char *made = wanted->document != NULL ? take(mem, wanted->document, "oauth_link", was_set)
                                                : merge(mem, true);
    if (made == NULL)
        return SCARCE_FAILED;
    return strcmp(made, wanted->text) == 0 ? SCARCE_WHOLE : SCARCE_WRONG;
}

static void
test_memory(TALLOC_CTX *mem, const char *document, const char *name)
{
    struct wanted wanted = {document, document != NULL ? take(mem, document, "oauth_link", was_set)
                                                       : merge(mem, true)};
    struct scarce_count count = scarce_jansson(attempt, &wanted);
    scarce_is_seen(&count, name);
    count = scarce_talloc(attempt, &wanted, 8192, 16);
    scarce_is_seen(&count, name);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_secrets(mem);
    test_tools(mem);
    test_memory(mem, sent_document, "a new secret");
    test_memory(mem, kept_document, "a kept secret");
    test_memory(mem, NULL, "the tools of a save");
    talloc_free(mem);
    return done();
}
