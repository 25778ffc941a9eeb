#include "config.h"

#include "admin/resource/secret_address.h"

#include <stdbool.h>
#include <string.h>

#include "base/json/field_rules.h"
#include "base/uri.h"

/* An address that a secret is sent to, or that decides where it is sent to. */
struct secret_address {
    enum secret_owner owner;
    const char *secret; /* its name: of managed_secret_rows, or the member */
    const char *object; /* member that holds the address's member, or NULL */
    const char *member; /* the address */
    bool origin;        /* scheme, host and port count; false: all of it */
    const char *absent; /* what an absent member says, or NULL */
};

/*
 * The origin of an upstream counts: its routes are paths. The whole address of an endpoint counts:
 * at a host of many tenants the path is the tenant. A token that was fetched with a secret is as
 * good as the secret until it ends, so upstreamUrl counts for those too.
 */
#define AUTH "upstreamAuth"
/* clang-format off */
static const struct secret_address addresses[] = {
    {SECRET_OF_RESOURCE, "value",        NULL, "upstreamUrl",        true,  NULL},
    {SECRET_OF_RESOURCE, "password",     NULL, "upstreamUrl",        true,  NULL},
    {SECRET_OF_RESOURCE, "clientSecret", NULL, "upstreamUrl",        true,  NULL},
    {SECRET_OF_RESOURCE, "clientSecret", AUTH, "tokenEndpoint",      false, NULL},
    {SECRET_OF_RESOURCE, "clientSecret", AUTH, "revocationEndpoint", false, NULL},
    {SECRET_OF_RESOURCE, "clientSecret", AUTH, "issuer",             false, NULL},
    {SECRET_OF_RESOURCE, "clientSecret", AUTH, "discovery",          false, "none"},
    {SECRET_OF_RESOURCE, "key",          NULL, "upstreamUrl",        true,  NULL},
    {SECRET_OF_RESOURCE, "key",          AUTH, "tokenEndpoint",      false, NULL},
    {SECRET_OF_RESOURCE, "key",          AUTH, "issuer",             false, NULL},
    {SECRET_OF_PROVIDER, "clientSecret", NULL, "issuer",             false, NULL},
    {SECRET_OF_PROVIDER, "clientSecret", NULL, "discoveryUrl",       false, NULL},
    {SECRET_OF_PROVIDER, "clientSecret", NULL, "tokenEndpoint",      false, NULL},
};
/* clang-format on */

/* Return the part of the address that counts, all of it without memory; NULL: there is none. */
static const char *
address_of(TALLOC_CTX *mem, const struct secret_address *row, const json_t *document)
{
    struct uri uri;
    const json_t *holder = row->object != NULL ? json_object_get(document, row->object) : document;
    const char *text = json_string_value(json_object_get(holder, row->member));
    if (text == NULL)
        return row->absent;
    const char *origin =
        row->origin && uri_parse(mem, text, &uri) == AZ_OK ? uri_origin(mem, &uri) : NULL;
    return origin != NULL ? origin : text;
}

const char *
secret_address_fault(TALLOC_CTX *mem, enum secret_owner owner, const char *secret,
                     const json_t *was, const json_t *is)
{
    for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
        const struct secret_address *row = &addresses[i];
        if (row->owner != owner || strcmp(row->secret, secret) != 0)
            continue;
        const char *before = address_of(mem, row, was), *after = address_of(mem, row, is);
        if (before == after || (before != NULL && after != NULL && strcmp(before, after) == 0))
            continue;
        return field_fault_text(mem,
                                "must be given again, because %s%s%s differs from the one that it "
                                "was stored for; a stored secret goes to no other address",
                                row->object != NULL ? row->object : "",
                                row->object != NULL ? "." : "", row->member);
    }
    return NULL;
}
