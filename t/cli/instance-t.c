/* Names of files, entries of rows, and what counts as a change (doc/design/instance.md F2, F3, F6).
 */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"
#include "tap.h"

static void
test_names(TALLOC_CTX *mem)
{
    static const char *const names[][2] = {
        {"shop",                   "clients/shop.json"                          },
        {"A-z_0.9",                "clients/A-z_0.9.json"                       },
        {".hidden",                "clients/%2Ehidden.json"                     },
        {"a/../b",                 "clients/a%2F..%2Fb.json"                    },
        {"spiffe://d.example/job", "clients/spiffe%3A%2F%2Fd.example%2Fjob.json"},
        {"50%",                    "clients/50%25.json"                         },
        {"\xc3\xa9",               "clients/%C3%A9.json"                        },
    };
    static const char *const wrong[] = {
        "clients/.json",    "clients/%2f.json",   "clients/%73hop.json", "clients/a%.json",
        "clients/a b.json", "clients/a%2Gb.json", "clients/%00.json",    "clients/a%00b.json",
        "clients/.a.json",  "clients/sub/a.json", "clients/%2.json",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        is_str(instance_file_of(mem, "clients", names[i][0]), names[i][1], "file of %s (F2)",
               names[i][0]);
        is_str(instance_key_of(mem, "clients", names[i][1]), names[i][0], "... and back");
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        ok(instance_key_of(mem, "clients", wrong[i]) == NULL, "refused: %s (F2)", wrong[i]);
}

static json_t *
parsed(TALLOC_CTX *mem, const char *text)
{
    json_t *value = NULL;
    return jsonx_parse(mem, text, strlen(text), CALL_DEPTH_MAX, &value, NULL) == AZ_OK ? value
                                                                                       : NULL;
}

/* Split a payload into entries, and compare their keys. */
static void
splits(TALLOC_CTX *mem, const char *row, const char *payload, const char *wanted)
{
    json_t *table = instance_table(mem), *value;
    const char *key;
    char *keys = talloc_strdup(mem, "");
    ok(table != NULL && instance_split(mem, table, row, parsed(mem, payload)), "%s is split (F3)",
       row);
    json_object_foreach (json_object_get(table, "entry"), key, value)
        keys = talloc_asprintf_append_buffer(keys, "%s;", key);
    is_str(keys, wanted, "... into its entries");
}

static void
test_entries(TALLOC_CTX *mem)
{
    json_t *payload = parsed(mem, "{\"clients\":{\"b\":1}}"),
           *one = jsonx_own(mem, json_integer(1));
    splits(mem, "svc.entitlements.bindings", "{\"clients\":{\"a/b\":{\"x\":{}}},\"scopes\":{}}",
           "svc.entitlements.bindings/clients/a/b;");
    splits(mem, "svc.registry.resource_types", "{\"rar\":{\"types\":{\"t\":{}}},\"resource\":{}}",
           "svc.registry.resource_types/rar/types/t;");
    splits(mem, "my.row", "{\"a\":{\"b\":1}}", "");
    ok(instance_merge(mem, payload, "svc.entitlements.bindings/clients/a/b", one)
           && instance_merge(mem, payload, "svc.entitlements.bindings/software/s", one)
           && instance_merge(mem, payload, "svc.entitlements.bindings/clients/b", NULL),
       "entries are merged (F3)");
    is_str(jsonx_dump_sorted(mem, payload), "{\"clients\":{\"a/b\":1},\"software\":{\"s\":1}}",
           "... and others stay");
    ok(!instance_merge(mem, payload, "my.row/a", one),
       "refused: an entry of a row without entries");
}

static void
changes(TALLOC_CTX *mem, const char *kind, const char *file, const char *stored, const char *wanted)
{
    const json_t *list =
        instance_changes(mem, instance_kind_named(kind), parsed(mem, file), parsed(mem, stored));
    is_str(jsonx_dump(mem, list), wanted, "%s against %s (F6)", file, stored);
}

static void
test_changes(TALLOC_CTX *mem)
{
    changes(mem, "client", "{\"a\":1}", "{\"a\":1,\"b\":2}", "[]");
    changes(mem, "client", "{\"a\":null}", "{\"b\":2}", "[]");
    changes(mem, "client", "{\"a\":null}", "{\"a\":2}", "[\"a\"]");
    changes(mem, "client", "{\"a\":[]}", "{}", "[\"a\"]");
    changes(mem, "client", "{\"clientSecret\":{\"env\":\"X\"}}", "{}", "[]");
    changes(mem, "resource", "{\"upstreamAuth\":{\"type\":\"basic\",\"password\":{\"env\":\"X\"}}}",
            "{\"upstreamAuth\":{\"type\":\"basic\"}}", "[]");
    changes(
        mem, "resource", "{\"tools\":[{\"name\":\"a\"}]}",
        "{\"upstreamType\":\"MCP\",\"tools\":[{\"name\":\"a\",\"title\":\"A\"},{\"name\":\"b\"}]}",
        "[]");
    changes(mem, "resource", "{\"tools\":[{\"name\":\"a\",\"enabled\":false}]}",
            "{\"upstreamType\":\"MCP\",\"tools\":[{\"name\":\"a\"}]}", "[\"tools\"]");
    changes(mem, "resource", "{\"tools\":[{\"name\":\"a\"}]}",
            "{\"upstreamType\":\"REST\",\"tools\":[{\"name\":\"a\",\"title\":\"A\"}]}",
            "[\"tools\"]");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_names(mem);
    test_entries(mem);
    test_changes(mem);
    talloc_free(mem);
    return done();
}
