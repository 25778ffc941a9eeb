/* Plans: policies as OPA compiles them (`opa build -t plan`), read for machine.h. "Intermediate
 * Representation" of OPA's documentation describes them. */
#ifndef AZ_REGO_PLAN_H
#define AZ_REGO_PLAN_H

#include <jansson.h>
#include <stdint.h>

#include "rego/value.h"

struct rego_builtin;
struct rego_block;

/* The kinds of statements, in the order of plan.c's table. */
enum rego_kind {
    REGO_RETURN,
    REGO_CALL,
    REGO_CALL_DYNAMIC,
    REGO_BLOCKS,
    REGO_BREAK,
    REGO_DOT,
    REGO_LEN,
    REGO_SCAN,
    REGO_NOT,
    REGO_ASSIGN_INT,
    REGO_ASSIGN_VAR,
    REGO_ASSIGN_VAR_ONCE,
    REGO_RESET_LOCAL,
    REGO_MAKE, /* a constant: null, a number */
    REGO_MAKE_ARRAY,
    REGO_MAKE_OBJECT,
    REGO_MAKE_SET,
    REGO_EQUAL,
    REGO_NOT_EQUAL,
    REGO_IS_ARRAY,
    REGO_IS_OBJECT,
    REGO_IS_SET,
    REGO_IS_DEFINED,
    REGO_IS_UNDEFINED,
    REGO_ARRAY_APPEND,
    REGO_OBJECT_INSERT,
    REGO_OBJECT_INSERT_ONCE,
    REGO_OBJECT_MERGE,
    REGO_SET_ADD,
    REGO_WITH,
    REGO_RESULT_SET_ADD,
    REGO_NOP,
};

/* A place that a statement reads: a local variable or a constant. */
struct rego_operand {
    const struct rego_value *constant; /* NULL: a local */
    uint32_t local;
};

struct rego_statement {
    uint8_t kind;
    bool literal;       /* of a set or object: it is written with variables */
    bool ordered;       /* of a scan: its order shows, because its block appends to an array */
    uint32_t target;    /* local that is written; index of a break */
    uint32_t file, row; /* place in the policy, for messages */
    struct rego_operand a, b;             /* operands; of a scan, b is the local of the key */
    const struct rego_function *function; /* of a call; NULL: a builtin */
    const struct rego_builtin *builtin;   /* of a call; NULL: the machine lacks it */
    const char *name;                     /* of a builtin */
    uint32_t count;                       /* entries of `operand`, or of `block` */
    union {
        const struct rego_operand *operand; /* of a call; path of a dynamic call */
        const struct rego_block *block;     /* of blocks, scan, not, with */
    };
    const struct rego_value *const *path; /* of a with: names, then NULL */
};

struct rego_block {
    const struct rego_statement *statement;
    uint32_t count;
};

/* True if a statement has blocks, `count` of them. */
static inline bool
rego_has_blocks(const struct rego_statement *statement)
{
    return statement->kind == REGO_BLOCKS || statement->kind == REGO_SCAN
           || statement->kind == REGO_NOT || statement->kind == REGO_WITH;
}

/* A function, or the plan of an entrypoint. */
struct rego_function {
    const char *name;
    uint32_t index;   /* in the plan */
    uint32_t params;  /* the first locals; always input and data, then the arguments */
    uint32_t returns; /* local */
    uint32_t locals;  /* number */
    const struct rego_block *block;
    uint32_t blocks;
    bool lacks; /* the function, or one that it calls, calls a builtin that the machine lacks */
};

struct rego_plan {
    const struct rego_function *function; /* then the entrypoints' */
    uint32_t functions;
    const struct rego_function *entrypoint;
    uint32_t entrypoints;
    const struct rego_value *dynamic; /* functions by path: objects of objects of indices */
    const char *const *file;          /* names of files by number */
    uint32_t files;
    const char *const *lacking; /* names of builtins that the machine lacks */
    uint32_t lackings;
};

/*
 * Read a plan, which is JSON text. Everything is in the arena, and nothing of the text is kept.
 * NULL, with the reason in *ret_why (in the arena or constant): this machine does not understand
 * the plan, or the arena is full. A call of a builtin that is missing is no fault here; see
 * rego_plan_lacks().
 */
const struct rego_plan *rego_plan_read(struct rego_arena *arena, const char *text, size_t length,
                                       const char **ret_why);

/* Most octets of a plan in memory: the largest bundle (ARCHIVE_MAX) as a tree, which takes four
 * times the octets of its text. */
#define REGO_PLAN_OCTETS_MAX ((size_t) 256 << 20)

/* A plan that several readers need. Reading the shipped policy's takes 17 ms. */
struct rego_plan_text {
    const char *text; /* plan.json; NULL: there is none */
    size_t length;
    const struct rego_plan *plan; /* NULL: it was not read yet, or cannot be read */
    const char *why;              /* why it cannot be read; NULL: it was not read yet, or is read */
};

/* Return the plan of a text, which is read into memory of mem at the first call alone. NULL: see
 * text->why. */
const struct rego_plan *rego_plan_once(TALLOC_CTX *mem, struct rego_plan_text *text);

/* Return the entrypoint of a name such as "svc/decision/issue", or NULL. */
const struct rego_function *rego_plan_entrypoint(const struct rego_plan *plan, const char *name);

#endif
