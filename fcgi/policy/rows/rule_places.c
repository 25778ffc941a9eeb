#include "config.h"

#include "policy/rows/rule_places.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/rows/hooks.h"
#include "policy/rows/rego_rules.h"
#include "policy/rows/rule.h"

/* Name of the hooks that give reasons. */
#define REASONS "deny"

/* The places of one hook. */
struct hook_places {
    json_t *named; /* strings that are reasons by their place, to where they stand */
    json_t *other; /* all other strings */
    json_t *rest;  /* where the rule without a named string stands; null: several */
};

/* One search. */
struct places {
    TALLOC_CTX *mem;
    bool lost;
};

/* Return the text of a string of Rego (new reference); NULL: it is none. */
static json_t *
string_of(const struct rego_token *token)
{
    if (token->length < 2)
        return NULL;
    if (*token->text == '`')
        return json_stringn(token->text + 1, token->length - 2);
    return json_loadb(token->text, token->length, JSON_DECODE_ANY, NULL);
}

/* Enter where a string stands. One that another rule has, too, has no place. */
static void
enter_string(struct places *places, json_t *strings, const struct rego_token *token,
             const json_t *place)
{
    json_t *text = string_of(token);
    const char *name = json_string_value(text);
    const json_t *before = name != NULL ? json_object_get(strings, name) : NULL;
    bool same = before == NULL || json_equal(before, place);
    if (name != NULL
        && json_object_set_new(strings, name, same ? json_deep_copy(place) : json_object()) != 0)
        places->lost = true;
    json_decref(text);
}

/* Enter the strings of a rule. */
static void
enter_rule(struct places *places, struct hook_places *hook, const char *path,
           const struct rego_rule *rule)
{
    const char *next = rule->begin;
    struct rego_token before = {.kind = REGO_END}, name = before, token;
    bool named = false;
    json_t *place =
        jsonx_own(places->mem, json_pack("{s:s,s:i}", "path", path, "line", (int) rule->line));
    if (place == NULL) {
        places->lost = true;
        return;
    }
    while ((token = rego_token_at(next, &next)).kind != REGO_END && token.text < rule->end) {
        bool colon = before.kind == REGO_SIGN && *before.text == ':' && name.kind == REGO_STRING
                     && name.length == strlen("\"code\"")
                     && strncmp(name.text, "\"code\"", name.length) == 0;
        bool is_reason = token.kind == REGO_STRING && (colon || rego_token_is(&before, "contains"));
        if (token.kind == REGO_STRING)
            enter_string(places, is_reason ? hook->named : hook->other, &token, place);
        named = named || is_reason;
        name = before;
        before = token;
    }
    if (!named)
        hook->rest = hook->rest == NULL ? place : jsonx_own(places->mem, json_null());
}

/* Return the places of a hook as the bundle has them (new reference). */
static json_t *
hook_document(struct places *places, const struct hook_places *hook)
{
    json_t *document = json_pack("{s:O}", "texts", hook->other);
    if (document == NULL || json_object_update(hook->other, hook->named) != 0
        || (json_is_object(hook->rest) && json_object_set(document, "rest", hook->rest) != 0))
        places->lost = true;
    return document;
}

/* Enter the rules of a module that are this hook. */
static void
enter_module_places(struct places *places, struct hook_places *hook, const char *package,
                    const struct rule_text *text)
{
    const char *its = NULL;
    struct rego_rule *rule = NULL;
    size_t count = 0;
    if (rule_package(places->mem, text->content, &its) != RULE_PACKAGE_NAMED
        || strcmp(its, package) != 0 || !rego_rules_find(places->mem, text->content, &rule, &count))
        return;
    for (size_t i = 0; i < count && !places->lost; i++)
        if (strcmp(rule[i].name, REASONS) == 0)
            enter_rule(places, hook, text->path, &rule[i]);
}

/* Enter a hook into the document, if it has rules. */
static void
enter_hook(struct places *places, const char *path, const struct rule_text *rules, size_t count,
           json_t *ret)
{
    struct hook_places hook = {.named = jsonx_own(places->mem, json_object()),
                               .other = jsonx_own(places->mem, json_object())};
    const char *dot = strrchr(path, '.');
    const char *package = talloc_strndup(places->mem, path, (size_t) (dot - path));
    if (strcmp(dot + 1, REASONS) != 0)
        return;
    places->lost = places->lost || hook.named == NULL || hook.other == NULL || package == NULL;
    for (size_t i = 0; i < count && !places->lost; i++)
        enter_module_places(places, &hook, package, &rules[i]);
    bool found =
        !places->lost
        && (json_object_size(hook.named) + json_object_size(hook.other) > 0 || hook.rest != NULL);
    if (found && json_object_set_new(ret, path, hook_document(places, &hook)) != 0)
        places->lost = true;
}

json_t *
rule_places_find(TALLOC_CTX *mem, const struct rule_text *rules, size_t count)
{
    struct places places = {.mem = mem};
    json_t *ret = jsonx_own(mem, json_object());
    places.lost = ret == NULL;
    for (size_t i = 0; i < policy_hooks_count && !places.lost; i++)
        enter_hook(&places, policy_hooks[i].path, rules, count, ret);
    return places.lost ? NULL : ret;
}
