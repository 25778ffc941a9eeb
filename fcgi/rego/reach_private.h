/* The functions that an entrypoint reaches in two plans, shared by reach.c and reach_data.c. */
#ifndef AZ_REGO_REACH_PRIVATE_H
#define AZ_REGO_REACH_PRIVATE_H

#include "rego/reach.h"

/* The locals of each function that hold the input and the base documents; parameters follow. */
enum { LOCAL_INPUT, LOCAL_DATA, LOCAL_FIRST };

/* A function of the one plan, and what stands in its place in the other. */
struct reached {
    const struct rego_function *one, *other; /* NULL: it is not reached */
    const struct rego_value *
        *argument; /* for each local variable: the constant that all calls give it; NULL before the
                      first call; &reach_various if they give different values */
};

struct reach {
    TALLOC_CTX *mem;
    const struct rego_question *one, *other;
    struct reached *function; /* by the index in the one plan */
    uint32_t *order, count;   /* indexes of those that are reached */
};

/* Stands for an argument that is not the same constant in all calls. */
extern const struct rego_value reach_various;

/* True if two values, which may be undefined, are the same, numbers in the same spelling. */
bool reach_same_value(const struct rego_value *one, const struct rego_value *other);

/* Visit statements, those of inner blocks too, as long as `visit` returns true. */
typedef bool reach_visit_fn(void *arg, const struct rego_statement *statement);
bool reach_visit(const struct rego_block *block, uint32_t count, reach_visit_fn *visit, void *arg);

/* True if the base documents that the functions look up are equal on both sides. */
bool reach_data_is_same(struct reach *reach);

#endif
