/* Decisions: the evaluator that walks the tree, and the rule that makes one answer of policies. */
#ifndef AZ_CLI_CEDAR_AUTHORIZE_H
#define AZ_CLI_CEDAR_AUTHORIZE_H

#include "cedar/ast.h"
#include "cedar/entities.h"

/* Ids of policies, in the order of the file. */
struct cedar_ids {
    struct cedar_text *id;
    size_t count;
};

struct cedar_answer {
    bool allow;
    struct cedar_ids reason; /* satisfied forbids, or if there is none, satisfied permits */
    struct cedar_ids errors; /* policies whose evaluation failed; they have no effect */
};

/* The outcome of one policy. A lack of memory is not an error of the policy, because a forbid that
 * errors is skipped. */
enum cedar_outcome { CEDAR_NOT_SATISFIED, CEDAR_SATISFIED, CEDAR_ERROR, CEDAR_NO_MEMORY };

/* Decide by the outcomes, one for each policy: allow if a permit is satisfied and no forbid is.
 * False: no memory, here or in an outcome. */
bool cedar_decide(TALLOC_CTX *mem, const struct cedar_file *file, const enum cedar_outcome *outcome,
                  struct cedar_answer *ret);

/* Evaluate an expression. False: it has no value, such as 1 + true, or there was no memory
 * (*ret_no_memory). The value belongs to mem or to the inputs. */
bool cedar_evaluate(TALLOC_CTX *mem, const struct cedar_node *node,
                    const struct cedar_entities *entities, const struct cedar_request *request,
                    struct cedar_value *ret, bool *ret_no_memory);

/* Evaluate all policies and decide. False: no memory. */
bool cedar_authorize(TALLOC_CTX *mem, const struct cedar_file *file,
                     const struct cedar_entities *entities, const struct cedar_request *request,
                     struct cedar_answer *ret);

#endif
