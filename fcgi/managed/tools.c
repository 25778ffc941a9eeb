#include "config.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "managed/canonical.h"
#include "managed/pattern.h"
#include "managed/reader.h"

/* Sub-schemas of a schema (gateway-admin.md 1.5): it is sent to every client and checked with every
 * call. */
#define SCHEMA_OBJECTS_MAX 2000

static const char *const origins[] = {"local", "manifest", "upstream", NULL};
static const char *const pin_words[] = {"approved", "new", "changed", "missing", NULL};

/* A tool as it stands in the document. */
struct raw_tool {
    struct managed_tool tool;
    const char *route;
    const json_t *pin;
};

struct raw_pin {
    const char *sha256, *status;
};

struct raw_args {
    const json_t *path, *query, *header, *body;
};

/* ---- schemas */

struct schema_walk {
    size_t objects;
    const char *why;
};

/* Keywords whose members are schemas, under names of the author. */
static const char *const schema_maps[] = {"properties", "patternProperties", "dependentSchemas",
                                          "$defs",      "definitions",       NULL};

static void schema_step(struct schema_walk *walk, const json_t *schema, unsigned level);

/* Walk through a value of a schema of this level. An object is the next level, and so is what an
 * array or the object of a map holds. */
static void
schema_value(struct schema_walk *walk, const json_t *value, bool map, unsigned level)
{
    const char *name;
    json_t *member;
    size_t index;
    if (!map && !json_is_array(value))
        schema_step(walk, value, level + 1);
    else if (map && ++walk->objects > SCHEMA_OBJECTS_MAX)
        walk->why = "has more than 2000 sub-schemas";
    else if (!map && level > MANAGED_SCHEMA_NESTING_MAX)
        walk->why = "is nested more deeply than 32 levels";
    else if (map)
        json_object_foreach ((json_t *) (uintptr_t) value, name, member)
            schema_step(walk, member, level + 1);
    json_array_foreach (value, index, member)
        schema_value(walk, member, false, json_is_array(member) ? level + 1 : level);
}

/* Count the objects of a schema, each of which may be a sub-schema, and refuse references to other
 * documents: the service does not fetch for a schema. */
static void
schema_step(struct schema_walk *walk, const json_t *schema, unsigned level)
{
    const char *name;
    json_t *member;
    if (walk->why != NULL)
        return;
    if (level > MANAGED_SCHEMA_NESTING_MAX && (json_is_object(schema) || json_is_array(schema)))
        walk->why = "is nested more deeply than 32 levels";
    else if (json_is_object(schema) && ++walk->objects > SCHEMA_OBJECTS_MAX)
        walk->why = "has more than 2000 sub-schemas";
    if (walk->why != NULL)
        return;
    json_object_foreach ((json_t *) (uintptr_t) schema, name, member) {
        bool reference = strcmp(name, "$ref") == 0 || strcmp(name, "$dynamicRef") == 0;
        if (reference && json_is_string(member) && *json_string_value(member) != '#')
            walk->why = "refers to another document";
        schema_value(walk, member, json_is_object(member) && words_has(schema_maps, name), level);
    }
}

/* Return what is wrong with a schema that may be for any value, as MCP 2026-07-28 allows for
 * results. */
static const char *
any_schema_rule(TALLOC_CTX *mem, const json_t *value)
{
    struct schema_walk walk = {.why = NULL};
    (void) mem;
    schema_step(&walk, value, 1);
    return walk.why;
}

static const char *
schema_rule(TALLOC_CTX *mem, const json_t *value)
{
    const char *type = json_string_value(json_object_get(value, "type"));
    return type != NULL && strcmp(type, "object") == 0 ? any_schema_rule(mem, value)
                                                       : "must have the type object";
}

/* ---- the members of a tool */

/* Return the fault of a name at an upstream: MCP allows letters, digits and _-./, and a name with
 * invisible characters would mislead the people who approve it. */
static const char *
tool_name_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    for (const char *c = json_string_value(value); *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c >= 0x7f)
            return "must have visible ASCII characters only";
    return NULL;
}

/* clang-format off */
static const struct field pin_fields[] = {
    {"sha256", FIELD_TEXT, .min = MANAGED_PIN_SIZE - 1, .max = MANAGED_PIN_SIZE - 1,
     FIELD_INTO(struct raw_pin, sha256),
     .help = "SHA-256 of the tool as the upstream described it last"},
    {"approved", FIELD_TEXT, .min = MANAGED_PIN_SIZE - 1, .max = MANAGED_PIN_SIZE - 1,
     .help = "SHA-256 of the tool as it was approved last; absent: it never was"},
    {"status", FIELD_TEXT, .required = true, .words = pin_words, FIELD_INTO(struct raw_pin, status),
     .help = "approved, new, changed or missing", .example = "\"approved\""},
    {"seenAt", FIELD_TEXT, .max = FIELD_WORD_MAX, .help = "Time at which a sync last found it so"},
    {"approvedAt", FIELD_TEXT, .max = FIELD_WORD_MAX, .help = "Time of the approval"},
    {"approvedBy", FIELD_TEXT, .max = FIELD_NAME_MAX,
     .help = "Who approved it; absent: the first sync did"},
    {"approvedText", FIELD_OBJECT, .rule = managed_object_rule,
     .help = "While it waits as changed: title, description, schemas and upstreamAnnotations as "
             "they were approved"},
};
static const struct field_table pin_table = FIELD_TABLE(NULL, pin_fields, 0);

static const struct field args_fields[] = {
    {"path",   FIELD_TEXT_LIST, .max = MANAGED_VARIABLES_MAX, .item_max = MANAGED_WORD_MAX,
     FIELD_INTO(struct raw_args, path), .help = "Arguments that are the variables of upstreamPath",
     .example = "[\"owner\", \"repo\"]"},
    {"query",  FIELD_TEXT_LIST, .max = MANAGED_NAMES_MAX, .item_max = MANAGED_WORD_MAX,
     FIELD_INTO(struct raw_args, query), .help = "Arguments that are parameters of the query",
     .example = "[\"state\"]"},
    {"header", FIELD_TEXT_LIST, .max = MANAGED_HEADERS_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = header_forward_rule, FIELD_INTO(struct raw_args, header),
     .help = "Arguments that are header fields"},
    {"body",   FIELD_ANY, FIELD_INTO(struct raw_args, body),
     .help = "Arguments that are members of a JSON body, or \"*\" for all others; null: no body",
     .example = "[\"title\"]"},
};
static const struct field_table args_table = FIELD_TABLE(NULL, args_fields, 0);

static const struct field icon_fields[] = {
    {"src",      FIELD_TEXT,      .max = MANAGED_ICON_MAX,
     .help = "data: URL of a PNG, JPEG or WebP"},
    {"mimeType", FIELD_TEXT,      .max = MANAGED_ICON_MAX, .help = "Its media type"},
    {"sizes",    FIELD_TEXT_LIST, .max = MANAGED_ICON_MAX, .item_max = MANAGED_ICON_MAX,
     .help = "Sizes for which it is made"},
    {"theme",    FIELD_TEXT,      .max = MANAGED_ICON_MAX, .help = "light or dark"},
};
static const struct field_table icon_table = FIELD_TABLE(NULL, icon_fields, 0);

static const struct field tool_fields[] = {
    {"name",         FIELD_TEXT,      .required = true, .max = MANAGED_WORD_MAX,
     .rule = tool_name_rule, FIELD_INTO(struct raw_tool, tool.name),
     .help = "Name within the resource; clients see resource__name", .example = "\"list_issues\""},
    {"title",        FIELD_TEXT,      .may_be_empty = true, .max = FIELD_NAME_MAX,
     FIELD_INTO(struct raw_tool, tool.title), .help = "Name for people",
     .example = "\"List issues\""},
    {"description",  FIELD_TEXT,      .may_be_empty = true, .max = MANAGED_TEXT_MAX,
     FIELD_INTO(struct raw_tool, tool.description), .help = "Says to the model what the tool does"},
    {"inputSchema",  FIELD_OBJECT,    .rule = schema_rule,
     FIELD_INTO(struct raw_tool, tool.input_schema),
     .help = "JSON Schema 2020-12 of the arguments, without references to other documents",
     .example = "{\"type\": \"object\"}"},
    {"outputSchema", FIELD_OBJECT,    .rule = any_schema_rule,
     FIELD_INTO(struct raw_tool, tool.output_schema),
     .help = "JSON Schema 2020-12 of the structured result; older clients see it if its type is "
             "object"},
    {"route",        FIELD_TEXT,      .max = MANAGED_WORD_MAX, FIELD_INTO(struct raw_tool, route),
     .help = "REST and STATIC: id of the route that a call requests", .example = "\"list-issues\""},
    {"args",         FIELD_OBJECT,    .shape = &args_table, FIELD_INTO(struct raw_tool, tool.args),
     .help = "Places of the arguments in that request"},
    {"upstreamName", FIELD_TEXT,      .max = MANAGED_WORD_MAX, .rule = tool_name_rule,
     FIELD_INTO(struct raw_tool, tool.upstream_name),
     .help = "MCP: name at the upstream; the name if it is left out"},
    {"annotations",  FIELD_OBJECT,    .rule = managed_object_rule,
     FIELD_INTO(struct raw_tool, tool.annotations), .help = "Hints of MCP about the tool",
     .example = "{\"readOnlyHint\": true}"},
    {"upstreamAnnotations", FIELD_OBJECT, .rule = managed_object_rule,
     FIELD_INTO(struct raw_tool, tool.upstream_annotations),
     .help = "MCP: what the upstream claims about an approved tool; clients see it below "
             "annotations, policy does not"},
    {"upstreamIcons", FIELD_ARRAY,    .max = MANAGED_MEMBERS_MAX, .shape = &icon_table,
     FIELD_INTO(struct raw_tool, tool.icons),
     .help = "MCP: icons of an approved tool, PNG, JPEG or WebP as data: URLs"},
    {"upstreamMeta", FIELD_OBJECT,    .rule = managed_object_rule,
     FIELD_INTO(struct raw_tool, tool.meta),
     .help = "MCP: members of _meta of an approved tool whose prefix is not reserved for MCP"},
    {"scopes",       FIELD_TEXT_LIST, .max = MANAGED_SCOPES_MAX, .item_max = MANAGED_WORD_MAX,
     .rule = managed_scope_rule, FIELD_INTO(struct raw_tool, tool.scopes),
     .help = "Scopes that a call needs; those of the route, or defaultScope, if it is left out"},
    {"pin",          FIELD_OBJECT,    .shape = &pin_table, FIELD_INTO(struct raw_tool, pin),
     .help = "MCP: the description of the upstream and its approval; set by the service"},
    {"enabled",      FIELD_BOOLEAN,   FIELD_INTO(struct raw_tool, tool.enabled),
     .absent_is_true = true, .help = "false: the tool is not served", .example = "true"},
    {"origin",       FIELD_TEXT,      .words = origins, FIELD_INTO(struct raw_tool, tool.origin),
     .help = "local, manifest (it came with a connector) or upstream (it came with a sync)"},
};
const struct field_table managed_tool_table = FIELD_TABLE("ManagedTool", tool_fields, 0);
/* clang-format on */

/* True if a list of names has a name. */
static bool
list_has(const json_t *list, const char *name)
{
    return words_array_has(list, name);
}

/* Each variable of the address needs an argument, and each argument of `path` a variable. */
static void
check_path_args(struct reader *reader, const struct managed_pattern *pattern, const json_t *path)
{
    size_t index;
    json_t *name;
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->segment[i].variable && !list_has(path, pattern->segment[i].text))
            reader_tell_text(reader, "args.path", "must have %s, which is in the path of the route",
                             pattern->segment[i].text);
    json_array_foreach (path, index, name)
        if (!managed_pattern_has(pattern, json_string_value(name)))
            reader_tell(reader, "args.path", "has a name that is not in the path of the route");
}

static void
check_body_args(struct reader *reader, const json_t *body)
{
    size_t index;
    json_t *name;
    const char *text = json_string_value(body);
    bool good = body == NULL || json_is_null(body) || json_is_array(body)
                || (text != NULL && strcmp(text, "*") == 0);
    json_array_foreach (body, index, name)
        good = good && json_is_string(name);
    if (!good || json_array_size(body) > MANAGED_NAMES_MAX)
        reader_tell(reader, "args.body", "must be a list of at most 100 names, \"*\" or null");
}

static void
read_args(struct reader *reader, const struct managed_tool *tool)
{
    struct raw_args args = {.path = NULL};
    if (!reader_part(reader, "args", &args_table, tool->args, &args))
        return;
    check_path_args(reader, &tool->route->upstream_pattern, args.path);
    check_body_args(reader, args.body);
}

/* Find the route of a tool. */
static void
bind_route(struct reader *reader, const char *id, struct managed_tool *tool)
{
    const struct managed_resource *resource = reader->resource;
    for (size_t i = 0; id != NULL && i < resource->routes; i++)
        if (resource->route[i].id != NULL && strcmp(resource->route[i].id, id) == 0)
            tool->route = &resource->route[i];
    if (id == NULL)
        reader_tell(reader, "route", "is required for a tool of a REST or STATIC resource");
    else if (tool->route == NULL)
        reader_tell(reader, "route", "is not the id of a route");
    else if (tool->route->left_out)
        reader_tell(reader, "route", "is the id of a route that is left out");
    else if (tool->route->action != NULL) /* else the route has a fault */
        read_args(reader, tool);
}

/* A tool of an MCP upstream has a name there and a pin; the others have a route. */
static void
managed_read_kind(struct reader *reader, const struct raw_tool *raw, struct managed_tool *tool)
{
    struct raw_pin pin = {.status = NULL};
    size_t index;
    const json_t *icon;
    if (reader->resource->upstream != MANAGED_MCP) {
        if (tool->upstream_name != NULL)
            reader_tell(reader, "upstreamName", "is for MCP resources only");
        if (tool->upstream_annotations != NULL)
            reader_tell(reader, "upstreamAnnotations", "is for MCP resources only");
        if (tool->icons != NULL || tool->meta != NULL)
            reader_tell(reader, tool->icons != NULL ? "upstreamIcons" : "upstreamMeta",
                        "is for MCP resources only");
        if (raw->pin != NULL)
            reader_tell(reader, "pin", "is for MCP resources only");
        bind_route(reader, raw->route, tool);
        return;
    }
    if (raw->route != NULL || tool->args != NULL)
        reader_tell(reader, raw->route != NULL ? "route" : "args",
                    "is for REST and STATIC resources only");
    json_array_foreach (tool->icons, index, icon)
        reader_part(reader, "upstreamIcons", &icon_table, icon, NULL);
    if (tool->upstream_name == NULL)
        tool->upstream_name = tool->name;
    if (reader_part(reader, "pin", &pin_table, raw->pin, &pin)) {
        tool->pin = managed_pin_of(pin.status);
        tool->pin_sha256 = pin.sha256;
    }
}

/* Give a tool the scopes and the schema that it does not name. */
static void
default_members(struct reader *reader, struct managed_tool *tool)
{
    const char *scope = reader->resource->default_scope;
    if (tool->scopes == NULL && tool->route != NULL)
        tool->scopes = tool->route->scopes;
    if (tool->scopes == NULL)
        tool->scopes =
            jsonx_own(reader->mem, scope != NULL ? json_pack("[s]", scope) : json_array());
    if (tool->input_schema == NULL)
        tool->input_schema = jsonx_own(reader->mem, json_pack("{s:s}", "type", "object"));
    reader->lost = reader->lost || tool->scopes == NULL || tool->input_schema == NULL;
}

static void
read_tool(struct reader *reader, const json_t *object, struct managed_tool *tool)
{
    struct raw_tool raw = {
        .tool = {.enabled = true, .origin = "local"}
    };
    if (!reader_fields(reader, &managed_tool_table, object, &raw))
        return;
    *tool = raw.tool;
    size_t max =
        reader->reading->name_max > 0 ? (size_t) reader->reading->name_max : MANAGED_EXPOSED_MAX;
    managed_names_make(reader->mem, max, reader->resource->name, tool->name, &tool->exposed);
    managed_names_make(reader->mem, max, NULL, tool->name, &tool->single);
    if (tool->exposed.shown == NULL || tool->single.shown == NULL) {
        reader->lost = true;
        return;
    }
    if (managed_exposed_name_is_reserved(tool->single.shown))
        reader_tell(reader, "name", "is that of a tool of the gateway");
    managed_read_kind(reader, &raw, tool);
    default_members(reader, tool);
    tool->served = managed_tool_is_served(reader->resource, tool);
}

/* Tell the fault of a tool that has a name of another one. False: it has none. */
static bool
tell_clash(struct reader *reader, const struct managed_tool *tool, const struct managed_tool *other)
{
    if (managed_names_clash(&tool->single, &other->single)
        || managed_names_clash(&tool->exposed, &other->exposed))
        reader_tell_text(reader, "name", "makes the name %s, which another tool has",
                         tool->exposed.shown);
    else if (tool->upstream_name != NULL && other->upstream_name != NULL
             && strcmp(tool->upstream_name, other->upstream_name) == 0)
        reader_tell(reader, "upstreamName", "is that of another tool");
    else
        return false;
    return true;
}

/* Refuse two names that are equal to clients: a call could reach the wrong tool. In a stored
 * document it could so too, whichever of the two stayed: both are left out. */
static void
check_names(struct reader *reader, const struct managed_tool *tool, size_t count,
            struct managed_left_out *parts)
{
    bool stored = reader->reading->stored;
    for (size_t i = 0; i < count; i++) {
        if (!tell_clash(reader, &tool[count], &tool[i]))
            continue;
        if (!stored)
            return;
        reader->part = &parts[i];
        tell_clash(reader, &tool[i], &tool[count]);
        reader->part = &parts[count];
    }
}

/* Keep the tools that are not left out. */
static void
keep_tools(struct managed_resource *resource, struct managed_tool *tool,
           const struct managed_left_out *parts, size_t count)
{
    resource->tool = tool;
    for (size_t i = 0; i < count; i++)
        if (parts[i].why == NULL)
            tool[resource->tools++] = tool[i];
}

void
reader_tools(struct reader *reader, const json_t *tools)
{
    struct managed_resource *resource = reader->resource;
    size_t index;
    json_t *object;
    if (json_array_size(tools) == 0)
        return;
    struct managed_tool *tool =
        talloc_zero_array(reader->mem, struct managed_tool, (unsigned) json_array_size(tools));
    struct managed_left_out *parts = reader_parts(reader, tools);
    if (tool == NULL || parts == NULL) {
        reader->lost = true;
        return;
    }
    json_array_foreach (tools, index, object) {
        reader_part_begin(reader, "tool", "name", tools, index, parts);
        read_tool(reader, object, &tool[index]);
        check_names(reader, tool, index, parts);
    }
    reader_parts_end(reader, parts, json_array_size(tools));
    keep_tools(resource, tool, parts, json_array_size(tools));
}
