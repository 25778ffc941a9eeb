/* Policies as Rego, for the runtime etc/policy/svc/cedar/rt.rego, which describes the values. */
#ifndef AZ_CEDAR_REGO_H
#define AZ_CEDAR_REGO_H

#include "cedar/ast.h"
#include "cedar/entities.h"

/*
 * Return the module of a package. Its rules `permits`, `forbids` and `errors` are the sets of ids
 * of the policies with that outcome, `result` is an object of them, and `forbidding` is the set of
 * the ids of all policies that forbid. The same file always gives the same text. NULL: something
 * cannot be compiled exactly, *ret_fault says where, or no memory.
 */
char *cedar_rego(TALLOC_CTX *mem, const struct cedar_file *file, const char *package,
                 struct cedar_fault *ret_fault);

/* Return entities as the JSON of input.cedar.entities, and a request as that of input.cedar without
 * them. NULL: no memory. */
char *cedar_rego_entities(TALLOC_CTX *mem, const struct cedar_entities *entities);
char *cedar_rego_request(TALLOC_CTX *mem, const struct cedar_request *request);

#endif
