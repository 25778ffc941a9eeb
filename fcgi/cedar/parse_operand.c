/* Operands of expressions: the rules Unary, Member and Primary of parse_expression.c. */
#include "config.h"

#include "cedar/function.h"
#include "cedar/parser.h"

/* Most signs before an operand. */
#define SIGNS_MAX 4

struct cedar_node *
cedar_with_texts(struct cedar_node *node, struct cedar_text *text, size_t count)
{
    if (node != NULL) {
        node->text = text;
        node->texts = count;
    }
    return node;
}

bool
cedar_open_bracket(struct cedar_parser *parser)
{
    if (parser->nesting++ < CEDAR_NESTING_MAX)
        return true;
    return cedar_fail(parser->fault, parser->token.place, "more than %d levels are nested here",
                      CEDAR_NESTING_MAX);
}

/* Parse expressions up to a closing bracket; a comma may stand before it. */
static bool
parse_list(struct cedar_parser *parser, enum cedar_token_kind close, struct cedar_list *list)
{
    if (!cedar_open_bracket(parser))
        return false;
    while (!cedar_accept(parser, close)) {
        struct cedar_node *node = cedar_parse_expression(parser), **item;
        if (node == NULL || (item = cedar_list_add(parser, list, sizeof(*item))) == NULL)
            return false;
        *item = node;
        if (!cedar_at(parser, close) && !cedar_expect(parser, TOKEN_COMMA))
            return false;
    }
    parser->nesting--;
    return true;
}

static struct cedar_node *
parse_set(struct cedar_parser *parser)
{
    struct cedar_place place = parser->token.place;
    struct cedar_list list = {NULL, 0, 0};
    cedar_next(parser);
    if (!parse_list(parser, TOKEN_CLOSE_BRACKET, &list))
        return NULL;
    return cedar_node(parser, CEDAR_SET_OF, place, list.count, list.items);
}

/* Take the name of a member. */
static bool
take_member_name(struct cedar_parser *parser, struct cedar_list *names)
{
    struct cedar_text name, *item;
    if (cedar_at(parser, TOKEN_STRING) ? !cedar_take_string(parser, &name)
                                       : !cedar_take_name(parser, "the name of a member", &name))
        return false;
    if ((item = cedar_list_add(parser, names, sizeof(*item))) == NULL)
        return false;
    *item = name;
    return true;
}

static struct cedar_node *
parse_record(struct cedar_parser *parser)
{
    struct cedar_place place = parser->token.place;
    struct cedar_list names = {NULL, 0, 0}, list = {NULL, 0, 0};
    cedar_next(parser);
    if (!cedar_open_bracket(parser))
        return NULL;
    while (!cedar_accept(parser, TOKEN_CLOSE_BRACE)) {
        struct cedar_node *node, **item;
        if (!take_member_name(parser, &names) || !cedar_expect(parser, TOKEN_COLON)
            || (node = cedar_parse_expression(parser)) == NULL
            || (item = cedar_list_add(parser, &list, sizeof(*item))) == NULL)
            return NULL;
        *item = node;
        if (!cedar_at(parser, TOKEN_CLOSE_BRACE) && !cedar_expect(parser, TOKEN_COMMA))
            return NULL;
    }
    parser->nesting--;
    size_t twice = cedar_find_twice(parser, names.items, names.count);
    if (twice < names.count) {
        const struct cedar_node *member = ((struct cedar_node **) list.items)[twice];
        cedar_fail(parser->fault, member->place, "the record has this member twice");
        return NULL;
    }
    struct cedar_node *node = cedar_node(parser, CEDAR_RECORD_OF, place, list.count, list.items);
    if (node != NULL) {
        node->text = names.items;
        node->texts = names.count;
    }
    return node;
}

/* Check the number of arguments of a method that takes a fixed number. */
static bool
check_arguments(struct cedar_parser *parser, const struct cedar_function *function,
                struct cedar_place place, size_t count)
{
    if (!function->checked || (count >= function->minimum && count <= function->maximum))
        return true;
    size_t wanted = function->minimum - function->method;
    return cedar_fail(parser->fault, place, "`%s` takes %zu argument%s", function->name, wanted,
                      wanted == 1 ? "" : "s");
}

/* Parse the arguments of a call; the receiver of a method is the first one. */
static struct cedar_node *
parse_call(struct cedar_parser *parser, struct cedar_text name, struct cedar_place place,
           struct cedar_node *receiver)
{
    const struct cedar_function *function = cedar_function_find(name);
    struct cedar_list list = {NULL, 0, 0};
    bool method = receiver != NULL;
    const char *noun = method ? "method" : "function";
    if (function == NULL) {
        const char *near = cedar_function_nearest(parser->mem, method, name);
        cedar_fail(parser->fault, place, "there is no %s `%.*s`%s%s%s", noun, (int) name.length,
                   name.at, near != NULL ? "; did you mean " : "", near != NULL ? near : "",
                   near != NULL ? "?" : "");
        return NULL;
    }
    if (function->method != method) {
        cedar_fail(parser->fault, place, "`%s` is a %s: write %s%s(...)", function->name,
                   method ? "function" : "method", method ? "" : "x.", function->name);
        return NULL;
    }
    if (method) {
        struct cedar_node **item = cedar_list_add(parser, &list, sizeof(*item));
        if (item == NULL)
            return NULL;
        *item = receiver;
    }
    cedar_next(parser);
    if (!parse_list(parser, TOKEN_CLOSE, &list)
        || !check_arguments(parser, function, place, list.count))
        return NULL;
    struct cedar_node *node = cedar_node(parser, CEDAR_CALL, place, list.count, list.items);
    if (node != NULL)
        node->function = function;
    return node;
}

/* Parse a name that begins a primary: a variable, a call or an entity. */
static struct cedar_node *
parse_named(struct cedar_parser *parser)
{
    struct cedar_parser before = *parser;
    struct cedar_place place = parser->token.place;
    struct cedar_text name;
    if (!cedar_take_name(parser, "an expression", &name))
        return NULL;
    if (cedar_at(parser, TOKEN_OPEN))
        return parse_call(parser, name, place, NULL);
    if (cedar_at(parser, TOKEN_PATH)) {
        *parser = before;
        return cedar_take_entity(parser);
    }
    for (int i = 0; cedar_variable_names[i] != NULL; i++)
        if (cedar_text_is(name, cedar_variable_names[i])) {
            struct cedar_node *node = cedar_node(parser, CEDAR_VARIABLE, place, 0, NULL);
            if (node != NULL)
                node->variable = (enum cedar_variable) i;
            return node;
        }
    cedar_fail(parser->fault, place,
               "there is no variable `%.*s`; expected principal, action, resource or context",
               name.length <= 100 ? (int) name.length : 100, name.at);
    return NULL;
}

static struct cedar_node *
literal(struct cedar_parser *parser, struct cedar_place place, struct cedar_value value)
{
    struct cedar_node *node = cedar_node(parser, CEDAR_LITERAL, place, 0, NULL);
    if (node != NULL)
        node->value = value;
    return node;
}

/* Parse a number; -9223372036854775808 is valid only with its sign. */
static struct cedar_node *
parse_number(struct cedar_parser *parser, bool negative)
{
    const struct cedar_token token = parser->token;
    const uint64_t limit = (uint64_t) INT64_MAX + negative;
    uint64_t number = 0;
    for (size_t i = 0; i < token.text.length; i++) {
        uint64_t digit = (uint64_t) (token.text.at[i] - '0');
        if (number > (limit - digit) / 10) {
            cedar_fail(parser->fault, token.place, "the number is not in the range of a Long");
            return NULL;
        }
        number = number * 10 + digit;
    }
    cedar_next(parser);
    /* In -1.a the minus negates the attribute. */
    if (number > INT64_MAX
        && (cedar_at(parser, TOKEN_DOT) || cedar_at(parser, TOKEN_OPEN_BRACKET))) {
        cedar_fail(parser->fault, token.place, "the number is not in the range of a Long");
        return NULL;
    }
    if (cedar_at(parser, TOKEN_NAME)) {
        static const char *const after[] = {"in", "is", "has", "like", "then", "else"};
        bool fine = false;
        for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
            fine = fine || cedar_at_word(parser, after[i]);
        if (!fine) {
            cedar_unexpected(parser, "an operator");
            return NULL;
        }
    }
    return literal(parser, token.place,
                   (struct cedar_value){.type = CEDAR_LONG,
                                        .number = (int64_t) (negative ? 0 - number : number)});
}

static struct cedar_node *
parse_primary(struct cedar_parser *parser, bool negative)
{
    struct cedar_place place = parser->token.place;
    struct cedar_value value = {.type = CEDAR_STRING};
    struct cedar_node *node;
    switch (parser->token.kind) {
    case TOKEN_NUMBER:
        return parse_number(parser, negative);
    case TOKEN_STRING:
        return cedar_take_string(parser, &value.text) ? literal(parser, place, value) : NULL;
    case TOKEN_OPEN_BRACKET:
        return parse_set(parser);
    case TOKEN_OPEN_BRACE:
        return parse_record(parser);
    case TOKEN_OPEN:
        cedar_next(parser);
        if (!cedar_open_bracket(parser) || (node = cedar_parse_expression(parser)) == NULL
            || !cedar_expect(parser, TOKEN_CLOSE))
            return NULL;
        parser->nesting--;
        return node;
    case TOKEN_QUESTION:
        cedar_fail(parser->fault, place, "templates are not supported: a rule names its entities");
        return NULL;
    default:
        break;
    }
    if (cedar_at_word(parser, "true") || cedar_at_word(parser, "false")) {
        value = (struct cedar_value){.type = CEDAR_BOOL, .truth = cedar_at_word(parser, "true")};
        cedar_next(parser);
        return literal(parser, place, value);
    }
    if (cedar_at_word(parser, "if")) {
        cedar_fail(parser->fault, place, "an `if` inside an operator needs parentheses");
        return NULL;
    }
    if (!cedar_at(parser, TOKEN_NAME)) {
        cedar_unexpected(parser, "an expression");
        return NULL;
    }
    return parse_named(parser);
}

static struct cedar_node *
parse_member(struct cedar_parser *parser, bool negative)
{
    struct cedar_node *node = parse_primary(parser, negative);
    while (node != NULL && (cedar_at(parser, TOKEN_DOT) || cedar_at(parser, TOKEN_OPEN_BRACKET))) {
        bool dot = cedar_at(parser, TOKEN_DOT);
        struct cedar_text *name = talloc_zero(parser->mem, struct cedar_text);
        cedar_next(parser);
        struct cedar_place place = parser->token.place;
        if (name == NULL) {
            cedar_fail(parser->fault, place, "out of memory");
            return NULL;
        }
        if (dot ? !cedar_take_name(parser, "the name of an attribute or method", name)
                : (!cedar_take_string(parser, name) || !cedar_expect(parser, TOKEN_CLOSE_BRACKET)))
            return NULL;
        node =
            dot && cedar_at(parser, TOKEN_OPEN)
                ? parse_call(parser, *name, place, node)
                : cedar_with_texts(cedar_node(parser, CEDAR_ATTRIBUTE, place, 1, &node), name, 1);
    }
    return node;
}

struct cedar_node *
cedar_parse_unary(struct cedar_parser *parser)
{
    struct cedar_place place = parser->token.place;
    enum cedar_token_kind sign = parser->token.kind;
    int signs = 0;
    if (sign != TOKEN_NOT && sign != TOKEN_MINUS)
        return parse_member(parser, false);
    for (; cedar_at(parser, sign); signs++)
        if (signs == SIGNS_MAX) {
            cedar_fail(parser->fault, parser->token.place, "more than %d signs before an operand",
                       SIGNS_MAX);
            return NULL;
        } else
            cedar_next(parser);
    /* The last minus before a number belongs to the number. */
    bool number = sign == TOKEN_MINUS && cedar_at(parser, TOKEN_NUMBER);
    struct cedar_node *node = parse_member(parser, number);
    for (signs -= number; signs-- > 0;)
        node = cedar_node(parser, sign == TOKEN_NOT ? CEDAR_NOT : CEDAR_NEGATE, place, 1, &node);
    return node;
}
