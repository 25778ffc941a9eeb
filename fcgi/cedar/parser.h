/* The parts that parse.c, parse_expression.c and parse_operand.c share. */
#ifndef AZ_CEDAR_PARSER_H
#define AZ_CEDAR_PARSER_H

#include "cedar/lex.h"

struct cedar_parser {
    TALLOC_CTX *mem;
    struct cedar_lexer lexer;
    struct cedar_token token; /* the next one */
    struct cedar_fault *fault;
    unsigned nesting; /* brackets that are open */
    size_t operands;  /* of chains that have been read */
};

/* A list that grows. Zero it; `items` belongs to mem. */
struct cedar_list {
    void *items;
    size_t count, room;
};

/* Return room for one more item of a size, zeroed; NULL with the fault recorded: no memory. */
void *cedar_list_add(struct cedar_parser *parser, struct cedar_list *list, size_t size);

/* Return the index of a text that stands earlier in the array too, or `count`. */
size_t cedar_find_twice(struct cedar_parser *parser, const struct cedar_text *text, size_t count);

/* Read the next token. */
void cedar_next(struct cedar_parser *parser);

/* True if the next token is this one; accept also takes it. */
bool cedar_at(const struct cedar_parser *parser, enum cedar_token_kind kind);
bool cedar_at_word(const struct cedar_parser *parser, const char *word);
bool cedar_accept(struct cedar_parser *parser, enum cedar_token_kind kind);
bool cedar_accept_word(struct cedar_parser *parser, const char *word);

/* Take a token, or refuse the next one. */
bool cedar_expect(struct cedar_parser *parser, enum cedar_token_kind kind);

/* Refuse the next token: "expected WHAT, found ...". Returns false. */
bool cedar_unexpected(struct cedar_parser *parser, const char *what);

/* True for the words that cannot be names. */
bool cedar_is_reserved(struct cedar_text name);

/* Take a name that is no reserved word. */
bool cedar_take_name(struct cedar_parser *parser, const char *what, struct cedar_text *ret);

/* Take a string, and replace its escapes. */
bool cedar_take_string(struct cedar_parser *parser, struct cedar_text *ret);

/* Take the name of an entity type: A::B. */
bool cedar_take_type(struct cedar_parser *parser, struct cedar_text *ret);

/* Take an entity: A::"id". */
struct cedar_node *cedar_take_entity(struct cedar_parser *parser);

/* Make a node of a kind with children; NULL, with the fault recorded: a child is NULL, or it is
 * nested too deeply. */
struct cedar_node *cedar_node(struct cedar_parser *parser, enum cedar_kind kind,
                              struct cedar_place place, size_t children,
                              struct cedar_node *const *child);
struct cedar_node *cedar_node_pair(struct cedar_parser *parser, enum cedar_kind kind,
                                   struct cedar_place place, struct cedar_node *left,
                                   struct cedar_node *right);

/* Set the texts of a node, which may be NULL; returns it. */
struct cedar_node *cedar_with_texts(struct cedar_node *node, struct cedar_text *text, size_t count);

/* Count a bracket that is opened, or the `if` of an expression. False: there are too many. */
bool cedar_open_bracket(struct cedar_parser *parser);

/* Parse an operand with the signs before it. */
struct cedar_node *cedar_parse_unary(struct cedar_parser *parser);

/* Parse an expression. NULL: the fault was recorded. */
struct cedar_node *cedar_parse_expression(struct cedar_parser *parser);

#endif
