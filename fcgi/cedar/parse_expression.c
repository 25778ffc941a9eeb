/* Expressions of Cedar. The grammar, from the loosest operator to the tightest:
 *
 *   Expr     = 'if' Expr 'then' Expr 'else' Expr | Or
 *   Or       = And {'||' And}
 *   And      = Relation {'&&' Relation}
 *   Relation = Sum [('==' | '!=' | '<' | '<=' | '>' | '>=' | 'in') Sum | 'like' STRING
 *            | 'has' (NAME {'.' NAME} | STRING) | 'is' Type ['in' Sum]]
 *   Sum      = Product {('+' | '-') Product}
 *   Product  = Unary {'*' Unary}
 *   Unary    = ['!' ['!' ['!' ['!']]] | '-' ['-' ['-' ['-']]]] Member
 *   Member   = Primary {'.' NAME ['(' [Exprs] ')'] | '[' STRING ']'}
 */
#include "config.h"

#include <string.h>

#include "cedar/parser.h"

/* Operators between any number of operands, one level of precedence after the other. */
static const struct {
    enum cedar_kind kind;
    enum cedar_token_kind sign, other; /* other: the operand is subtracted */
} levels[] = {
    {CEDAR_OR,      TOKEN_OR,   TOKEN_FAILED},
    {CEDAR_AND,     TOKEN_AND,  TOKEN_FAILED},
    {CEDAR_SUM,     TOKEN_PLUS, TOKEN_MINUS },
    {CEDAR_PRODUCT, TOKEN_STAR, TOKEN_FAILED},
};
enum { LEVEL_OR, LEVEL_AND, LEVEL_SUM, LEVEL_PRODUCT };

static const struct {
    enum cedar_token_kind sign;
    enum cedar_kind kind;
} comparisons[] = {
    {TOKEN_EQUAL,         CEDAR_EQUAL        },
    {TOKEN_NOT_EQUAL,     CEDAR_NOT_EQUAL    },
    {TOKEN_LESS,          CEDAR_LESS         },
    {TOKEN_LESS_EQUAL,    CEDAR_LESS_EQUAL   },
    {TOKEN_GREATER,       CEDAR_GREATER      },
    {TOKEN_GREATER_EQUAL, CEDAR_GREATER_EQUAL},
};
#define COMPARISONS (sizeof(comparisons) / sizeof(comparisons[0]))

/* Signs that other languages have as operators. */
static const struct {
    enum cedar_token_kind sign;
    const char *why;
} strange[] = {
    {TOKEN_SLASH,   "Cedar has no division"                   },
    {TOKEN_PERCENT, "Cedar has no remainder"                  },
    {TOKEN_ASSIGN,  "Cedar has no assignment; compare by `==`"},
};

static struct cedar_node *parse_level(struct cedar_parser *parser, int level);

/* Parse what follows `has`. */
static struct cedar_node *
parse_has(struct cedar_parser *parser, struct cedar_place place, struct cedar_node *left)
{
    struct cedar_list names = {NULL, 0, 0};
    bool more = true;
    for (bool first = true; more; first = false) {
        struct cedar_text *name = cedar_list_add(parser, &names, sizeof(*name));
        bool string = first && cedar_at(parser, TOKEN_STRING);
        if (name == NULL
            || (string ? !cedar_take_string(parser, name)
                       : !cedar_take_name(parser, "the name of an attribute", name)))
            return NULL;
        more = !string && cedar_accept(parser, TOKEN_DOT);
    }
    return cedar_with_texts(cedar_node(parser, CEDAR_HAS, place, 1, &left), names.items,
                            names.count);
}

static struct cedar_node *
parse_like(struct cedar_parser *parser, struct cedar_place place, struct cedar_node *left)
{
    struct cedar_text *parts = NULL;
    size_t count = 0;
    if (!cedar_at(parser, TOKEN_STRING)) {
        cedar_unexpected(parser, "a string with a pattern");
        return NULL;
    }
    if (!cedar_unescape(parser->mem, &parser->token, true, &parts, &count, parser->fault))
        return NULL;
    cedar_next(parser);
    return cedar_with_texts(cedar_node(parser, CEDAR_LIKE, place, 1, &left), parts, count);
}

static struct cedar_node *
parse_is(struct cedar_parser *parser, struct cedar_place place, struct cedar_node *left)
{
    struct cedar_text *type = talloc_zero(parser->mem, struct cedar_text);
    if (type == NULL) {
        cedar_fail(parser->fault, place, "out of memory");
        return NULL;
    }
    if (!cedar_take_type(parser, type))
        return NULL;
    if (!cedar_accept_word(parser, "in"))
        return cedar_with_texts(cedar_node(parser, CEDAR_IS, place, 1, &left), type, 1);
    struct cedar_node *right = parse_level(parser, LEVEL_SUM);
    return cedar_with_texts(cedar_node_pair(parser, CEDAR_IS, place, left, right), type, 1);
}

/* Return the kind of a comparison by the next token, or CEDAR_LITERAL. */
static enum cedar_kind
comparison(const struct cedar_parser *parser)
{
    for (size_t i = 0; i < COMPARISONS; i++)
        if (cedar_at(parser, comparisons[i].sign))
            return comparisons[i].kind;
    return cedar_at_word(parser, "in") ? CEDAR_IN : CEDAR_LITERAL;
}

static struct cedar_node *
parse_relation(struct cedar_parser *parser)
{
    struct cedar_node *left = parse_level(parser, LEVEL_SUM);
    struct cedar_place place = parser->token.place;
    enum cedar_kind kind = comparison(parser);
    if (left == NULL)
        return NULL;
    if (kind != CEDAR_LITERAL) {
        cedar_next(parser);
        left = cedar_node_pair(parser, kind, place, left, parse_level(parser, LEVEL_SUM));
    } else if (cedar_accept_word(parser, "has"))
        left = parse_has(parser, place, left);
    else if (cedar_accept_word(parser, "like"))
        left = parse_like(parser, place, left);
    else if (cedar_accept_word(parser, "is"))
        left = parse_is(parser, place, left);
    else
        return left;
    if (left != NULL
        && (comparison(parser) != CEDAR_LITERAL || cedar_at_word(parser, "has")
            || cedar_at_word(parser, "like") || cedar_at_word(parser, "is"))) {
        cedar_fail(parser->fault, parser->token.place,
                   "comparisons do not chain; use parentheses or `&&`");
        return NULL;
    }
    return left;
}

/* Count an operand of a chain. False: the file has too many. */
static bool
count_operand(struct cedar_parser *parser)
{
    if (parser->operands++ < CEDAR_OPERANDS_MAX)
        return true;
    cedar_fail(
        parser->fault, parser->token.place,
        "more than %d operands of `&&`, `||`, `+`, `-` and `*` in one file; use sets, such as "
        "`[...].contains(...)`, or give policies in several files",
        CEDAR_OPERANDS_MAX);
    return false;
}

static struct cedar_node *
parse_level(struct cedar_parser *parser, int level)
{
    struct cedar_list list = {NULL, 0, 0}, minus = {NULL, 0, 0};
    struct cedar_place place = parser->token.place;
    bool subtracted = false;
    for (;;) {
        struct cedar_node *node = level == LEVEL_PRODUCT ? cedar_parse_unary(parser)
                                  : level == LEVEL_AND   ? parse_relation(parser)
                                                         : parse_level(parser, level + 1),
                          **item;
        bool *sign;
        if (node == NULL || (item = cedar_list_add(parser, &list, sizeof(*item))) == NULL
            || (sign = cedar_list_add(parser, &minus, sizeof(*sign))) == NULL)
            return NULL;
        *item = node;
        *sign = subtracted;
        subtracted = cedar_at(parser, levels[level].other);
        if (!subtracted && !cedar_at(parser, levels[level].sign))
            break;
        /* The first operand of a chain counts with the second one. */
        if (list.count == 1) {
            place = parser->token.place;
            parser->operands++;
        }
        if (!count_operand(parser))
            return NULL;
        cedar_next(parser);
    }
    if (list.count == 1)
        return *(struct cedar_node **) list.items;
    struct cedar_node *node = cedar_node(parser, levels[level].kind, place, list.count, list.items);
    if (node != NULL && level == LEVEL_SUM)
        node->minus = minus.items;
    return node;
}

static struct cedar_node *
parse_if(struct cedar_parser *parser)
{
    static const char *const words[] = {"if", "then", "else"};
    struct cedar_place place = parser->token.place;
    struct cedar_node *part[3];
    if (!cedar_open_bracket(parser))
        return NULL;
    for (int i = 0; i < 3; i++) {
        char what[8] = "`";
        strcat(strcat(what, words[i]), "`");
        if (!cedar_accept_word(parser, words[i])) {
            cedar_unexpected(parser, what);
            return NULL;
        }
        if ((part[i] = cedar_parse_expression(parser)) == NULL)
            return NULL;
    }
    parser->nesting--;
    return cedar_node(parser, CEDAR_IF, place, 3, part);
}

struct cedar_node *
cedar_parse_expression(struct cedar_parser *parser)
{
    struct cedar_node *node =
        cedar_at_word(parser, "if") ? parse_if(parser) : parse_level(parser, LEVEL_OR);
    for (size_t i = 0; node != NULL && i < sizeof(strange) / sizeof(strange[0]); i++)
        if (cedar_at(parser, strange[i].sign)) {
            cedar_fail(parser->fault, parser->token.place, "%s", strange[i].why);
            return NULL;
        }
    return node;
}
