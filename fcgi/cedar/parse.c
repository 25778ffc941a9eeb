/* Policies of a Cedar file:
 *
 *   Policy     = {Annotation} ('permit' | 'forbid') '(' Principal ',' Action ',' Resource ')'
 *                {('when' | 'unless') '{' Expr '}'} ';'
 *   Annotation = '@' NAME ['(' STRING ')']
 *   Principal  = 'principal' ['==' Entity | 'in' Entity | 'is' Type ['in' Entity]]
 *   Action     = 'action' ['==' Entity | 'in' Entity | 'in' '[' [Entities] ']']
 *   Resource   = 'resource' as the principal
 */
#include "config.h"

#include "cedar/parse.h"

#include <string.h>

#include "cedar/parser.h"

/* Take the name of an annotation; words of the language are allowed. */
static bool
take_annotation(struct cedar_parser *parser, struct cedar_list *list)
{
    if (!cedar_at(parser, TOKEN_NAME))
        return cedar_unexpected(parser, "the name of an annotation");
    struct cedar_text name = parser->token.text;
    struct cedar_annotation *annotation = cedar_list_add(parser, list, sizeof(*annotation));
    if (annotation == NULL)
        return false;
    annotation->name = name;
    annotation->value = CEDAR_TEXT("");
    cedar_next(parser);
    return !cedar_accept(parser, TOKEN_OPEN)
           || (cedar_take_string(parser, &annotation->value) && cedar_expect(parser, TOKEN_CLOSE));
}

static struct cedar_node *
scope_variable(struct cedar_parser *parser, enum cedar_variable variable, struct cedar_place place)
{
    struct cedar_node *node = cedar_node(parser, CEDAR_VARIABLE, place, 0, NULL);
    if (node != NULL)
        node->variable = variable;
    return node;
}

/* Take an entity that `action` is compared with: its type is Action, or Action in a namespace. */
static struct cedar_node *
take_action(struct cedar_parser *parser)
{
    struct cedar_node *node = cedar_take_entity(parser);
    struct cedar_text type = node != NULL ? node->value.uid.type : CEDAR_TEXT("Action");
    while (type.length > 0 && memchr(type.at, ':', type.length) != NULL)
        type = (struct cedar_text){type.at + 1, type.length - 1};
    if (cedar_text_is(type, "Action"))
        return node;
    cedar_fail(parser->fault, node->place, "the type of an action is `Action`");
    return NULL;
}

/* Parse a list of actions, behind its bracket. */
static struct cedar_node *
scope_actions(struct cedar_parser *parser, struct cedar_place place)
{
    struct cedar_list list = {NULL, 0, 0};
    while (!cedar_accept(parser, TOKEN_CLOSE_BRACKET)) {
        struct cedar_node *node = take_action(parser), **item;
        if (node == NULL || (item = cedar_list_add(parser, &list, sizeof(*item))) == NULL)
            return NULL;
        *item = node;
        if (!cedar_at(parser, TOKEN_CLOSE_BRACKET) && !cedar_expect(parser, TOKEN_COMMA))
            return NULL;
    }
    return cedar_node(parser, CEDAR_SET_OF, place, list.count, list.items);
}

/* Parse `is Type [in Entity]`, behind `is`. */
static struct cedar_node *
scope_is(struct cedar_parser *parser, struct cedar_place place, struct cedar_node *variable)
{
    struct cedar_text *type = talloc_zero(parser->mem, struct cedar_text);
    if (type == NULL || !cedar_take_type(parser, type))
        return NULL;
    struct cedar_node *node =
        cedar_accept_word(parser, "in")
            ? cedar_node_pair(parser, CEDAR_IS, place, variable, cedar_take_entity(parser))
            : cedar_node(parser, CEDAR_IS, place, 1, &variable);
    if (node != NULL) {
        node->text = type;
        node->texts = 1;
    }
    return node;
}

/* Parse one part of the scope. *ret stays NULL if the part says nothing. */
static bool
take_scope(struct cedar_parser *parser, enum cedar_variable which, struct cedar_node **ret)
{
    struct cedar_place start = parser->token.place;
    bool action = which == CEDAR_ACTION;
    struct cedar_node *(*take)(struct cedar_parser * parser) =
        action ? take_action : cedar_take_entity;
    if (!cedar_accept_word(parser, cedar_variable_names[which])) {
        char what[16] = "`";
        return cedar_unexpected(parser, strcat(strcat(what, cedar_variable_names[which]), "`"));
    }
    struct cedar_place place = parser->token.place;
    struct cedar_node *variable = scope_variable(parser, which, start);
    enum cedar_token_kind end = which == CEDAR_RESOURCE ? TOKEN_CLOSE : TOKEN_COMMA;
    if (cedar_accept(parser, TOKEN_EQUAL))
        *ret = cedar_node_pair(parser, CEDAR_EQUAL, place, variable, take(parser));
    else if (cedar_accept_word(parser, "in")) {
        struct cedar_place list = parser->token.place;
        *ret = cedar_node_pair(parser, CEDAR_IN, place, variable,
                               action && cedar_accept(parser, TOKEN_OPEN_BRACKET)
                                   ? scope_actions(parser, list)
                                   : take(parser));
    } else if (!action && cedar_accept_word(parser, "is"))
        *ret = scope_is(parser, place, variable);
    else if (cedar_at(parser, end) || cedar_at(parser, TOKEN_COMMA))
        return true;
    else
        return cedar_unexpected(parser, action                    ? "`==`, `in` or `,`"
                                        : which == CEDAR_RESOURCE ? "`==`, `in`, `is` or `)`"
                                                                  : "`==`, `in`, `is` or `,`");
    return *ret != NULL;
}

static bool
take_conditions(struct cedar_parser *parser, struct cedar_list *list)
{
    for (;;) {
        bool unless = cedar_at_word(parser, "unless");
        if (!unless && !cedar_at_word(parser, "when"))
            return cedar_accept(parser, TOKEN_SEMICOLON)
                   || cedar_unexpected(parser, "`when`, `unless` or `;`");
        cedar_next(parser);
        struct cedar_condition *condition = cedar_list_add(parser, list, sizeof(*condition));
        if (condition == NULL || !cedar_expect(parser, TOKEN_OPEN_BRACE))
            return false;
        condition->unless = unless;
        if ((condition->body = cedar_parse_expression(parser)) == NULL)
            return false;
        if (!cedar_accept(parser, TOKEN_CLOSE_BRACE))
            return cedar_unexpected(parser, "an operator or `}`");
    }
}

static bool
take_policy(struct cedar_parser *parser, struct cedar_policy *policy)
{
    struct cedar_list annotations = {NULL, 0, 0}, conditions = {NULL, 0, 0};
    policy->place = parser->token.place;
    while (cedar_accept(parser, TOKEN_AT))
        if (!take_annotation(parser, &annotations))
            return false;
    policy->forbid = cedar_at_word(parser, "forbid");
    if (!policy->forbid && !cedar_at_word(parser, "permit"))
        return cedar_unexpected(parser, "`permit`, `forbid` or an annotation");
    cedar_next(parser);
    if (!cedar_expect(parser, TOKEN_OPEN))
        return false;
    for (int i = CEDAR_PRINCIPAL; i <= CEDAR_RESOURCE; i++)
        if (!take_scope(parser, (enum cedar_variable) i, &policy->scope[i])
            || (i < CEDAR_RESOURCE && !cedar_expect(parser, TOKEN_COMMA)))
            return false;
    cedar_accept(parser, TOKEN_COMMA);
    if (!cedar_expect(parser, TOKEN_CLOSE) || !take_conditions(parser, &conditions))
        return false;
    policy->annotation = annotations.items;
    policy->annotations = annotations.count;
    policy->condition = conditions.items;
    policy->conditions = conditions.count;
    return true;
}

/* Refuse an annotation that the policy has twice. */
static bool
check_annotations(struct cedar_parser *parser, const struct cedar_policy *policy)
{
    struct cedar_text *name = talloc_array(parser->mem, struct cedar_text, policy->annotations);
    for (size_t i = 0; name != NULL && i < policy->annotations; i++)
        name[i] = policy->annotation[i].name;
    if (name != NULL && cedar_find_twice(parser, name, policy->annotations) == policy->annotations)
        return true;
    return cedar_fail(parser->fault, policy->place, "the policy has an annotation twice");
}

/* Set the id of the policy at this position. */
static bool
name_policy(struct cedar_parser *parser, struct cedar_policy *policy, size_t position)
{
    char *id = talloc_asprintf(parser->mem, "policy%zu", position);
    if (id == NULL)
        return cedar_fail(parser->fault, policy->place, "out of memory");
    policy->id = (struct cedar_text){id, strlen(id)};
    for (size_t i = 0; i < policy->annotations; i++)
        if (cedar_text_is(policy->annotation[i].name, "id"))
            policy->id = policy->annotation[i].value;
    return true;
}

/* Refuse two policies with one id: an answer could not tell them apart. */
static bool
check_ids(struct cedar_parser *parser, const struct cedar_policy *policy, size_t count)
{
    struct cedar_text *id = talloc_array(parser->mem, struct cedar_text, count);
    for (size_t i = 0; id != NULL && i < count; i++)
        id[i] = policy[i].id;
    size_t twice = id != NULL ? cedar_find_twice(parser, id, count) : 0;
    if (id != NULL && twice == count)
        return true;
    return cedar_fail(parser->fault, policy[twice].place, "another policy has the same id");
}

struct cedar_file *
cedar_parse(TALLOC_CTX *mem, const char *text, size_t length, struct cedar_fault *ret_fault)
{
    struct cedar_file *file = talloc_zero(mem, struct cedar_file);
    struct cedar_list policies = {NULL, 0, 0};
    *ret_fault = (struct cedar_fault){
        .place = {0, 0}
    };
    if (file == NULL) {
        cedar_fail(ret_fault, (struct cedar_place){1, 1}, "out of memory");
        return NULL;
    }
    struct cedar_parser parser = {
        .mem = file, .lexer = {text, length, 0, {1, 1}, ret_fault},
             .fault = ret_fault
    };
    bool fine = cedar_check_text(text, length, ret_fault);
    if (fine)
        cedar_next(&parser);
    while (fine && !cedar_at(&parser, TOKEN_END)) {
        struct cedar_policy *policy = cedar_list_add(&parser, &policies, sizeof(*policy));
        fine = policy != NULL && take_policy(&parser, policy) && check_annotations(&parser, policy)
               && name_policy(&parser, policy, policies.count - 1);
    }
    if (fine && policies.count > 0)
        fine = check_ids(&parser, policies.items, policies.count);
    if (!fine || ret_fault->place.line != 0) {
        cedar_fail(ret_fault, (struct cedar_place){1, 1}, "out of memory");
        talloc_free(file);
        return NULL;
    }
    file->policy = policies.items;
    file->policies = policies.count;
    return file;
}
