/* The statements of an admin resource list its columns once; field table and rules fill exactly
 * these. */
#include "config.h"

#include <string.h>

#include "admin/gateway/managed_resource_dto.h"
#include "admin/people/client_dto.h"
#include "admin/people/identity_provider_dto.h"
#include "store/clients/clients_admin.h"
#include "store/gateway/resources_admin.h"
#include "store/people/identity_providers_admin.h"
#include "tap.h"

/* Check the columns of a field table and `others`, which rules set, against those of the
 * statements. */
static void
check_columns(const struct resource_body *body, const char *const *others, const char *listed,
              const char *name)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    char *rest = talloc_asprintf(mem, ", %s,", listed);
    const char *columns[32];
    size_t count = 0;
    while (*others != NULL)
        columns[count++] = *others++;
    for (size_t i = 0; i < body->fields->count; i++)
        if (body->fields->row[i].column != NULL)
            columns[count++] = body->fields->row[i].column;
    for (size_t i = 0; i < count; i++) {
        const char *word = talloc_asprintf(mem, ", %s,", columns[i]);
        char *at = strstr(rest, word);
        ok(at != NULL, "%s: column %s is in the statements", name, columns[i]);
        if (at != NULL)
            memmove(at, at + strlen(word) - 1, strlen(at + strlen(word) - 1) + 1);
    }
    is_str(rest, ",", "%s: the statements write no other column", name);
    talloc_free(mem);
}

int
main(void)
{
    static const char *const by_rules[] = {"software_statement", "software_statement_json",
                                           "issued_statement", "updated_by", NULL},
                             *const none[] = {NULL},
                             *const managed[] = {"upstream_type", "enabled",       "document",
                                                 "tools",         "secrets_set",   "missing",
                                                 "status",        "status_reason", NULL};
    check_columns(&client_body, by_rules, CLIENTS_ADMIN_COLUMNS, "client");
    check_columns(&identity_provider_body, none, IDENTITY_PROVIDERS_ADMIN_COLUMNS,
                  "identity provider");
    check_columns(&managed_resource_body, managed, RESOURCES_ADMIN_COLUMNS, "managed resource");
    return done();
}
