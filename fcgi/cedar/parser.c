#include "config.h"

#include "cedar/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest part of a file that is repeated in a refusal. */
#define SHOWN_MAX 40

const char *const cedar_variable_names[] = {"principal", "action", "resource", "context", NULL};

/* Words that cannot be names (Cedar grammar, IDENT). */
static const char *const reserved_words[] = {"true", "false", "if",   "then", "else",
                                             "in",   "is",    "like", "has",  "__cedar"};

void *
cedar_list_add(struct cedar_parser *parser, struct cedar_list *list, size_t size)
{
    if (list->count == list->room) {
        size_t room = list->room > 0 ? list->room * 2 : 4;
        void *items = talloc_realloc_size(parser->mem, list->items, room * size);
        if (items == NULL) {
            cedar_fail(parser->fault, parser->token.place, "out of memory");
            return NULL;
        }
        list->items = items;
        list->room = room;
    }
    void *item = (char *) list->items + size * list->count++;
    memset(item, 0, size);
    return item;
}

/* A text and its place in the array. */
struct placed {
    struct cedar_text text;
    size_t index;
};

static int
by_text(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;
    int order = cedar_text_compare(one->text, other->text);
    return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

/* Sort a copy: comparing all pairs would let a short file take minutes. */
size_t
cedar_find_twice(struct cedar_parser *parser, const struct cedar_text *text, size_t count)
{
    struct placed *all = talloc_array(parser->mem, struct placed, count);
    size_t found = count;
    if (all == NULL) {
        cedar_fail(parser->fault, parser->token.place, "out of memory");
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        all[i] = (struct placed){text[i], i};
    qsort(all, count, sizeof(*all), by_text);
    for (size_t i = 1; i < count; i++)
        if (cedar_text_compare(all[i - 1].text, all[i].text) == 0 && all[i].index < found)
            found = all[i].index;
    talloc_free(all);
    return found;
}

void
cedar_next(struct cedar_parser *parser)
{
    parser->token = cedar_lex(&parser->lexer);
}

bool
cedar_at(const struct cedar_parser *parser, enum cedar_token_kind kind)
{
    return parser->token.kind == kind;
}

bool
cedar_at_word(const struct cedar_parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_NAME && cedar_text_is(parser->token.text, word);
}

bool
cedar_accept(struct cedar_parser *parser, enum cedar_token_kind kind)
{
    if (!cedar_at(parser, kind))
        return false;
    cedar_next(parser);
    return true;
}

bool
cedar_accept_word(struct cedar_parser *parser, const char *word)
{
    if (!cedar_at_word(parser, word))
        return false;
    cedar_next(parser);
    return true;
}

bool
cedar_unexpected(struct cedar_parser *parser, const char *what)
{
    const struct cedar_token *token = &parser->token;
    bool shown = token->kind == TOKEN_NAME || token->kind == TOKEN_NUMBER;
    if (token->kind == TOKEN_FAILED)
        return false;
    if (shown && token->text.length <= SHOWN_MAX)
        return cedar_fail(parser->fault, token->place, "expected %s, found `%.*s`", what,
                          (int) token->text.length, token->text.at);
    const char *name = cedar_token_name(token->kind);
    bool sign = token->kind > TOKEN_STRING;
    return cedar_fail(parser->fault, token->place, "expected %s, found %s%s%s", what,
                      sign ? "`" : "", name, sign ? "`" : "");
}

bool
cedar_expect(struct cedar_parser *parser, enum cedar_token_kind kind)
{
    char what[32];
    if (cedar_accept(parser, kind))
        return true;
    bool sign = kind > TOKEN_STRING;
    snprintf(what, sizeof(what), sign ? "`%s`" : "%s", cedar_token_name(kind));
    return cedar_unexpected(parser, what);
}

bool
cedar_is_reserved(struct cedar_text name)
{
    for (size_t i = 0; i < sizeof(reserved_words) / sizeof(reserved_words[0]); i++)
        if (cedar_text_is(name, reserved_words[i]))
            return true;
    return false;
}

bool
cedar_take_name(struct cedar_parser *parser, const char *what, struct cedar_text *ret)
{
    if (!cedar_at(parser, TOKEN_NAME))
        return cedar_unexpected(parser, what);
    if (cedar_is_reserved(parser->token.text))
        return cedar_fail(parser->fault, parser->token.place,
                          "expected %s; `%.*s` is a reserved word", what,
                          (int) parser->token.text.length, parser->token.text.at);
    *ret = parser->token.text;
    cedar_next(parser);
    return true;
}

bool
cedar_take_string(struct cedar_parser *parser, struct cedar_text *ret)
{
    struct cedar_text *text = NULL;
    size_t count = 0;
    if (!cedar_at(parser, TOKEN_STRING))
        return cedar_unexpected(parser, "a string");
    if (!cedar_unescape(parser->mem, &parser->token, false, &text, &count, parser->fault))
        return false;
    *ret = text[0];
    cedar_next(parser);
    return true;
}

/* Append `::` and a name to the name of a type; blanks between them do not count. */
static bool
extend_type(struct cedar_parser *parser, struct cedar_text *type, struct cedar_text name)
{
    char *whole = talloc_asprintf(parser->mem, "%.*s::%.*s", (int) type->length, type->at,
                                  (int) name.length, name.at);
    if (whole == NULL)
        return cedar_fail(parser->fault, parser->token.place, "out of memory");
    *type = (struct cedar_text){whole, strlen(whole)};
    return true;
}

bool
cedar_take_type(struct cedar_parser *parser, struct cedar_text *ret)
{
    struct cedar_text type, name;
    if (!cedar_take_name(parser, "the name of an entity type", &type))
        return false;
    while (cedar_at(parser, TOKEN_PATH)) {
        cedar_next(parser);
        if (!cedar_take_name(parser, "the name of an entity type", &name)
            || !extend_type(parser, &type, name))
            return false;
    }
    *ret = type;
    return true;
}

struct cedar_node *
cedar_take_entity(struct cedar_parser *parser)
{
    struct cedar_place place = parser->token.place;
    struct cedar_value value = {.type = CEDAR_ENTITY};
    struct cedar_text name;
    if (cedar_at(parser, TOKEN_QUESTION)) {
        cedar_fail(parser->fault, place, "templates are not supported: a rule names its entities");
        return NULL;
    }
    if (!cedar_take_name(parser, "an entity as User::\"alice\"", &value.uid.type))
        return NULL;
    for (;;) {
        if (!cedar_expect(parser, TOKEN_PATH))
            return NULL;
        if (cedar_at(parser, TOKEN_STRING))
            break;
        if (!cedar_take_name(parser, "a string with the id of the entity", &name)
            || !extend_type(parser, &value.uid.type, name))
            return NULL;
    }
    struct cedar_node *node = cedar_take_string(parser, &value.uid.id)
                                  ? cedar_node(parser, CEDAR_LITERAL, place, 0, NULL)
                                  : NULL;
    if (node != NULL)
        node->value = value;
    return node;
}

struct cedar_node *
cedar_node(struct cedar_parser *parser, enum cedar_kind kind, struct cedar_place place,
           size_t children, struct cedar_node *const *child)
{
    unsigned height = 1;
    for (size_t i = 0; i < children; i++)
        if (child[i] == NULL)
            return NULL;
        else if (child[i]->height >= height)
            height = child[i]->height + 1;
    if (height > CEDAR_NESTING_MAX) {
        cedar_fail(parser->fault, place, "more than %d levels are nested here", CEDAR_NESTING_MAX);
        return NULL;
    }
    struct cedar_node *node = talloc_zero(parser->mem, struct cedar_node);
    if (node != NULL && children > 0)
        node->child = talloc_memdup(parser->mem, child, children * sizeof(struct cedar_node *));
    if (node == NULL || (children > 0 && node->child == NULL)) {
        cedar_fail(parser->fault, place, "out of memory");
        return NULL;
    }
    node->kind = kind;
    node->place = place;
    node->height = height;
    node->children = children;
    return node;
}

struct cedar_node *
cedar_node_pair(struct cedar_parser *parser, enum cedar_kind kind, struct cedar_place place,
                struct cedar_node *left, struct cedar_node *right)
{
    return cedar_node(parser, kind, place, 2, (struct cedar_node *[]){left, right});
}
