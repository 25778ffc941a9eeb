/* Reading and checking ManagedResourceDto (specification 2.10). */
#ifndef AZ_MANAGED_DOCUMENT_H
#define AZ_MANAGED_DOCUMENT_H

#include "base/json/fields.h"
#include "managed/managed.h"

/* Largest document, in octets, its tools included. */
#define MANAGED_DOCUMENT_MAX (1 << 20)

/* Nesting of the schemas of a tool: the schema itself is the first level, one of its properties the
 * second. */
#define MANAGED_SCHEMA_NESTING_MAX 32
/* Nesting of the JSON of a document: two for each level of a schema, which begins in the fourth, or
 * in the sixth in the approved text of a pin. */
#define MANAGED_DOCUMENT_DEPTH (2 * MANAGED_SCHEMA_NESTING_MAX + 5)

/* The state of reading a document. */
struct managed_reading {
    TALLOC_CTX *mem;            /* owns what is made; the texts live as long as the document too */
    const json_t *document;     /* object */
    const char *insecure_hosts; /* SVC_GATEWAY_ALLOWED_INSECURE_HOSTS, or NULL */
    const json_t *secrets;      /* object that names the secrets that are set, or NULL */
    long name_max;              /* SVC_GATEWAY_TOOL_NAME_MAX; 0: MANAGED_EXPOSED_MAX */
    bool stored;                /* the rules of a save passed it: see managed_read() */
    field_fault_fn *fault;      /* called for each fault ("routes[2].path"), or NULL */
    void *fault_arg;
};

/*
 * Read a document. AZ_INVALID: a fault was told. AZ_SERVER_ERROR: out of memory.
 *
 * Rules are those of a save. A stored document met the rules of its day, under the settings of its
 * day, so a fault of a tool or route leaves out that one alone (ret->left_out): the others work. Of
 * tools or routes that have one name today all are left out, because a choice would change what a
 * call reaches; a route that is left out keeps its requests from wider routes. What cannot be read
 * without a guess refuses the document: other members of the resource, and the path or methods of a
 * route.
 */
enum az_status managed_read(const struct managed_reading *reading, struct managed_resource *ret);

/* ManagedResourceDto: its members. */
extern const struct field_table managed_resource_table;

#endif
