/* The syntax tree of a Cedar file. */
#ifndef AZ_CEDAR_AST_H
#define AZ_CEDAR_AST_H

#include "cedar/value.h"

/* Deepest nesting of an expression, of brackets and of operators; evaluator, generator and printer
 * recurse as deep. Rules that people write nest far less. */
#define CEDAR_NESTING_MAX 200

/* Operands of `&&`, `||`, sums and products of a file. Each is a rule or a part of one, and OPA
 * takes a millisecond of a processor to compile and plan it (measured: 1,000 take 1.2 s, 2,000
 * take 2.2 s, 20,000 end no save), whether they stand in one chain or in many. A thousand policies
 * have fewer. */
#define CEDAR_OPERANDS_MAX 5000

/* Longest text of a file, in octets. */
#define CEDAR_FILE_MAX (512 * 1024)

/* A place in a file; both count from 1, columns in characters. */
struct cedar_place {
    unsigned line, column;
};

/* The reason why a file is refused. */
struct cedar_fault {
    struct cedar_place place;
    char text[256]; /* "expected `;`, found `when`" */
};

enum cedar_variable { CEDAR_PRINCIPAL, CEDAR_ACTION, CEDAR_RESOURCE, CEDAR_CONTEXT };
extern const char *const cedar_variable_names[];

enum cedar_kind {
    CEDAR_LITERAL,  /* value */
    CEDAR_VARIABLE, /* variable */
    CEDAR_OR,       /* children, at least 2 */
    CEDAR_AND,      /* the same */
    CEDAR_SUM,      /* the same; `minus` */
    CEDAR_PRODUCT,  /* the same */
    CEDAR_NOT,      /* 1 child */
    CEDAR_NEGATE,   /* 1 child */
    CEDAR_IF,       /* 3 children */
    CEDAR_EQUAL,    /* 2 children, and so the next six */
    CEDAR_NOT_EQUAL,
    CEDAR_LESS,
    CEDAR_LESS_EQUAL,
    CEDAR_GREATER,
    CEDAR_GREATER_EQUAL,
    CEDAR_IN,
    CEDAR_IS,        /* 1 child, or 2 with `in`; 1 text */
    CEDAR_HAS,       /* 1 child; texts are the path */
    CEDAR_LIKE,      /* 1 child; texts are the parts between the wildcards */
    CEDAR_ATTRIBUTE, /* 1 child, 1 text */
    CEDAR_SET_OF,    /* children */
    CEDAR_RECORD_OF, /* children and as many texts */
    CEDAR_CALL,      /* children are the arguments, of a method the receiver first; function */
};

struct cedar_function;

struct cedar_node {
    enum cedar_kind kind;
    struct cedar_place place;
    unsigned height; /* 1 without children; at most CEDAR_NESTING_MAX */
    struct cedar_node **child;
    size_t children;
    struct cedar_text *text;
    size_t texts;
    union {
        struct cedar_value value;
        enum cedar_variable variable;
        bool *minus; /* for each child of a sum: it is subtracted */
        const struct cedar_function *function;
    };
};

struct cedar_annotation {
    struct cedar_text name, value;
};

struct cedar_condition {
    bool unless;
    struct cedar_node *body;
};

struct cedar_policy {
    struct cedar_place place;
    bool forbid;
    struct cedar_text id; /* of @id, else policy<N> */
    struct cedar_annotation *annotation;
    size_t annotations;
    struct cedar_node *scope[3]; /* of principal, action and resource; NULL: any */
    struct cedar_condition *condition;
    size_t conditions;
};

struct cedar_file {
    struct cedar_policy *policy;
    size_t policies;
};

#endif
