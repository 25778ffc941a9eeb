#include "config.h"

#include "http/api/document.h"

#include <string.h>

#include "base/settings/settings.h"
#include "http/api/api_schema.h"
#include "http/api/operation.h"

/* Seconds for which caches may keep the document; it changes with the program and the issuer. */
#define DOCUMENT_MAX_AGE 300

/* The ways to show a credential, by the name that credentials use (route.h). */
static json_t *
security_schemes(void)
{
    return json_pack(
        "{s:{s:s,s:s,s:s},s:{s:s,s:s,s:s},s:{s:s,s:s,s:s},s:{s:s,s:s,s:s},s:{s:s,s:s,s:s,s:s}}",
        "client", "type", "http", "scheme", "basic", "description",
        "client_id and client_secret; both may be in the form instead, and a public client sends "
        "its client_id there",
        "token", "type", "http", "scheme", "bearer", "description",
        "Access token (RFC 6750); one that is bound to a key with the scheme DPoP and a proof (RFC "
        "9449 7)",
        "adminKey", "type", "apiKey", "in", "header", "name", "X-Admin-API-Key", "bundleKey",
        "type", "apiKey", "in", "header", "name", "X-Bundle-API-Key", "proxy", "type", "apiKey",
        "in", "header", "name", "X-Authz-Proxy-Authorization", "description",
        "Basic with client_id and client_secret of the web server's client");
}

/* Set the operation of a row in its path item. */
static void
set_operation(TALLOC_CTX *mem, struct jsonx_build *paths, struct api_parts *parts,
              const struct route *route)
{
    const char *path = api_path(mem, route);
    json_t *item = path != NULL ? json_object_get(paths->value, path) : NULL;
    if (item == NULL && path != NULL) {
        jsonx_set(paths, path, json_object());
        item = json_object_get(paths->value, path);
    }
    if (json_object_set_new(item, api_method(route), api_operation(parts, route)) != 0)
        paths->lost = true;
}

static json_t *
document_describe(TALLOC_CTX *mem, const char *issuer, struct jsonx_build *paths,
                  struct api_parts *parts)
{
    for (size_t i = 0; i < routes_count; i++)
        set_operation(mem, paths, parts, &routes[i]);
    if (paths->lost || parts->schemas.lost || parts->responses.lost)
        return NULL;
    return json_pack("{s:s,s:{s:s,s:s,s:s},s:[{s:s}],s:O,s:{s:O,s:O,s:o}}", "openapi", "3.1.0",
                     "info", "title", "authz", "version", API_VERSION, "description",
                     "OAuth 2.0, OpenID Connect and AuthZEN server, and its admin API. OAuth "
                     "endpoints ignore unknown parameters; the admin API refuses unknown members.",
                     "servers", "url", issuer, "paths", paths->value, "components", "schemas",
                     parts->schemas.value, "responses", parts->responses.value, "securitySchemes",
                     security_schemes());
}

json_t *
api_document(TALLOC_CTX *mem, const char *issuer)
{
    struct jsonx_build paths = {json_object(), false};
    struct api_parts parts = {
        {json_object(), false},
        {json_object(), false}
    };
    json_t *document = document_describe(mem, issuer, &paths, &parts);
    json_decref(paths.value);
    json_decref(parts.schemas.value);
    json_decref(parts.responses.value);
    return jsonx_own(mem, document);
}

/* Return the text of the document, which this process makes once; NULL: no memory. */
static const char *
document_text(struct az *az)
{
    TALLOC_CTX *mem = talloc_new(az);
    const json_t *document = mem != NULL ? api_document(mem, az->cfg->oidc_issuer) : NULL;
    const char *text = document != NULL ? jsonx_dump(az, document) : NULL;
    talloc_free(mem);
    return text;
}

enum az_status
api_document_handle(struct request *req)
{
    struct az *az = req->op.az;
    if (!az->cfg->swagger_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, NULL);
    if (az->description == NULL)
        az->description = document_text(az);
    if (az->description == NULL)
        return op_no_memory(&req->op);
    enum az_status st = respond_json_text(req, 200, az->description);
    return st == AZ_OK ? respond_cached(req, DOCUMENT_MAX_AGE) : st;
}

/* Return the table of a body or an answer of the admin API that has this name, or NULL. */
static const struct field_table *
admin_table_named(const char *name)
{
    for (size_t i = 0; i < routes_count; i++) {
        const struct field_table *table = routes[i].fields;
        if (table != NULL && table->name != NULL && strcmp(table->name, name) == 0
            && routes[i].dialect == DIALECT_ADMIN)
            return table;
    }
    return NULL;
}

enum az_status
api_schema_handle(struct request *req)
{
    const struct field_table *table = admin_table_named(req->path_value[0]);
    struct jsonx_build schemas = {jsonx_own(req->op.mem, json_object()), false};
    if (table == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no body of the admin API has this name");
    struct jsonx_build document = {jsonx_own(req->op.mem, schema_of_table(&schemas, table)), false};
    if (document.value == NULL || jsonx_built(&schemas) == NULL)
        return op_no_memory(&req->op);
    jsonx_set(&document, "components", json_pack("{s:O}", "schemas", schemas.value));
    return respond_json(req, 200, jsonx_built(&document));
}
