/* Manifests of connectors: a template of a managed resource, with settings and scopes
 * (gateway-admin.md 3.7). */
#ifndef AZ_MANAGED_MANIFEST_H
#define AZ_MANAGED_MANIFEST_H

#include "base/json/fields.h"
#include "managed/document.h"
#include "managed/managed.h"

/* Largest manifest in octets, and its nesting, which includes that of a document in one of its
 * members. */
#define MANIFEST_MAX (512 * 1024)
#define MANIFEST_DEPTH (MANAGED_DOCUMENT_DEPTH + 1)

/* A manifest. Texts and values live as long as its document. */
struct managed_manifest {
    const char *id, *name, *version, *category;
    const char *description, *docs_url, *resource_type; /* or NULL */
    const json_t *document;                             /* the whole */
    const json_t *settings; /* JSON Schema of an object, with writeOnly, or NULL */
    const json_t *scopes;   /* array of {name, description, implies}, or NULL */
    const json_t *resource; /* template of its resource */
};

/*
 * Read and check a manifest. AZ_INVALID: a fault was told. AZ_SERVER_ERROR: out of memory. A text
 * of the template that has "${" must be a whole ${settings.x} or ${input.name}. A setting that is
 * writeOnly can stand in the place of a secret of upstreamAuth alone, and such a place takes no
 * other text: a manifest is shown to every administrator.
 */
enum az_status managed_manifest_read(TALLOC_CTX *mem, const json_t *document, field_fault_fn *fault,
                                     void *fault_arg, struct managed_manifest *ret);

/* Return the key of the policy data row of a connector, svc.connectors.ID, on mem, or NULL if out
 * of memory. */
const char *managed_manifest_key(TALLOC_CTX *mem, const char *id);

/* Return the payload of the policy data row that a manifest brings, or NULL. `document` may be a
 * stored manifest. */
const json_t *managed_manifest_policy(const json_t *document);

/* Return the JSON Schema of the settings without writeOnly and required, closed to other members;
 * on mem, or NULL if out of memory. */
json_t *managed_manifest_schema(TALLOC_CTX *mem, const struct managed_manifest *manifest);

/* Tell a fault for each required setting that has no value and no default ("settings.clientId").
 * Return true if there was none. `given` may be NULL. */
bool managed_manifest_complete(const struct managed_manifest *manifest, const json_t *given,
                               field_fault_fn *fault, void *fault_arg);

/* Return a copy of the settings that may be stored and shown: without the writeOnly ones; on mem,
 * or NULL if out of memory. `given` may be NULL. */
json_t *managed_manifest_plain(TALLOC_CTX *mem, const struct managed_manifest *manifest,
                               const json_t *given);

/*
 * Return the document of the resource `name`, on mem, or NULL if out of memory. A member whose
 * setting has neither a value nor a default is left out. Routes and tools have the origin
 * "manifest".
 */
json_t *managed_manifest_fill(TALLOC_CTX *mem, const struct managed_manifest *manifest,
                              const json_t *given, const char *name);

/*
 * Put the routes and tools of a filled document in the place of those that came with a manifest
 * before. Those of the origin local stay, and win over new ones of the same id or name; what an
 * operator switched off stays off. Return false if memory ran out.
 */
bool managed_manifest_update(json_t *stored, const json_t *filled);

/* Return the names of a manifest's scopes that the other manifest lacks, and of scopes that both
 * have with different `implies`, as an array on mem, or NULL if out of memory. */
json_t *managed_scopes_added(TALLOC_CTX *mem, const json_t *was, const json_t *is);
json_t *managed_scopes_changed(TALLOC_CTX *mem, const json_t *was, const json_t *is);

/*
 * Return an object of the scopes of a manifest that imply others: an array of these each, also of
 * those that follow from them; on mem. Names that the manifest does not have are left out: a
 * connector defines its own scopes only. The result is NULL if out of memory.
 */
json_t *managed_scopes_implied(TALLOC_CTX *mem, const json_t *scopes);

#endif
