#include "config.h"

#include "policy/rows/cedar_unknown.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/json/jsonx.h"
#include "base/nearest.h"
#include "cedar/parse.h"

/* One check. */
struct unknown {
    TALLOC_CTX *mem;
    const struct cedar_known *known;
    const json_t *types, *actions, *common; /* of the schema */
    const json_t *service;                  /* the record context.svc */
    const char *path;
    json_t *said; /* names that were reported */
    json_t *faults, *notes;
    bool lost;
};

/* ---- reporting */

/* Report a name once, at the place where it was met first. */
static void __attribute__((format(printf, 5, 6)))
unknown_say(struct unknown *unknown, json_t *list, const struct cedar_node *node, const char *name,
            const char *format, ...)
{
    va_list args;
    if (name == NULL || json_object_get(unknown->said, name) != NULL)
        return;
    va_start(args, format);
    const char *what = talloc_vasprintf(unknown->mem, format, args);
    va_end(args);
    const char *text = talloc_asprintf(unknown->mem, "%s:%u:%u: %s", unknown->path,
                                       node->place.line, node->place.column, what);
    if (what == NULL || text == NULL || json_array_append_new(list, json_string(text)) != 0
        || json_object_set_new(unknown->said, name, json_true()) != 0)
        unknown->lost = true;
}

/* Return the names of the members of an object, ended by NULL. */
static const char **
member_names(struct unknown *unknown, const json_t *object)
{
    const char *name;
    json_t *value;
    size_t count = 0;
    const char **names =
        talloc_zero_array(unknown->mem, const char *, (unsigned) json_object_size(object) + 1);
    unknown->lost = unknown->lost || names == NULL;
    json_object_foreach ((json_t *) (uintptr_t) object, name, value)
        if (names != NULL)
            names[count++] = name;
    return names;
}

/* Return the members of an object that are near to a name as "'a' or 'b'", or NULL. */
static const char *
near_members(struct unknown *unknown, const json_t *object, const char *name)
{
    const char **names = member_names(unknown, object);
    return names != NULL ? nearest_words(unknown->mem, names, name) : NULL;
}

/* Return a Cedar text as a C string; NULL: no memory, or the text has U+0000. */
static const char *
unknown_text(struct unknown *unknown, struct cedar_text text)
{
    return memchr(text.at, '\0', text.length) == NULL
               ? talloc_strndup(unknown->mem, text.at, text.length)
               : NULL;
}

/* ---- types */

/* True if a row has the type: its name stands in a text of its own there. */
static bool
row_has_type(const struct unknown *unknown, const char *type)
{
    const char *quoted = talloc_asprintf(unknown->mem, "\"%s\"", type);
    for (size_t i = 0; quoted != NULL && i < unknown->known->rows; i++)
        if (strstr(unknown->known->row[i], quoted) != NULL)
            return true;
    return quoted == NULL;
}

/* Return the type of the schema that differs from this one by the case of letters alone, or NULL.
 */
static const char *
same_letters(const struct unknown *unknown, const char *type)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) unknown->types, name, value)
        if (strcasecmp(name, type) == 0)
            return name;
    return NULL;
}

static void
judge_type(struct unknown *unknown, const struct cedar_node *node, struct cedar_text text)
{
    const char *type = unknown_text(unknown, text);
    if (type == NULL || strcmp(type, "Action") == 0 || json_object_get(unknown->types, type) != NULL
        || row_has_type(unknown, type))
        return;
    const char *same = same_letters(unknown, type),
               *near = near_members(unknown, unknown->types, type);
    if (same != NULL)
        unknown_say(unknown, unknown->notes, node, type,
                    "the type %s is not %s: it can only come from an access request (AuthZEN)",
                    type, same);
    else if (near != NULL)
        unknown_say(unknown, unknown->faults, node, type,
                    "there is no entity of the type %s; did you mean %s?", type, near);
    else
        unknown_say(unknown, unknown->notes, node, type,
                    "the service has no entity of the type %s: it can only come from an access "
                    "request (AuthZEN)",
                    type);
}

/* ---- actions */

/* Beginnings of actions that go on with a name of the operator. */
static const char *const open_actions[] = {"issue:scope:", "gateway:", NULL};

static bool
begins_with(const char *const *beginnings, const char *id)
{
    for (; *beginnings != NULL; beginnings++)
        if (strncmp(id, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

/* Report an action that no request can have. An id without a colon may be that of an access
 * request. */
static void
judge_action(struct unknown *unknown, const struct cedar_node *node, struct cedar_text text)
{
    static const char *const families[] = {"issue", "gateway", "introspect", NULL};
    const char *id = unknown_text(unknown, text);
    if (id == NULL || json_object_get(unknown->actions, id) != NULL || begins_with(open_actions, id)
        || row_has_type(unknown, id))
        return;
    const char *family = talloc_strndup(unknown->mem, id, strcspn(id, ":")),
               *near = near_members(unknown, unknown->actions, id);
    bool issue = strncmp(id, "issue:", strlen("issue:")) == 0;
    const char *near_family =
        family != NULL && !issue ? nearest_words(unknown->mem, families, family) : NULL;
    if (near != NULL)
        unknown_say(unknown, unknown->faults, node, id,
                    "there is no action \"%s\"; did you mean %s?", id, near);
    else if (issue)
        unknown_say(unknown, unknown->faults, node, id,
                    "there is no action \"%s\"; those of a token are \"issue:scope:<scope>\" and "
                    "\"issue:access_token:<grant type>\"",
                    id);
    else if (near_family != NULL && strchr(id, ':') != NULL)
        unknown_say(unknown, unknown->faults, node, id,
                    "there is no action \"%s\"; did you mean one that begins with %s?", id,
                    near_family);
}

/* ---- members of context.svc */

/* Return the attributes of a type of the schema, or NULL if it is no record. */
static const json_t *
attributes_of(const struct unknown *unknown, const json_t *type)
{
    const char *name = json_string_value(json_object_get(type, "name"));
    const json_t *named = name != NULL ? json_object_get(unknown->common, name) : NULL;
    return json_object_get(named != NULL ? named : type, "attributes");
}

/* Return the attributes of a member of a record, or NULL. Report a member that is not there. */
static const json_t *
step_into(struct unknown *unknown, const struct cedar_node *node, const json_t *attributes,
          struct cedar_text text)
{
    const char *name = unknown_text(unknown, text);
    const json_t *type = name != NULL ? json_object_get(attributes, name) : NULL;
    if (name == NULL || attributes == NULL)
        return NULL;
    if (type != NULL)
        return attributes_of(unknown, type);
    const char *near = near_members(unknown, attributes, name),
               *where =
                   attributes == unknown->service ? "context.svc" : "this member of context.svc";
    if (near != NULL)
        unknown_say(unknown, unknown->faults, node, name, "%s has no member %s; did you mean %s?",
                    where, name, near);
    else
        unknown_say(unknown, unknown->faults, node, name,
                    "%s has no member %s; doc/cedar.md 3 lists them", where, name);
    return NULL;
}

static bool
text_is(struct cedar_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/* Return the attributes of what a member of the context is: of `svc`. Report a member that only
 * `svc` has. */
static const json_t *
step_into_context(struct unknown *unknown, const struct cedar_node *node, struct cedar_text text)
{
    const char *name = unknown_text(unknown, text);
    if (text_is(text, "svc"))
        return unknown->service;
    if (name != NULL && json_object_get(unknown->service, name) != NULL)
        unknown_say(unknown, unknown->notes, node,
                    talloc_asprintf(unknown->mem, "context.%s", name),
                    "context.%s is what a caller sends; what the service knows is context.svc.%s",
                    name, name);
    return NULL;
}

static bool
is_context(const struct cedar_node *node)
{
    return node->kind == CEDAR_VARIABLE && node->variable == CEDAR_CONTEXT;
}

/* Return the attributes of the record that an expression is, as far as it begins with
 * context.svc. The members on the way are reported when they are judged themselves. */
static const json_t *
record_of(struct unknown *unknown, const struct cedar_node *node)
{
    if (node->kind != CEDAR_ATTRIBUTE)
        return NULL;
    if (is_context(node->child[0]))
        return step_into_context(unknown, node, node->text[0]);
    const json_t *attributes = record_of(unknown, node->child[0]);
    return attributes != NULL ? step_into(unknown, node, attributes, node->text[0]) : NULL;
}

/* Judge the path of `has`: context has svc.client.id. */
static void
judge_has(struct unknown *unknown, const struct cedar_node *node)
{
    bool context = is_context(node->child[0]);
    const json_t *attributes = context ? NULL : record_of(unknown, node->child[0]);
    for (size_t i = 0; i < node->texts; i++)
        attributes = i == 0 && context ? step_into_context(unknown, node, node->text[i])
                                       : step_into(unknown, node, attributes, node->text[i]);
}

/* ---- the tree */

static void
judge_value(struct unknown *unknown, const struct cedar_node *node, const struct cedar_value *value)
{
    if (value->type == CEDAR_ENTITY) {
        judge_type(unknown, node, value->uid.type);
        if (text_is(value->uid.type, "Action"))
            judge_action(unknown, node, value->uid.id);
    }
    for (size_t i = 0;
         (value->type == CEDAR_SET || value->type == CEDAR_RECORD) && i < value->all.count; i++)
        judge_value(unknown, node, &value->all.member[i]);
}

static void
judge_node(struct unknown *unknown, const struct cedar_node *node)
{
    if (node == NULL)
        return;
    if (node->kind == CEDAR_LITERAL)
        judge_value(unknown, node, &node->value);
    else if (node->kind == CEDAR_IS)
        judge_type(unknown, node, node->text[0]);
    else if (node->kind == CEDAR_ATTRIBUTE)
        record_of(unknown, node);
    else if (node->kind == CEDAR_HAS)
        judge_has(unknown, node);
    for (size_t i = 0; i < node->children; i++)
        judge_node(unknown, node->child[i]);
}

/* Note a policy that has no effect in the mode of the service, once for each effect. */
static void
judge_mode(struct unknown *unknown, const struct cedar_policy *policy)
{
    const char *mode = unknown->known->mode, *effect = policy->forbid ? "forbid" : "permit";
    const struct cedar_node node = {.place = policy->place};
    if (mode == NULL || strcmp(mode, "source") == 0 || (policy->forbid && strcmp(mode, "off") != 0))
        return;
    unknown_say(unknown, unknown->notes, &node, talloc_asprintf(unknown->mem, "%s ", effect),
                "a %s has no effect while cedar_mode is %s "
                "(svc.operator.controls.authzen)%s",
                effect, mode,
                policy->forbid ? "" : "; with source, it permits access requests (AuthZEN)");
}

static void
judge_policy(struct unknown *unknown, const struct cedar_policy *policy)
{
    judge_mode(unknown, policy);
    for (size_t i = 0; i < sizeof(policy->scope) / sizeof(policy->scope[0]); i++)
        judge_node(unknown, policy->scope[i]);
    for (size_t i = 0; i < policy->conditions; i++)
        judge_node(unknown, policy->condition[i].body);
}

bool
cedar_unknown_find(TALLOC_CTX *mem, const struct cedar_known *known, const char *path,
                   const char *content, json_t *faults, json_t *notes)
{
    struct cedar_fault fault;
    const json_t *schema = json_object_get(known->schema, "");
    struct unknown unknown = {.mem = talloc_new(mem),
                              .known = known,
                              .types = json_object_get(schema, "entityTypes"),
                              .actions = json_object_get(schema, "actions"),
                              .common = json_object_get(schema, "commonTypes"),
                              .path = path,
                              .faults = faults,
                              .notes = notes};
    unknown.service = json_object_get(json_object_get(unknown.common, "Service"), "attributes");
    if (unknown.mem == NULL || (unknown.said = jsonx_own(unknown.mem, json_object())) == NULL)
        return false;
    const struct cedar_file *file = cedar_parse(unknown.mem, content, strlen(content), &fault);
    for (size_t i = 0; file != NULL && i < file->policies; i++)
        judge_policy(&unknown, &file->policy[i]);
    talloc_free(unknown.mem);
    return !unknown.lost;
}
