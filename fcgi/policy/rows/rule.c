#include "config.h"

#include "policy/rows/rule.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/words.h"
#include "policy/rows/rego_text.h"

/* ---- paths ---- */

static const char *
segment_fault(const char *segment, size_t length)
{
    if (length == 0)
        return "must be relative, without empty segments";
    if ((length == 1 && segment[0] == '.') || (length == 2 && memcmp(segment, "..", 2) == 0))
        return "must not have . or .. as a segment";
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) segment[i] < 0x20 || segment[i] == 0x7f || segment[i] == '\\')
            return "must not have backslashes or control characters";
    return NULL;
}

/*
 * The two suffixes also exclude the names that the engine treats differently: data.json,
 * policy.wasm, plan.json, and all that end in .manifest or .signatures.json (policy.md 2.3).
 */
const char *
rule_path_fault(const char *path)
{
    size_t length = strlen(path);
    if (length == 0)
        return "must not be empty";
    if (length > RULE_PATH_MAX)
        return "must have at most 512 octets";
    if (!utf8_valid(path, length))
        return "must be UTF-8";
    const char *why = NULL, *segment = path;
    for (size_t size; why == NULL && segment != NULL;
         segment = segment[size] == '/' ? segment + size + 1 : NULL) {
        size = strcspn(segment, "/");
        why = segment_fault(segment, size);
    }
    if (why != NULL)
        return why;
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    if (strcmp(name, ".rego") == 0 || strcmp(name, ".cedar") == 0
        || !(words_end(path, ".rego") || words_end(path, ".cedar")))
        return "must be a name that ends in .rego or .cedar";
    return NULL;
}

const char *
rule_content_fault(const char *content)
{
    _Static_assert(RULE_CONTENT_MAX == 524288, "the text below names the limit");
    return strlen(content) > RULE_CONTENT_MAX ? "must have at most 524288 octets" : NULL;
}

const char *
rule_kind(const char *path)
{
    return words_end(path, ".cedar") ? "cedar" : "rego";
}

bool
rule_path_is_ours(const char *path)
{
    return strncmp(path, "svc/", 4) == 0 || strcmp(path, "svc.rego") == 0
           || strcmp(path, "svc.cedar") == 0;
}

/* ---- packages ---- */

/*
 * The package declaration (OPA v1/ast/parser.go, parsePackage; v1/ast/internal/scanner):
 *
 *   module  = [BOM] blanks "package" blank blanks word *( "." word / "[" blanks text blanks "]" )
 *   blanks  = *( blank / comment )         blank   = SP / HTAB / LF / CR
 *   comment = "#" *( anything but LF )     word    = ( ALPHA / "_" ) *( ALPHA / DIGIT / "_" )
 *   text    = DQUOTE *char DQUOTE / "`" *char "`"
 *
 * The name ends at the first blank or comment. Keywords are words here. Other forms that the engine
 * accepts are refused: decimal digits of other scripts in words, escapes in texts, texts in
 * parentheses, the wildcard `_` as first word, something other than a blank after the name, names
 * over RULE_PACKAGE_MAX.
 */

/* True if an octet may be part of a text: no dot, so that the joined name is unambiguous; no quote,
 * no escape and no control character. */
static bool
is_text(char c)
{
    return c >= ' ' && c <= '~' && c != '.' && c != '"' && c != '\\' && c != '`';
}

/*
 * Read the member in brackets at c. Its text begins at *ret_text and has *ret_length octets. Return
 * the place behind it, or NULL if its form is not supported.
 */
static const char *
read_bracket(const char *c, const char **ret_text, size_t *ret_length)
{
    c = rego_skip_blanks(c + 1);
    char quote = *c;
    if (quote != '"' && quote != '`')
        return NULL;
    const char *text = ++c;
    while (is_text(*c))
        c++;
    *ret_text = text;
    *ret_length = (size_t) (c - text);
    if (*ret_length == 0 || *c != quote)
        return NULL;
    c = rego_skip_blanks(c + 1);
    return *c == ']' ? c + 1 : NULL;
}

/* Read a member after the name's first word, with a dot or in brackets. */
static const char *
read_package_member(const char *c, const char **ret_text, size_t *ret_length)
{
    if (*c == '[')
        return read_bracket(c, ret_text, ret_length);
    if (*c != '.')
        return NULL;
    *ret_text = c + 1;
    *ret_length = rego_word_length(c + 1);
    return *ret_length > 0 ? c + 1 + *ret_length : NULL;
}

/* Read the name that begins at c. */
static enum rule_package
read_package_name(TALLOC_CTX *mem, const char *c, const char **ret)
{
    BUF_AUTO name;
    const char *text = c;
    size_t length = rego_word_length(c);
    buf_init(&name, mem, RULE_PACKAGE_MAX);
    if (length == 0 || (length == 1 && *c == '_'))
        return RULE_PACKAGE_UNREAD;
    buf_append(&name, text, length);
    for (c += length; *c != '\0' && *c != '#' && !rego_is_blank(*c);) {
        c = read_package_member(c, &text, &length);
        if (c == NULL)
            return RULE_PACKAGE_UNREAD;
        buf_append_char(&name, '.');
        buf_append(&name, text, length);
    }
    const char *whole = buf_take(&name, NULL);
    if (whole == NULL)
        return RULE_PACKAGE_UNREAD;
    *ret = whole;
    return RULE_PACKAGE_NAMED;
}

enum rule_package
rule_package(TALLOC_CTX *mem, const char *content, const char **ret)
{
    static const char mark[] = "\xef\xbb\xbf", keyword[] = "package";
    const size_t length = sizeof(keyword) - 1;
    const char *c = content;
    if (strncmp(c, mark, sizeof(mark) - 1) == 0)
        c += sizeof(mark) - 1;
    c = rego_skip_blanks(c);
    if (strncmp(c, keyword, length) != 0 || rego_word_length(c) > length)
        return RULE_PACKAGE_NONE;
    c += length;
    return rego_is_blank(*c) || *c == '#' ? read_package_name(mem, rego_skip_blanks(c), ret)
                                          : RULE_PACKAGE_UNREAD;
}
