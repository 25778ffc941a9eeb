/* The routes and tools of a managed resource that come from a document of the operator, as the
 * member `import` of a manifest's template says (gateway-admin.md 3.7). */
#ifndef AZ_MANAGED_IMPORT_H
#define AZ_MANAGED_IMPORT_H

#include "managed/import/manifest.h"

/* Members of `import`: format, document (a whole ${settings.x}) and writeScope. */
extern const struct field_table managed_import_table;

/*
 * Put routes, tools and, if it has none, upstreamUrl into a filled document in the place of its
 * `import`. A document without `import` stays as it is. AZ_INVALID: a fault was reported, with a
 * place such as "settings.document.paths./pets.get". AZ_SERVER_ERROR: out of memory.
 */
enum az_status managed_import(TALLOC_CTX *mem, const struct managed_manifest *manifest,
                              json_t *filled, field_fault_fn *fault, void *fault_arg);

#endif
