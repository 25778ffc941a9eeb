#include "config.h"

#include "policy/rows/software_issuers.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/schema_failures.h"

/* True if the row lists two different issuers. Like svc/controls/trust.rego, this counts the
 * service's own issuer only if it is listed. */
static bool
trusts_several(const json_t *trust)
{
    size_t index;
    const json_t *entry;
    const char *first = NULL;
    json_array_foreach (json_object_get(trust, "statement_issuers"), index, entry) {
        const char *name = json_is_object(entry)
                               ? json_string_value(json_object_get(entry, "issuer"))
                               : json_string_value(entry);
        if (first != NULL && name != NULL && strcmp(first, name) != 0)
            return true;
        if (first == NULL)
            first = name;
    }
    return false;
}

/* Record a binding without issuers, as a place of the row that is saved. */
static void
issuers_tell(struct schema_failures *failures, const char *data_key, const char *software_id)
{
    if (strcmp(data_key, SOFTWARE_BINDINGS_ROW) == 0) {
        const struct schema_place software = {.name = "software"};
        const struct schema_place binding = {.up = &software, .name = software_id};
        schema_fail(failures, &binding,
                    talloc_asprintf(failures->mem,
                                    "the software binding %s must name its issuers, because "
                                    "several statement_issuers are trusted",
                                    software_id));
    } else {
        const struct schema_place issuers = {.name = "statement_issuers"};
        schema_fail(failures, &issuers,
                    talloc_asprintf(failures->mem,
                                    "lists several issuers, but the software binding %s names no "
                                    "issuers",
                                    software_id));
    }
}

enum az_status
software_issuers_judge(TALLOC_CTX *mem, const char *data_key, const json_t *bindings,
                       const json_t *trust, json_t **ret_failures)
{
    struct schema_failures failures = {.mem = mem, .list = jsonx_own(mem, json_array())};
    const char *software_id;
    json_t *binding;
    if (failures.list == NULL)
        return AZ_SERVER_ERROR;
    if (!trusts_several(trust))
        return AZ_OK;
    json_object_foreach (json_object_get(bindings, "software"), software_id, binding)
        if (!json_is_array(json_object_get(binding, "issuers")))
            issuers_tell(&failures, data_key, software_id);
    if (failures.out_of_memory)
        return AZ_SERVER_ERROR;
    *ret_failures = failures.list;
    return json_array_size(failures.list) == 0 ? AZ_OK : AZ_INVALID;
}
