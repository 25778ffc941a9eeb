#include "config.h"

#include "policy/rows/rule_unread.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/nearest.h"
#include "policy/rows/data_key.h"
#include "policy/rows/hooks.h"
#include "policy/rows/rego_rules.h"
#include "policy/rows/rule.h"

/* Longest reference, in octets, that is compared: longer ones are cut, which only widens what they
 * read. */
#define REFERENCE_MAX RULE_PACKAGE_MAX

/* A rule that was read. */
struct unread_module {
    const struct rule_text *text;
    const char *package; /* NULL: not known */
    struct rego_rule *rule;
    size_t rules;
    bool known; /* its rules could be found */
};

/* All of them. */
struct unread {
    TALLOC_CTX *mem;
    struct unread_module *module;
    size_t count;
    json_t *uses;       /* word to the rule that has it */
    json_t *references; /* path below data to the package that refers to it */
    json_t *above;      /* the same for paths above those */
    json_t *faults, *notes;
    bool lost;
};

/* ---- hooks */

/* Return the length of the package of a hook. */
static size_t
package_length(const struct policy_hook *hook)
{
    return (size_t) (strrchr(hook->path, '.') - hook->path);
}

/* Return the names of hooks, ended by NULL: those of a package, or without one the packages. */
static const char **
unread_names(TALLOC_CTX *mem, const char *package)
{
    const char **names = talloc_zero_array(mem, const char *, (unsigned) policy_hooks_count + 1);
    for (size_t i = 0, count = 0; names != NULL && i < policy_hooks_count; i++) {
        size_t length = package_length(&policy_hooks[i]);
        const char *own = talloc_strndup(mem, policy_hooks[i].path, length);
        if (own == NULL)
            return NULL;
        if (package != NULL && strcmp(package, own) == 0)
            names[count++] = policy_hooks[i].path + length + 1;
        else if (package == NULL && (count == 0 || strcmp(names[count - 1], own) != 0))
            names[count++] = own;
    }
    return names;
}

static bool
has_name(const char *const *names, const char *name)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

/* Return the names as "a, b, c". */
static const char *
names_listed(TALLOC_CTX *mem, const char *const *names)
{
    char *list = talloc_strdup(mem, "");
    for (size_t i = 0; list != NULL && names[i] != NULL; i++)
        list = talloc_asprintf_append_buffer(list, "%s%s", i > 0 ? ", " : "", names[i]);
    return list;
}

/* ---- uses */

/* Enter that `user` uses a name. An entry is the only user, or "" if there are several. */
static void
enter_use(struct unread *unread, json_t *uses, const char *name, size_t length, const char *user)
{
    const json_t *entry = json_object_getn(uses, name, length);
    const char *before = json_string_value(entry);
    if (before != NULL && (*before == '\0' || strcmp(before, user) == 0))
        return;
    if (json_object_setn_new(uses, name, length, json_string(before == NULL ? user : "")) != 0)
        unread->lost = true;
}

/* True if another than `user` uses a name. */
static bool
another_uses(const json_t *uses, const char *name, size_t length, const char *user)
{
    const char *entry = json_string_value(json_object_getn(uses, name, length));
    return entry != NULL && strcmp(entry, user) != 0;
}

/* Read a reference that begins with `data` as words with dots between them; a member that is no
 * word and no string ends it. Return the place behind it. */
static const char *
read_reference(const char *next, char path[REFERENCE_MAX + 1])
{
    size_t used = 0;
    for (;;) {
        const char *after;
        struct rego_token sign = rego_token_at(next, &after);
        bool bracket = sign.kind == REGO_SIGN && *sign.text == '[';
        if (sign.kind != REGO_SIGN || (*sign.text != '.' && !bracket))
            break;
        struct rego_token token = rego_token_at(after, &after);
        size_t quotes = token.kind == REGO_STRING ? 1 : 0, length = token.length - 2 * quotes;
        if (token.kind != (bracket ? REGO_STRING : REGO_WORD) || length == 0
            || used + 1 + length > REFERENCE_MAX)
            break;
        if (used > 0)
            path[used++] = '.';
        memcpy(path + used, token.text + quotes, length);
        used += length;
        if (bracket)
            rego_token_at(after, &after);
        next = after;
    }
    path[used] = '\0';
    return next;
}

/* Enter a reference of a module to what is in data, and all that lies above it. */
static void
enter_reference(struct unread *unread, const struct unread_module *module, const char *path)
{
    const char *package = module->known && module->package != NULL ? module->package : "";
    enter_use(unread, unread->references, path, strlen(path), package);
    for (const char *dot = path; (dot = strchr(dot, '.')) != NULL; dot++)
        enter_use(unread, unread->above, path, (size_t) (dot - path), package);
}

/* Enter the words of a module, each with the name of the rule that has it, and its references. */
static void
enter_module(struct unread *unread, const struct unread_module *module)
{
    const char *next = module->text->content;
    size_t at = 0;
    struct rego_token token;
    char path[REFERENCE_MAX + 1];
    while (!unread->lost && (token = rego_token_at(next, &next)).kind != REGO_END) {
        size_t quotes = token.kind == REGO_STRING && token.length > 2 ? 1 : 0;
        while (at < module->rules && token.text >= module->rule[at].end)
            at++;
        bool inside = at < module->rules && token.text >= module->rule[at].begin;
        if (token.kind == REGO_WORD || quotes > 0)
            enter_use(unread, unread->uses, token.text + quotes, token.length - 2 * quotes,
                      inside && module->known ? module->rule[at].name : "");
        if (rego_token_is(&token, "data")) {
            read_reference(next, path);
            enter_reference(unread, module, path);
        }
    }
}

/* True if another package refers to this package, to something in it or to a parent of it. */
static bool
is_referred_to(const struct unread *unread, const char *package)
{
    size_t length = strlen(package);
    if (another_uses(unread->references, package, length, package)
        || another_uses(unread->above, package, length, package)
        || another_uses(unread->references, "", 0, package))
        return true;
    for (const char *dot = package; (dot = strchr(dot, '.')) != NULL; dot++)
        if (another_uses(unread->references, package, (size_t) (dot - package), package))
            return true;
    return false;
}

/* ---- judging */

static void
unread_say(struct unread *unread, bool fault, const char *text)
{
    json_t *list = fault ? unread->faults : unread->notes;
    if (text == NULL || json_array_append_new(list, json_string(text)) != 0)
        unread->lost = true;
}

static void
say_package(struct unread *unread, const struct unread_module *module, const char *const *packages)
{
    TALLOC_CTX *mem = unread->mem;
    const char *near = nearest_words(mem, packages, module->package),
               *listed = names_listed(mem, packages);
    bool ours = policy_name_lies_in(module->package, "custom");
    unread_say(unread, ours || near != NULL,
               near != NULL
                   ? talloc_asprintf(mem, "%s: nothing reads the package %s; did you mean %s?",
                                     module->text->path, module->package, near)
                   : talloc_asprintf(mem,
                                     "%s: %s reads the package %s; rules that decide are in "
                                     "the packages %s",
                                     module->text->path,
                                     ours ? "nothing" : "nothing in the service", module->package,
                                     listed));
}

static void
judge_rules(struct unread *unread, const struct unread_module *module, const char *const *hooks)
{
    TALLOC_CTX *mem = unread->mem;
    const char *said = "";
    for (size_t i = 0; module->known && i < module->rules; i++) {
        const struct rego_rule *rule = &module->rule[i];
        if (has_name(hooks, rule->name) || strcmp(said, rule->name) == 0
            || another_uses(unread->uses, rule->name, strlen(rule->name), rule->name))
            continue;
        const char *near = nearest_words(mem, hooks, rule->name);
        said = rule->name;
        unread_say(unread, true,
                   near != NULL
                       ? talloc_asprintf(mem, "%s:%u: nothing reads %s.%s; did you mean %s?",
                                         module->text->path, rule->line, module->package,
                                         rule->name, near)
                       : talloc_asprintf(mem,
                                         "%s:%u: nothing reads %s.%s; the service reads %s in this "
                                         "package",
                                         module->text->path, rule->line, module->package,
                                         rule->name, names_listed(mem, hooks)));
    }
}

static void
judge_module(struct unread *unread, const struct unread_module *module, const char *const *packages)
{
    if (module->package == NULL)
        return;
    if (!has_name(packages, module->package)) {
        if (!is_referred_to(unread, module->package))
            say_package(unread, module, packages);
        return;
    }
    const char **hooks = unread_names(unread->mem, module->package);
    if (hooks != NULL)
        judge_rules(unread, module, hooks);
    else
        unread->lost = true;
}

bool
rule_unread_find(TALLOC_CTX *mem, const struct rule_text *rules, size_t count, json_t *faults,
                 json_t *notes)
{
    TALLOC_CTX *work = talloc_new(mem);
    struct unread unread = {.mem = work, .count = count, .faults = faults, .notes = notes};
    const char **packages = work != NULL ? unread_names(work, NULL) : NULL;
    unread.module = talloc_zero_array(work, struct unread_module, (unsigned) count + 1);
    unread.uses = jsonx_own(work, json_object());
    unread.references = jsonx_own(work, json_object());
    unread.above = jsonx_own(work, json_object());
    unread.lost = packages == NULL || unread.module == NULL || faults == NULL || notes == NULL
                  || unread.uses == NULL || unread.references == NULL || unread.above == NULL;
    for (size_t i = 0; i < count && !unread.lost; i++) {
        struct unread_module *module = &unread.module[i];
        module->text = &rules[i];
        if (rule_package(work, rules[i].content, &module->package) != RULE_PACKAGE_NAMED)
            module->package = NULL;
        module->known = rego_rules_find(work, rules[i].content, &module->rule, &module->rules);
        enter_module(&unread, module);
    }
    for (size_t i = 0; i < count && !unread.lost; i++)
        judge_module(&unread, &unread.module[i], packages);
    talloc_free(work);
    return !unread.lost;
}
