#include "config.h"

#include "base/json/field_rules.h"

#include <stdarg.h>
#include <stddef.h>

#include "base/uri.h"
#include "base/visible.h"
#include "base/words.h"

const char *
field_fault_text(TALLOC_CTX *mem, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = talloc_vasprintf(mem, format, args);
    va_end(args);
    return text != NULL ? text : "is not valid";
}

const char *
field_rule_visible(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return visible_fault(json_string_value(value));
}

const char *
field_rule_redirect_uri(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return uri_redirect_fault(json_string_value(value));
}

const char *
field_rule_web_uri(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return uri_web_fault(json_string_value(value));
}

const char *
field_rule_keys_uri(TALLOC_CTX *mem, const json_t *value)
{
    struct uri uri;
    if (uri_parse(mem, json_string_value(value), &uri) != AZ_OK)
        return "is not a valid absolute URI";
    return uri.userinfo != NULL || uri.fragment != NULL
               ? "must not have user information or a fragment"
               : NULL;
}

const char *
field_rule_scope(TALLOC_CTX *mem, const json_t *value)
{
    const char *text = json_string_value(value), *word;
    size_t length, words = 0;
    if (!scope_characters(text))
        return "must not have characters other than those of scopes and spaces";
    while (words_next(&text, &word, &length))
        words++;
    return words > SCOPE_WORDS_MAX
               ? field_fault_text(mem, "must have at most %d scopes", SCOPE_WORDS_MAX)
               : NULL;
}
