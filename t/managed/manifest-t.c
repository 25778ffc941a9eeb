/* Manifests of connectors (gateway-admin.md 3.7). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/import/manifest.h"
#include "tap.h"

static char fault[256];

static void
note_fault(void *arg, const char *path, const char *why)
{
    (void) arg;
    if (fault[0] == '\0')
        snprintf(fault, sizeof(fault), "%s %s", path, why);
}

/* Read a manifest whose settings and resource are given. */
static enum az_status
read(TALLOC_CTX *mem, const char *settings, const char *resource, struct managed_manifest *ret)
{
    json_t *document;
    const char *text = talloc_asprintf(
        mem,
        "{\"manifestVersion\":1,\"id\":\"api\",\"name\":\"API\",\"version\":\"1\",\"category\":"
        "\"x\",\"settings\":%s,\"resources\":[%s]}",
        settings, resource);
    fault[0] = '\0';
    if (jsonx_parse(mem, text, strlen(text), MANIFEST_DEPTH, &document, NULL) != AZ_OK)
        return AZ_SERVER_ERROR;
    return managed_manifest_read(mem, document, note_fault, NULL, ret);
}

#define SETTINGS                                                                                   \
    "{\"type\":\"object\",\"required\":[\"s\"],\"properties\":{\"url\":{\"type\":\"string\"},"     \
    "\"d\":{\"type\":\"string\",\"default\":\"D\"},\"s\":{\"type\":\"string\",\"writeOnly\":true}" \
    "}}"
#define AUTH(text) "{\"upstreamAuth\":{\"type\":\"static_header\",\"value\":\"" text "\"}}"

static void
variables(TALLOC_CTX *mem)
{
    static const struct {
        const char *resource, *fault; /* NULL: it is accepted */
    } rows[] = {
        {"{\"upstreamUrl\":\"${settings.url}\",\"name\":\"${input.name}\"}",                    NULL                                                              },
        {AUTH("${settings.s}"),                                                                 NULL                                                              },
        {"{\"upstreamAuth\":{\"privateKeyJwt\":{\"key\":\"${settings.s}\"}}}",                  NULL                                                              },
        {"{\"upstreamUrl\":\"${settings.none}\"}",                                              "resources[0].upstreamUrl has an unknown"                         },
        {"{\"upstreamUrl\":\"${settings.}\"}",                                                  "resources[0].upstreamUrl has an unknown"                         },
        {"{\"upstreamUrl\":\"${settings.url\"}",                                                "resources[0].upstreamUrl has an unknown"                         },
        {"{\"upstreamUrl\":\"https://${settings.url}\"}",
         "resources[0].upstreamUrl has an unknown"                                                                                                                },
        {"{\"upstreamUrl\":\"${settings.url}/x\"}",                                             "resources[0].upstreamUrl has an unknown"                         },
        {"{\"upstreamUrl\":\"${input.url}\"}",                                                  "resources[0].upstreamUrl has an unknown"                         },
        {"{\"routes\":[{\"id\":\"${env.HOME}\"}]}",                                             "resources[0].routes[0].id has an unknown"                        },
        {"{\"import\":{\"format\":\"openapi\",\"document\":\"${settings.url}\"}}",              NULL                                                              },
        {"{\"import\":{\"format\":\"raml\",\"document\":\"${settings.url}\"}}",
         "resources[0].import.format "                                                                                                                            },
        {"{\"import\":{\"format\":\"openapi\",\"document\":\"x\"}}",
         "resources[0].import.document must be a setting"                                                                                                         },
        {"{\"import\":{\"format\":\"openapi\",\"document\":\"${settings.s}\"}}",
         "resources[0].import.document shows a setting with writeOnly"                                                                                            },
        {"{\"tools\":[],\"import\":{\"format\":\"openapi\",\"document\":\"${settings.url}\"}}",
         "resources[0].import cannot be combined with"                                                                                                            },
        {AUTH("literal"),                                                                       "resources[0].upstreamAuth.value must be a setting with writeOnly"},
        {AUTH("${settings.url}"),                                                               "resources[0].upstreamAuth.value must be a setting with"          },
        {"{\"upstreamUrl\":\"${settings.s}\"}",                                                 "resources[0].upstreamUrl shows a setting"                        },
        {"{\"upstreamAuth\":{\"clientId\":\"${settings.s}\"}}",
         "resources[0].upstreamAuth.clientId shows a setting"                                                                                                     },
        {"{\"routes\":[{\"requestHeaders\":{\"X\":\"${settings.s}\"}}]}",
         "resources[0].routes[0].requestHeaders.X shows a setting"                                                                                                },
        {"1",                                                                                   "resources[0] must be an object"                                  },
    };
    struct managed_manifest manifest;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum az_status st = read(mem, SETTINGS, rows[i].resource, &manifest);
        ok(rows[i].fault == NULL
               ? st == AZ_OK
               : st == AZ_INVALID && strncmp(fault, rows[i].fault, strlen(rows[i].fault)) == 0,
           "%s: %s (%s)", rows[i].fault == NULL ? "accepted" : "refused", rows[i].resource, fault);
    }
    ok(read(mem, "{\"type\":\"object\",\"required\":[\"x\"],\"properties\":{}}", "{}", &manifest)
           == AZ_INVALID,
       "a required setting must exist");
    ok(read(mem,
            "{\"type\":\"object\",\"properties\":{\"s\":{\"writeOnly\":true,\"default\":\"x\"}}}",
            "{}", &manifest)
           == AZ_INVALID,
       "a secret has no default");
}

static void
filling(TALLOC_CTX *mem)
{
    struct managed_manifest manifest;
    json_t *given = jsonx_own(mem, json_pack("{s:s,s:s}", "s", "SECRET", "url", "U"));
    ok(read(
           mem, SETTINGS,
           "{\"upstreamUrl\":\"${settings.url}\",\"defaultScope\":\"${settings.d}\",\"name\":\"x\","
           "\"upstreamAuth\":{\"value\":\"${settings.s}\"},\"routes\":[{\"id\":\"a\"}]}",
           &manifest)
           == AZ_OK,
       "a template is read");
    is_str(jsonx_dump_sorted(mem, managed_manifest_fill(mem, &manifest, given, "n")),
           "{\"defaultScope\":\"D\",\"name\":\"n\",\"routes\":[{\"id\":\"a\",\"origin\":"
           "\"manifest\"}],\"upstreamAuth\":{\"value\":\"SECRET\"},\"upstreamUrl\":\"U\"}",
           "... and filled with values, defaults and the name");
    is_str(jsonx_dump_sorted(mem, managed_manifest_fill(mem, &manifest, NULL, "n")),
           "{\"defaultScope\":\"D\",\"name\":\"n\",\"routes\":[{\"id\":\"a\",\"origin\":"
           "\"manifest\"}],\"upstreamAuth\":{}}",
           "a member whose setting has no value is left out");
    is_str(jsonx_dump(mem, managed_manifest_plain(mem, &manifest, given)), "{\"url\":\"U\"}",
           "what is stored has no secret");
    fault[0] = '\0';
    ok(managed_manifest_complete(&manifest, given, note_fault, NULL), "all required are there");
    ok(!managed_manifest_complete(&manifest, NULL, note_fault, NULL)
           && strcmp(fault, "settings.s is required") == 0,
       "... or the missing one is told");
    json_t *schema = managed_manifest_schema(mem, &manifest);
    ok(json_is_false(json_object_get(schema, "additionalProperties"))
           && strstr(jsonx_dump(mem, schema), "writeOnly") == NULL,
       "the schema is closed and has no writeOnly");
}

static void
policy_rows(TALLOC_CTX *mem)
{
    static const struct {
        const char *data, *fault; /* NULL: it is accepted */
    } rows[] = {
        {"[]",                                                                           NULL                               },
        {"[{\"dataKey\":\"svc.connectors.api\",\"payload\":{\"a\":\"${settings.s}\"}}]", NULL                               },
        {"[{\"dataKey\":\"svc.connectors.apis\",\"payload\":{}}]",                       "policyData[0].dataKey must"       },
        {"[{\"dataKey\":\"svc.connectors.api.b\",\"payload\":{}}]",                      "policyData[0].dataKey must"       },
        {"[{\"dataKey\":\"svc.entitlements.bindings\",\"payload\":{}}]",
         "policyData[0].dataKey must"                                                                                       },
        {"[{\"dataKey\":\"svc.connectors.api\",\"payload\":1}]",                         "policyData[0].payload must"       },
        {"[{\"payload\":{}}]",                                                           "policyData[0].dataKey is required"},
        {"[1]",                                                                          "policyData[0] must"               },
        {"[1,2]",                                                                        "policyData must have at most 1"   },
        {"{}",                                                                           "policyData must"                  },
    };
    struct managed_manifest manifest;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *more = talloc_asprintf(mem, "{}],\"policyData\":%s,\"egress\":[", rows[i].data);
        enum az_status st = read(mem, SETTINGS, more, &manifest);
        ok(rows[i].fault == NULL
               ? st == AZ_OK
               : st == AZ_INVALID && strncmp(fault, rows[i].fault, strlen(rows[i].fault)) == 0,
           "policyData %s: %s (%s)", rows[i].fault == NULL ? "accepted" : "refused", rows[i].data,
           fault);
    }
    ok(read(mem, SETTINGS, "{}", &manifest) == AZ_OK
           && managed_manifest_policy(manifest.document) == NULL,
       "a manifest without policyData has none");
}

static void
implied(TALLOC_CTX *mem)
{
    static const struct {
        const char *scopes, *implied;
    } rows[] = {
        {"[]",                                                                          "{}"                                 },
        {"[{\"name\":\"r\"},{\"name\":\"w\",\"implies\":[\"r\"]}]",                     "{\"w\":[\"r\"]}"                    },
        {"[{\"name\":\"r\"},{\"name\":\"w\",\"implies\":[\"r\"]},{\"name\":\"a\",\"implies\":["
         "\"w\"]}]",                                                           "{\"a\":[\"w\",\"r\"],\"w\":[\"r\"]}"},
        {"[{\"name\":\"a\",\"implies\":[\"b\"]},{\"name\":\"b\",\"implies\":[\"a\"]}]",
         "{\"a\":[\"b\",\"a\"],\"b\":[\"a\",\"b\"]}"                                                                         },
        {"[{\"name\":\"w\",\"implies\":[\"mcp\",\"other:read\",\"*\"]}]",               "{}"                                 },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *scopes = NULL, *want = NULL;
        jsonx_parse(mem, rows[i].scopes, strlen(rows[i].scopes), MANIFEST_DEPTH, &scopes, NULL);
        jsonx_parse(mem, rows[i].implied, strlen(rows[i].implied), MANIFEST_DEPTH, &want, NULL);
        ok(json_equal(managed_scopes_implied(mem, scopes), want), "implied by %s: %s",
           rows[i].scopes, rows[i].implied);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    policy_rows(mem);
    implied(mem);
    variables(mem);
    filling(mem);
    talloc_free(mem);
    return done();
}
