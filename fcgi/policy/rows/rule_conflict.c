#include "config.h"

#include "policy/rows/rule_conflict.h"

#include <string.h>

#include "policy/rows/hooks.h"
#include "policy/rows/rego_rules.h"
#include "policy/rows/rule.h"

/* The text of the engine before the path of the rules, below data (OPA v1/ast/compile.go). */
#define CONFLICT "conflicting rules data."

/* Places in a refusal: more than these help no author. */
#define PLACES_MAX 5

bool
rule_conflict_is(const char *message)
{
    return strstr(message, CONFLICT) != NULL;
}

/* Return the path of the rules that the engine's message names, or NULL. */
static const char *
conflict_path(TALLOC_CTX *mem, const char *message)
{
    const char *at = strstr(message, CONFLICT);
    if (at == NULL)
        return NULL;
    at += strlen(CONFLICT);
    return talloc_strndup(mem, at, strcspn(at, " \n"));
}

/* Return the line of the first rule of a text that lies at the path; 0: it has none. */
static unsigned
line_of(TALLOC_CTX *mem, const char *content, const char *path)
{
    const char *package;
    struct rego_rule *rule;
    size_t rules;
    if (rule_package(mem, content, &package) != RULE_PACKAGE_NAMED
        || !rego_rules_find(mem, content, &rule, &rules))
        return 0;
    size_t length = strlen(package);
    if (strncmp(path, package, length) != 0 || path[length] != '.')
        return 0;
    for (size_t i = 0; i < rules; i++)
        if (strcmp(rule[i].name, path + length + 1) == 0)
            return rule[i].line;
    return 0;
}

/* Return the places of the rules, "a.rego:3, b.rego:4"; "" if there are none. */
static char *
places(TALLOC_CTX *mem, const struct rule_side *rules, size_t count, const char *path, bool fresh)
{
    size_t found = 0;
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; text != NULL && i < count && found < PLACES_MAX; i++) {
        unsigned line = rules[i].fresh == fresh ? line_of(mem, rules[i].content, path) : 0;
        if (line > 0)
            text = talloc_asprintf_append_buffer(text, "%s%s:%u", found++ > 0 ? ", " : "",
                                                 rules[i].path, line);
    }
    return text;
}

const char *
rule_conflict_text(TALLOC_CTX *mem, const struct rule_side *rules, size_t count,
                   const char *message)
{
    TALLOC_CTX *work = talloc_new(mem);
    char *text = NULL;
    const char *path = work != NULL ? conflict_path(work, message) : NULL;
    const char *ours = path != NULL ? places(work, rules, count, path, true) : NULL;
    const char *others = path != NULL ? places(work, rules, count, path, false) : NULL;
    if (ours != NULL && others != NULL && *ours != '\0') {
        const struct policy_hook *hook = policy_hooks_blamed(message);
        const char *why = hook != NULL
                              ? policy_hooks_fault(work, hook, NULL)
                              : talloc_asprintf(work, "all rules %s must have one form", path);
        if (why != NULL)
            text = talloc_asprintf(mem, "%s: %s%s%s", ours, why,
                                   *others != '\0' ? "; rules of the same name: " : "", others);
    }
    talloc_free(work);
    return text;
}
