#include "config.h"

#include "managed/import/import.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "managed/import/openapi.h"
#include "managed/reader.h"

#define IMPORTED "${settings."

static const char *
document_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return strncmp(json_string_value(value), IMPORTED, sizeof(IMPORTED) - 1) == 0
               ? NULL
               : "must be a setting";
}

static const char *const import_formats[] = {"openapi", NULL};

/* clang-format off */
static const struct field import_fields[] = {
    {"format",     FIELD_TEXT, .required = true, .words = import_formats},
    {"document",   FIELD_TEXT, .required = true, .max = MANAGED_WORD_MAX, .rule = document_rule},
    {"writeScope", FIELD_TEXT, .max = MANAGED_WORD_MAX},
};
const struct field_table managed_import_table = FIELD_TABLE(NULL, import_fields, 0);
/* clang-format on */

/* Faults below the setting that holds the document. */
struct import_fault {
    TALLOC_CTX *mem;
    const char *setting; /* "settings.document" */
    field_fault_fn *fault;
    void *fault_arg;
};

static void
tell_import(void *arg, const char *path, const char *why)
{
    const struct import_fault *it = arg;
    it->fault(it->fault_arg,
              field_fault_text(it->mem, "%s%s%s", it->setting, *path != '\0' ? "." : "", path),
              why);
}

/* Return the place of the setting: "settings.document" for ${settings.document}. */
static const char *
setting_place(TALLOC_CTX *mem, const struct managed_manifest *manifest)
{
    const json_t *import = json_object_get(manifest->resource, "import");
    const char *text = json_string_value(json_object_get(import, "document"));
    return field_fault_text(mem, "%.*s", (int) strcspn(text + 2, "}"), text + 2);
}

static enum az_status
put(json_t *filled, const struct openapi_import *import)
{
    bool good = json_object_set(filled, "routes", import->routes) == 0
                && json_object_set(filled, "tools", import->tools) == 0;
    if (good && json_object_get(filled, "upstreamUrl") == NULL && import->server != NULL)
        good = json_object_set_new(filled, "upstreamUrl", json_string(import->server)) == 0;
    json_object_del(filled, "import");
    return good ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
managed_import(TALLOC_CTX *mem, const struct managed_manifest *manifest, json_t *filled,
               field_fault_fn *fault, void *fault_arg)
{
    const json_t *import = json_object_get(filled, "import");
    struct openapi_import made;
    if (import == NULL)
        return AZ_OK;
    struct import_fault below = {mem, setting_place(mem, manifest), fault, fault_arg};
    struct openapi_reading reading = {
        .mem = mem,
        .document = json_object_get(import, "document"),
        .write_scope = json_string_value(json_object_get(import, "writeScope")),
        .fault = tell_import,
        .fault_arg = &below,
    };
    enum az_status st = openapi_read(&reading, &made);
    return st == AZ_OK ? put(filled, &made) : st;
}
