/*
 * A worker that asks for the credential of a person at an upstream, for
 * t/http/gateway/gateway_link.t. Settings come from the environment, as those of the service do.
 *
 *   linker SUBJECT RESOURCE [REFUSED [SCOPE...]]
 *
 * SCOPE: those that the upstream asked for with its refusal. SUBJECT "-" is a token without a
 * person. Prints one JSON object: error (the code, "" if there is a credential), header, query,
 * value, url and missing.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "gateway/link/link_account.h"
#include "process.h"
#include "store/gateway/resources.h"

static void
print(const struct op *op, enum az_status st, const struct upstream_credential *got, bool linked)
{
    json_t *out = json_pack("{s:s,s:s,s:s*,s:s*,s:s*,s:s*,s:O*,s:b}", "error",
                            st == AZ_OK ? "" : az_status_row(st)->error, "detail", op->fault.detail,
                            "header", got->header, "query", got->query, "value", got->value, "url",
                            got->link.url, "missing", got->link.missing_scopes, "linked", linked);
    json_dumpf(out, stdout, JSON_COMPACT | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(out);
}

int
main(int argc, char **argv)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct problems problems = {NULL, 0};
    struct az *az = argc > 2 ? process_new(mem, true, &problems) : NULL;
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n", problems.line[i]);
    if (az == NULL || problems.count > 0)
        return 78;
    az->pool = "gateway";
    az->pool_workers = 40;
    struct op op = process_op(mem, az);
    op.address = "10.0.0.1";
    struct upstream_credential got = {.header = NULL};
    const struct upstream_caller caller = {.subject = strcmp(argv[1], "-") == 0 ? NULL : argv[1],
                                           .client_id = "app"};
    struct upstream_wish wish = {.caller = &caller, .refused = argc > 3 ? argv[3] : NULL};
    json_t *challenge = json_array();
    for (int i = 4; i < argc; i++)
        json_array_append_new(challenge, json_string(argv[i]));
    wish.challenge = argc > 4 ? challenge : NULL;
    bool linked = false;
    enum az_status st = resource_find(&op, argv[2], &wish.resource);
    if (st == AZ_OK && wish.resource == NULL)
        return 64;
    if (st == AZ_OK)
        st = resource_secrets(&op, wish.resource, &wish.secrets);
    if (st == AZ_OK)
        st = link_is_linked(&op, &caller, wish.resource, &linked);
    if (st == AZ_OK)
        st = link_credential(&op, &wish, &got);
    print(&op, st, &got, linked);
    json_decref(challenge);
    talloc_free(mem);
    return 0;
}
