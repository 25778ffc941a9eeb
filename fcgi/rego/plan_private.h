/* A plan that is being read, shared by plan.c and plan_statement.c. */
#ifndef AZ_REGO_PLAN_PRIVATE_H
#define AZ_REGO_PLAN_PRIVATE_H

#include <jansson.h>

#include "rego/plan.h"

/* Numbers of locals in a plan. */
#define PLAN_LOCAL_MAX 1048576
/* Bounds of what stands in a function; the shipped policy has at most 300 locals, nested 12 deep.
 * They limit the memory and the stack that a plan from elsewhere than OPA can take. */
#define PLAN_NESTING_MAX 200
/* Octets of the reason why a plan is refused. */
#define PLAN_WHY_SIZE 256

/* The state of reading one plan. */
struct plan_reader {
    struct rego_arena *arena;
    char *why;                        /* PLAN_WHY_SIZE octets */
    const struct rego_value **string; /* constants, for operands */
    size_t strings;
    struct rego_function *function; /* all of them, then the entrypoints */
    json_t *index;                  /* index of a function by its name */
    struct rego_plan *plan;
    const char **lacking;
    unsigned depth;
    unsigned appends; /* statements so far that append to an array made outside of their block */
    /* New number plus one of each local of the function that is being read; 0: not seen yet. */
    uint32_t *renumbered;
    uint32_t highest; /* entries of `renumbered` */
    struct rego_function *now;
};

/* Refuse the plan for a reason; the first one stays. Always returns false. */
bool plan_refuse(struct plan_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return the member of an object, or NULL; NULL also for NULL and for other values. */
const struct rego_value *plan_member(const struct rego_value *object, const char *name);

/* Return the number of items of an array; 0 also for NULL and for other values. */
size_t plan_count(const struct rego_value *array);

/* Return an item of an array, or NULL. */
const struct rego_value *plan_item(const struct rego_value *array, size_t at);

/* Return the text of a string without NUL, or NULL. */
const char *plan_text(const struct rego_value *value);

/* Take memory. NULL: the plan is refused. */
void *plan_take(struct plan_reader *reader, size_t octets);

/* Read the local variable that a value names; *ret is its new number: locals are numbered in the
 * order in which they are seen, so that a call needs no more room than it uses. */
bool plan_read_local_of(struct plan_reader *reader, const struct rego_value *value, uint32_t *ret);

/* The same for a member. */
bool plan_read_local(struct plan_reader *reader, const struct rego_value *json, const char *name,
                     uint32_t *ret);

/* Give a local variable its number. */
bool plan_number(struct plan_reader *reader, uint32_t local, uint32_t *ret);

/* Read blocks with their statements. */
bool plan_read_blocks(struct plan_reader *reader, const struct rego_value *list,
                      const struct rego_block **ret, uint32_t *ret_count);

#endif
