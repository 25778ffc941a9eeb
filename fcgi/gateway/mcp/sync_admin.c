#include "config.h"

#include "gateway/mcp/sync_admin.h"

#include <string.h>

#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "gateway/link/provider.h"
#include "gateway/mcp/sync.h"
#include "gateway/mcp/tools/tool_pins.h"
#include "store/gateway/listing.h"
#include "store/gateway/resources.h"

struct tool_sync {
    const char *subject, *idp;
};
struct tool_approval {
    const char *sha256;
};

/* clang-format off */
static const struct field tool_sync_fields[] = {
    {"subject", FIELD_TEXT, .max = FIELD_SUBJECT_MAX, FIELD_INTO(struct tool_sync, subject),
     .help = "Person whose linked account is used, for upstreams that know people alone",
     .example = "\"u-1\""},
    {"idp",     FIELD_TEXT, .max = FIELD_NAME_MAX, FIELD_INTO(struct tool_sync, idp),
     .help = "Identity provider of that person", .example = "\"corp\""},
};
static const struct field tool_approval_fields[] = {
    {"sha256", FIELD_TEXT, .max = 64, FIELD_INTO(struct tool_approval, sha256),
     .help = "pin.sha256 of the tool as it was read: another description is then not approved",
     .example = "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""},
};
static const struct field answer_tool_sync_fields[] = {
    {"added",   FIELD_TEXT_LIST, .required = true,
     .help = "Tools that the upstream did not have before"},
    {"changed", FIELD_TEXT_LIST, .required = true,
     .help = "Tools that it describes in another way"},
    {"removed", FIELD_TEXT_LIST, .required = true, .help = "Tools that it has no more"},
    {"waitingPrompts", FIELD_TEXT_LIST, .required = true, .help = "Prompts that wait for approval"},
    {"waitingInstructions", FIELD_BOOLEAN,
     .help = "true: the instructions wait for approval; left out where they are not read"},
    {"warning", FIELD_TEXT,
     .help = "What is wrong with upstreamAuth though the sync succeeds; left out if nothing is"},
};
static const struct field prompt_fields[] = {
    {"name",        FIELD_TEXT,  .required = true, .help = "Name at the upstream"},
    {"title",       FIELD_TEXT,  .help = "Title for people"},
    {"description", FIELD_TEXT,  .help = "Description for people"},
    {"arguments",   FIELD_ARRAY,
     .help = "Arguments: name, title, description and required of each"},
    {"status",      FIELD_TEXT,  .required = true,
     .help = "State of this description: approved, new, changed, or missing (the upstream lists "
             "the prompt no more)"},
    {"sha256",      FIELD_TEXT,  .required = true, .help = "Hash of it, which an approval names"},
    {"seenAt",      FIELD_TEXT,  .required = true, .help = "Time of the sync that read it"},
};
static const struct field instructions_fields[] = {
    {"instructions", FIELD_TEXT, .required = true,
     .help = "What the server says to models about its tools, as clients get it"},
    {"status",       FIELD_TEXT, .required = true,
     .help = "State of this text: approved, new, changed, or missing (the upstream gives none any "
             "more)"},
    {"sha256",       FIELD_TEXT, .required = true, .help = "Hash of it, which an approval names"},
    {"seenAt",       FIELD_TEXT, .required = true, .help = "Time of the sync that read it"},
};
/* clang-format on */
const struct field_table stored_instructions_table =
    FIELD_TABLE("StoredInstructions", instructions_fields, FIELDS_ANSWER);
const struct field_table stored_prompt_table =
    FIELD_TABLE("StoredPrompt", prompt_fields, FIELDS_ANSWER);
const struct field_table tool_sync_table = FIELD_TABLE("ToolSync", tool_sync_fields, 0);
const struct field_table tool_approval_table = FIELD_TABLE("ToolApproval", tool_approval_fields, 0);
const struct field_table answer_tool_sync =
    FIELD_TABLE("ToolSyncReport", answer_tool_sync_fields, FIELDS_ANSWER);

/* Read an optional body. */
static enum az_status
read_tool_options(struct request *req, const struct field_table *table, void *target)
{
    enum az_status st = req->json != NULL ? fields_read(req->op.mem, table, req->json,
                                                        request_field_fault, req, target, NULL)
                                          : AZ_OK;
    return st == AZ_INVALID ? op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL)
           : st == AZ_OK    ? AZ_OK
                            : op_fail(&req->op, st, NULL, "out of memory for a body");
}

/* Find the MCP resource of the path. `what` says if the second name in the path is a tool or a
 * prompt. */
static enum az_status
find_mcp(struct request *req, const char *what, const struct managed_resource **ret)
{
    struct op *op = &req->op;
    enum az_status st = resource_find(op, req->path_value[0], ret);
    if (st != AZ_OK)
        return st;
    if (*ret == NULL)
        return op_fail(op, AZ_NOT_FOUND, NULL, "no such resource");
    req->audit.summary =
        jsonx_dump(op->mem, jsonx_own(op->mem, json_pack("{s:s,s:s*}", "resource", (*ret)->name,
                                                         what, req->path_value[1])));
    return (*ret)->upstream == MANAGED_MCP
               ? AZ_OK
               : op_fail(op, AZ_CONFLICT, "Only a resource of type MCP has tools of its upstream",
                         NULL);
}

/* Tell an administrator why the answer of an upstream is not valid; callers do not see it. */
static enum az_status
explain_sync(struct op *op, enum az_status st)
{
    const char *why = op->fault.detail;
    if (st != AZ_UPSTREAM_INVALID || *why == '\0')
        return st;
    if (strncmp(why, MANAGED_REDIRECTS, strlen(MANAGED_REDIRECTS)) == 0)
        return az_fail_as(&op->fault, st, talloc_strdup(op->mem, why));
    return az_fail_as(&op->fault, st,
                      talloc_asprintf(op->mem, "The answer of the upstream is not valid: %s", why));
}

enum az_status
tools_sync_handle(struct request *req)
{
    struct op *op = &req->op;
    const struct managed_resource *resource;
    struct tool_sync options = {.subject = NULL};
    struct upstream_caller caller = {.client_id = ""};
    struct mcp_synced done;
    enum az_status st = read_tool_options(req, &tool_sync_table, &options);
    if (st == AZ_OK)
        st = find_mcp(req, "tool", &resource);
    if (st != AZ_OK)
        return st;
    if (resource->missing != NULL)
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem, "The resource is not complete: %s is missing",
                                       resource->missing),
                       NULL);
    caller.subject = options.subject;
    caller.idp = options.idp;
    st = mcp_sync(op, resource, options.subject != NULL ? &caller : NULL, &done);
    if (st != AZ_OK)
        return explain_sync(op, st);
    const json_t *waits = done.waiting_instructions;
    const char *warning = link_issuer_warning(op, resource);
    if (warning != NULL)
        log_text(AZ_SEV_WARN, "gateway", "%s: %s", resource->name, warning);
    return respond_json(
        req, 200,
        jsonx_own(op->mem,
                  json_pack("{s:O,s:O,s:O,s:O,s:s*,s:o*}", "added", done.tools.added, "changed",
                            done.tools.changed, "removed", done.tools.removed, "waitingPrompts",
                            done.waiting_prompts, "warning", warning, "waitingInstructions",
                            waits != NULL ? json_boolean(json_array_size(waits) > 0) : NULL)));
}

enum az_status
tool_approve_handle(struct request *req)
{
    struct op *op = &req->op;
    const struct managed_resource *resource;
    struct tool_approval options = {.sha256 = NULL};
    const json_t *stored = NULL;
    json_t *tools = NULL;
    size_t waiting;
    bool synced, done = false;
    char now[ISO8601_MS_SIZE];
    enum az_status st = read_tool_options(req, &tool_approval_table, &options);
    if (st == AZ_OK)
        st = find_mcp(req, "tool", &resource);
    if (st == AZ_OK)
        st = resource_read_tools(op, resource, &stored, &synced);
    if (st != AZ_OK)
        return st;
    if (iso8601_format_ms(op->now_ms, now) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the clock is out of range");
    const struct tool_approving approving = {
        .name = req->path_value[1], .sha256 = options.sha256, .now = now, .by = req->admin.label};
    st = tool_pins_approve(op->mem, stored, &approving, &tools, &waiting);
    if (st == AZ_CONFLICT)
        return op_fail(op, st, "The upstream has the tool no more, or describes it in another way",
                       NULL);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "no such tool, or out of memory");
    st = resource_store_tools(op, resource, tools,
                              waiting > 0 ? MANAGED_SYNC_CHANGED : MANAGED_SYNC_OK, &done);
    if (st == AZ_OK && !done)
        return op_fail(op, AZ_CONFLICT, "The resource was changed meanwhile", NULL);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

/* ---- prompts and instructions */

/* Return an entry with the state of its description: a new reference. */
static json_t *
entry_with_pin(const struct stored_entry *entry)
{
    json_t *shown = json_pack("{s:s,s:s,s:s}", "status", managed_pin_word(entry->pin), "sha256",
                              entry->sha256, "seenAt", entry->seen_at);
    if (shown == NULL || json_object_update_missing(shown, entry->entry) != 0) {
        json_decref(shown);
        return NULL;
    }
    return shown;
}

enum az_status
prompts_list_handle(struct request *req)
{
    struct op *op = &req->op;
    const struct managed_resource *resource;
    struct stored_entries prompts;
    struct jsonx_build list = {jsonx_own(op->mem, json_array()), false};
    enum az_status st = find_mcp(req, "prompt", &resource);
    if (st == AZ_OK)
        st = listing_read(op, LISTING_PROMPT, resource, &prompts);
    for (size_t i = 0; st == AZ_OK && i < prompts.count; i++)
        jsonx_append(&list, entry_with_pin(&prompts.item[i]));
    return st == AZ_OK ? respond_json(req, 200, jsonx_built(&list)) : st;
}

enum az_status
instructions_show_handle(struct request *req)
{
    struct op *op = &req->op;
    const struct managed_resource *resource;
    struct stored_entries stored = {.count = 0};
    enum az_status st = find_mcp(req, "prompt", &resource);
    if (st == AZ_OK)
        st = listing_read(op, LISTING_INSTRUCTIONS, resource, &stored);
    if (st != AZ_OK)
        return st;
    return stored.count > 0
               ? respond_json(req, 200, jsonx_own(op->mem, entry_with_pin(&stored.item[0])))
               : op_fail(op, AZ_NOT_FOUND, NULL, "no stored instructions");
}

/* Approve an entry of a resource by the optional body of the request. */
static enum az_status
approve_entry(struct request *req, enum listing_kind kind, const char *name)
{
    const struct managed_resource *resource;
    struct tool_approval options = {.sha256 = NULL};
    enum az_status st = read_tool_options(req, &tool_approval_table, &options);
    if (st == AZ_OK)
        st = find_mcp(req, "prompt", &resource);
    if (st == AZ_OK)
        st = listing_approve(&req->op, kind, resource, name, options.sha256);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

enum az_status
prompt_approve_handle(struct request *req)
{
    return approve_entry(req, LISTING_PROMPT, req->path_value[1]);
}

enum az_status
instructions_approve_handle(struct request *req)
{
    return approve_entry(req, LISTING_INSTRUCTIONS, LISTING_INSTRUCTIONS_KEY);
}
