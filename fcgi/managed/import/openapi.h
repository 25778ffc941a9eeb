/* OpenAPI 3.x documents: routes and tools of a managed resource (gateway-admin.md 3.7). Nothing is
 * fetched: a reference is one into the document itself. */
#ifndef AZ_MANAGED_OPENAPI_H
#define AZ_MANAGED_OPENAPI_H

#include "base/json/fields.h"
#include "managed/reader.h"

/* Largest document, in octets: it is stored with the connector, and read again by each sync. */
#define OPENAPI_DOCUMENT_MAX (512 * 1024)
/* Operations: each is a route and a tool. */
#define OPENAPI_OPERATIONS_MAX MANAGED_ROUTES_MAX
/* Parameters of one operation: the longest list of names that a route or tool takes. */
#define OPENAPI_PARAMETERS_MAX MANAGED_NAMES_MAX
/* References that are followed one inside the other. */
#define OPENAPI_HOPS_MAX 16
/* Length of a reference, in octets. */
#define OPENAPI_REF_MAX 512
/* Nesting of one schema after its references are replaced; a stored resource is read back with 32
 * levels, six of which surround it. */
#define OPENAPI_NESTING_MAX 24
/* All schemas of a document after their references are replaced, in octets. A small document can
 * grow without an end: each of thirty schemas that refers twice to the next one. */
#define OPENAPI_SCHEMAS_MAX (1024 * 1024)

/* The input of a reading. */
struct openapi_reading {
    TALLOC_CTX *mem;
    const json_t *document;
    const char *write_scope; /* scope of operations other than GET; NULL: the default one */
    field_fault_fn *fault;   /* gets places in the document: "paths./pets.get.parameters[0]" */
    void *fault_arg;
};

/* The routes and tools of a document; they belong to mem. */
struct openapi_import {
    json_t *routes, *tools; /* arrays */
    const char *server;     /* URL of its one server, or NULL if it has none */
};

/* Read a document. AZ_INVALID: a fault was told. AZ_SERVER_ERROR: out of memory. Operations with
 * what a tool cannot do (cookies, bodies other than JSON, callbacks) are faults: an operation that
 * was left out silently would be noticed late. */
enum az_status openapi_read(const struct openapi_reading *reading, struct openapi_import *ret);

#endif
