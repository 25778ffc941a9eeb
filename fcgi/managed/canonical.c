#include "config.h"

#include "managed/canonical.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"

bool
managed_entry_hash(TALLOC_CTX *mem, const json_t *entry, char ret[MANAGED_PIN_SIZE])
{
    const char *text = jsonx_dump_sorted(mem, entry);
    return text != NULL && sha256_hex(text, strlen(text), ret) == AZ_OK;
}

bool
managed_pin_hash(TALLOC_CTX *mem, const json_t *tool, char ret[MANAGED_PIN_SIZE])
{
    static const char *const members[] = {"name",        "title",        "description",
                                          "inputSchema", "outputSchema", "annotations",
                                          "icons",       "_meta"};
    struct jsonx_build pinned = {jsonx_own(mem, json_object()), false};
    if (!json_is_object(tool))
        return false;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(tool, members[i]);
        if (value != NULL)
            jsonx_set(&pinned, members[i], json_incref(value));
    }
    return jsonx_built(&pinned) != NULL && managed_entry_hash(mem, pinned.value, ret);
}
