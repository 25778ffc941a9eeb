/* Statements that make and change values, for machine.c. */
#ifndef AZ_REGO_MACHINE_PRIVATE_H
#define AZ_REGO_MACHINE_PRIVATE_H

#include "rego/machine.h"

/* The end of a block or statement, unless it is a break, whose index is 0 or more. */
enum { BLOCK_END = -1, BLOCK_RETURN = -2, BLOCK_STOP = -3 };

/* End the evaluation for want of memory. Returns BLOCK_STOP. */
int machine_stop_for_memory(struct rego_machine *machine);

/* Return the value of an operand; NULL: undefined. */
static inline const struct rego_value *
machine_place(const struct rego_value *const *local, const struct rego_operand *operand)
{
    return operand->constant != NULL ? operand->constant : local[operand->local];
}

/* Compare values that may be undefined. */
static inline bool
machine_equal(const struct rego_value *a, const struct rego_value *b)
{
    return a == b || (a != NULL && b != NULL && rego_compare(a, b) == 0);
}

/* Insert into an object; `once`: a key that has another value is a conflict. */
int machine_insert(struct rego_machine *machine, const struct rego_value *const *local,
                   const struct rego_statement *statement, bool once);

/* Add an item to a set or an array. */
int machine_add(struct rego_machine *machine, const struct rego_value *const *local,
                const struct rego_statement *statement, enum rego_type type);

/* Give a local an empty composite. */
int machine_make(struct rego_machine *machine, const struct rego_value **local,
                 const struct rego_statement *statement, enum rego_type type);

/* Merge base documents into the values of rules; base documents take precedence. */
int machine_merge(struct rego_machine *machine, const struct rego_value **local,
                  const struct rego_statement *statement);

/* Assign a value; another one that is there already is a conflict. */
int machine_assign_once(struct rego_machine *machine, const struct rego_value **local,
                        const struct rego_statement *statement);

/* True if what a statement does depends on a value that the question hides. */
bool machine_reads_hidden(const struct rego_value *const *local,
                          const struct rego_statement *statement);

#endif
