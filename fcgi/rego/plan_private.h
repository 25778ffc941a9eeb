/* A plan that is being read, shared by plan.c and plan_statement.c. */
#ifndef AZ_REGO_PLAN_PRIVATE_H
#define AZ_REGO_PLAN_PRIVATE_H

#include "rego/plan.h"

/* Numbers of locals in a plan. */
#define PLAN_LOCAL_MAX 1048576
/* Octets of the reason why a plan is refused. */
#define PLAN_WHY_SIZE 256

/* A reading. */
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
    /* Of the function that is being read: the new number of each local plus one; 0: not seen. */
    uint32_t *renumbered;
    uint32_t highest; /* entries of `renumbered` */
    struct rego_function *now;
};

/* Refuse the plan for a reason; the first one stays. Always returns false. */
bool plan_refuse(struct plan_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Take memory. NULL: the plan is refused. */
void *plan_take(struct plan_reader *reader, size_t octets);

/* Read the local variable that a member names; *ret is its new number: locals are numbered in the
 * order in which they are seen, so that a call needs no more room than it uses. */
bool plan_read_local(struct plan_reader *reader, const json_t *json, const char *name,
                     uint32_t *ret);

/* Give a local variable its number. */
bool plan_number(struct plan_reader *reader, uint32_t local, uint32_t *ret);

/* Read blocks, with all that stands in them. */
bool plan_read_blocks(struct plan_reader *reader, const json_t *list, const struct rego_block **ret,
                      uint32_t *ret_count);

#endif
