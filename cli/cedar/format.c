#include "config.h"

#include "cli/cedar/format.h"

#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "cedar/function.h"
#include "cedar/parser.h"

/* Longest canonical text: an octet of a file becomes at most \u{1F} and some blanks. */
#define TEXT_MAX ((size_t) 16 * CEDAR_FILE_MAX)

/* Precedence of operators; an operand of lower precedence gets parentheses. */
enum binding {
    BIND_IF,
    BIND_OR,
    BIND_AND,
    BIND_RELATION,
    BIND_SUM,
    BIND_PRODUCT,
    BIND_UNARY,
    BIND_MEMBER
};

static const struct {
    enum binding binding;
    const char *sign; /* between operands, or before the operand */
} operators[] = {
    [CEDAR_LITERAL] = {BIND_MEMBER,   NULL  },
    [CEDAR_VARIABLE] = {BIND_MEMBER,   NULL  },
    [CEDAR_OR] = {BIND_OR,       " || "},
    [CEDAR_AND] = {BIND_AND,      " && "},
    [CEDAR_SUM] = {BIND_SUM,      " + " },
    [CEDAR_PRODUCT] = {BIND_PRODUCT,  " * " },
    [CEDAR_NOT] = {BIND_UNARY,    "!"   },
    [CEDAR_NEGATE] = {BIND_UNARY,    "-"   },
    [CEDAR_IF] = {BIND_IF,       NULL  },
    [CEDAR_EQUAL] = {BIND_RELATION, " == "},
    [CEDAR_NOT_EQUAL] = {BIND_RELATION, " != "},
    [CEDAR_LESS] = {BIND_RELATION, " < " },
    [CEDAR_LESS_EQUAL] = {BIND_RELATION, " <= "},
    [CEDAR_GREATER] = {BIND_RELATION, " > " },
    [CEDAR_GREATER_EQUAL] = {BIND_RELATION, " >= "},
    [CEDAR_IN] = {BIND_RELATION, " in "},
    [CEDAR_IS] = {BIND_RELATION, NULL  },
    [CEDAR_HAS] = {BIND_RELATION, NULL  },
    [CEDAR_LIKE] = {BIND_RELATION, NULL  },
    [CEDAR_ATTRIBUTE] = {BIND_MEMBER,   NULL  },
    [CEDAR_SET_OF] = {BIND_MEMBER,   NULL  },
    [CEDAR_RECORD_OF] = {BIND_MEMBER,   NULL  },
    [CEDAR_CALL] = {BIND_MEMBER,   NULL  },
};

static void put_node(struct buf *buf, const struct cedar_node *node, enum binding least);

static void
put_octets(struct buf *buf, struct cedar_text text)
{
    buf_append(buf, text.at, text.length);
}

/* Put the octets of a string, with the escapes that it needs. */
static void
put_escapes(struct buf *buf, struct cedar_text text, bool pattern)
{
    static const char signs[] = "\n\r\t\\\"", escapes[] = "nrt\\\"";
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        const char *sign = c != '\0' ? strchr(signs, c) : NULL;
        if (sign != NULL)
            buf_append_format(buf, "\\%c", escapes[sign - signs]);
        else if (c == '*' && pattern)
            buf_append_text(buf, "\\*");
        else if (c == '\0')
            buf_append_text(buf, "\\0");
        else if ((unsigned char) c < ' ' || c == 0x7f)
            buf_append_format(buf, "\\u{%x}", (unsigned) c);
        else
            buf_append_char(buf, c);
    }
}

static void
put_quoted(struct buf *buf, struct cedar_text text)
{
    buf_append_char(buf, '"');
    put_escapes(buf, text, false);
    buf_append_char(buf, '"');
}

/* True if a text can stand where a name is expected. */
static bool
plain_name(struct cedar_text text)
{
    if (cedar_is_reserved(text))
        return false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && (i == 0 || c < '0' || c > '9'))
            return false;
    }
    return text.length > 0;
}

static void
put_literal(struct buf *buf, const struct cedar_value *value)
{
    if (value->type == CEDAR_BOOL)
        buf_append_text(buf, value->truth ? "true" : "false");
    else if (value->type == CEDAR_LONG)
        buf_append_format(buf, "%" PRId64, value->number);
    else if (value->type == CEDAR_STRING)
        put_quoted(buf, value->text);
    else {
        put_octets(buf, value->uid.type);
        buf_append_text(buf, "::");
        put_quoted(buf, value->uid.id);
    }
}

static void
put_list(struct buf *buf, const struct cedar_node *node, size_t first)
{
    for (size_t i = first; i < node->children; i++) {
        buf_append_text(buf, i > first ? ", " : "");
        if (node->kind == CEDAR_RECORD_OF) {
            if (plain_name(node->text[i]))
                put_octets(buf, node->text[i]);
            else
                put_quoted(buf, node->text[i]);
            buf_append_text(buf, ": ");
        }
        put_node(buf, node->child[i], BIND_IF);
    }
}

/* Put operands with a sign between them. The first operand of a comparison cannot be one. */
static void
cedar_put_operands(struct buf *buf, const struct cedar_node *node)
{
    enum binding least = (enum binding)(operators[node->kind].binding + 1);
    for (size_t i = 0; i < node->children; i++) {
        bool minus = node->kind == CEDAR_SUM && node->minus[i];
        if (i > 0)
            buf_append_text(buf, minus ? " - " : operators[node->kind].sign);
        put_node(buf, node->child[i], least);
    }
}

/* Put a sign before its operand. A second sign gets parentheses, and so does a number, because
 * `-1` is a number and not the negation of one. */
static void
put_unary(struct buf *buf, const struct cedar_node *node)
{
    const struct cedar_node *child = node->child[0];
    bool bare = node->kind == CEDAR_NOT
                    ? operators[child->kind].binding == BIND_MEMBER
                    : operators[child->kind].binding == BIND_MEMBER
                          && !(child->kind == CEDAR_LITERAL && child->value.type == CEDAR_LONG);
    buf_append_text(buf, operators[node->kind].sign);
    if (!bare)
        buf_append_char(buf, '(');
    put_node(buf, child, BIND_IF);
    if (!bare)
        buf_append_char(buf, ')');
}

static void
put_call(struct buf *buf, const struct cedar_node *node)
{
    bool method = node->function->method;
    if (method) {
        put_node(buf, node->child[0], BIND_MEMBER);
        buf_append_char(buf, '.');
    }
    buf_append_format(buf, "%s(", node->function->name);
    put_list(buf, node, method);
    buf_append_char(buf, ')');
}

static void
put_attribute(struct buf *buf, const struct cedar_node *node)
{
    put_node(buf, node->child[0], BIND_MEMBER);
    if (plain_name(node->text[0])) {
        buf_append_char(buf, '.');
        put_octets(buf, node->text[0]);
        return;
    }
    buf_append_char(buf, '[');
    put_quoted(buf, node->text[0]);
    buf_append_char(buf, ']');
}

/* Put `is`, `has` and `like`. */
static void
put_test(struct buf *buf, const struct cedar_node *node)
{
    put_node(buf, node->child[0], BIND_SUM);
    if (node->kind == CEDAR_IS) {
        buf_append_text(buf, " is ");
        put_octets(buf, node->text[0]);
        if (node->children == 2) {
            buf_append_text(buf, " in ");
            put_node(buf, node->child[1], BIND_SUM);
        }
        return;
    }
    buf_append_text(buf, node->kind == CEDAR_HAS ? " has " : " like \"");
    for (size_t i = 0; i < node->texts; i++)
        if (node->kind == CEDAR_LIKE) {
            buf_append_text(buf, i > 0 ? "*" : "");
            put_escapes(buf, node->text[i], true);
        } else if (node->texts == 1 && !plain_name(node->text[i]))
            put_quoted(buf, node->text[i]);
        else {
            buf_append_text(buf, i > 0 ? "." : "");
            put_octets(buf, node->text[i]);
        }
    buf_append_text(buf, node->kind == CEDAR_LIKE ? "\"" : "");
}

static void
put_bare(struct buf *buf, const struct cedar_node *node)
{
    static const char *const words[] = {"if ", " then ", " else "};
    switch (node->kind) {
    case CEDAR_LITERAL:
        put_literal(buf, &node->value);
        break;
    case CEDAR_VARIABLE:
        buf_append_text(buf, cedar_variable_names[node->variable]);
        break;
    case CEDAR_NOT:
    case CEDAR_NEGATE:
        put_unary(buf, node);
        break;
    case CEDAR_IF:
        for (int i = 0; i < 3; i++) {
            buf_append_text(buf, words[i]);
            put_node(buf, node->child[i], BIND_IF);
        }
        break;
    case CEDAR_IS:
    case CEDAR_HAS:
    case CEDAR_LIKE:
        put_test(buf, node);
        break;
    case CEDAR_ATTRIBUTE:
        put_attribute(buf, node);
        break;
    case CEDAR_CALL:
        put_call(buf, node);
        break;
    case CEDAR_SET_OF:
    case CEDAR_RECORD_OF:
        buf_append_char(buf, node->kind == CEDAR_SET_OF ? '[' : '{');
        put_list(buf, node, 0);
        buf_append_char(buf, node->kind == CEDAR_SET_OF ? ']' : '}');
        break;
    default:
        cedar_put_operands(buf, node);
        break;
    }
}

/* Put a node, in parentheses if its precedence is lower than its place allows. */
static void
put_node(struct buf *buf, const struct cedar_node *node, enum binding least)
{
    bool negative = node->kind == CEDAR_LITERAL && node->value.type == CEDAR_LONG
                    && node->value.number < 0 && least == BIND_MEMBER;
    bool bare = operators[node->kind].binding >= least && !negative;
    if (!bare)
        buf_append_char(buf, '(');
    put_bare(buf, node);
    if (!bare)
        buf_append_char(buf, ')');
}

static void
put_policy(struct buf *buf, const struct cedar_policy *policy)
{
    for (size_t i = 0; i < policy->annotations; i++) {
        buf_append_char(buf, '@');
        put_octets(buf, policy->annotation[i].name);
        buf_append_char(buf, '(');
        put_quoted(buf, policy->annotation[i].value);
        buf_append_text(buf, ")\n");
    }
    buf_append_text(buf, policy->forbid ? "forbid (" : "permit (");
    for (int i = 0; i < 3; i++) {
        buf_append_text(buf, i > 0 ? ", " : "");
        if (policy->scope[i] != NULL)
            put_node(buf, policy->scope[i], BIND_IF);
        else
            buf_append_text(buf, cedar_variable_names[i]);
    }
    buf_append_char(buf, ')');
    for (size_t i = 0; i < policy->conditions; i++) {
        buf_append_text(buf, policy->condition[i].unless ? "\nunless { " : "\nwhen { ");
        put_node(buf, policy->condition[i].body, BIND_IF);
        buf_append_text(buf, " }");
    }
    buf_append_text(buf, ";\n");
}

char *
cedar_format(TALLOC_CTX *mem, const struct cedar_file *file)
{
    size_t length;
    BUF_AUTO buf;
    buf_init(&buf, mem, TEXT_MAX);
    for (size_t i = 0; i < file->policies; i++) {
        buf_append_text(&buf, i > 0 ? "\n" : "");
        put_policy(&buf, &file->policy[i]);
    }
    buf_append_text(&buf, "");
    return buf_take(&buf, &length);
}
