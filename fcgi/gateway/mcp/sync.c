#include "config.h"

#include "gateway/mcp/sync.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/iso8601.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/mcp/message/shown_text.h"
#include "gateway/mcp/peer/peer.h"
#include "gateway/mcp/peer/peer_list.h"
#include "gateway/mcp/peer/peer_memory.h"
#include "managed/auth.h"
#include "managed/canonical.h"
#include "managed/names.h"
#include "store/gateway/listing.h"
#include "store/gateway/resources.h"

/* Time for all pages of a server, in seconds: a slow one must not keep housekeeping, or the worker
 * of an administrator, for PEER_PAGES_MAX answers. */
#define SYNC_SECONDS 120

/* Attempts to store what was read while others save the same resource. */
#define SYNC_TRIES 3

/* Entries that are left out and named in the log by one sync; the others are counted. */
#define LEFT_OUT_NAMED_MAX 20

/* The entries that the pages of a list have. */
struct listed {
    const struct peer_list *list;
    json_t *entries;
    size_t octets; /* of the entries */
    size_t left_out;
    size_t named;             /* of those that were left out, in the log */
    const char *instructions; /* of the server, as clients see them; "": it gave none; NULL: it was
                                 not asked */
};

/* Leave out the entries from `first` on that are more than a resource can store, so that they do
 * not stay in memory. */
static enum az_status
leave_out_more(TALLOC_CTX *mem, struct listed *listed, size_t first)
{
    for (size_t i = first; i < json_array_size(listed->entries);) {
        const char *text = jsonx_dump(mem, json_array_get(listed->entries, i));
        if (text == NULL)
            return AZ_SERVER_ERROR;
        if (listed->octets + strlen(text) <= TOOL_PINS_OCTETS_MAX) {
            listed->octets += strlen(text);
            i++;
        } else {
            json_array_remove(listed->entries, i);
            listed->left_out++;
        }
    }
    return AZ_OK;
}

/* Name in the log the entries of a page that were left out, so that the operator of the upstream
 * can mend them (MCP 2026-07-28, transports: a client logs a tool with a wrong x-mcp-header). */
static void
name_left_out(TALLOC_CTX *mem, const struct managed_resource *resource, struct listed *listed,
              const json_t *page)
{
    size_t index, i;
    const json_t *entry, *kept;
    json_array_foreach (json_object_get(page, listed->list->member), index, entry) {
        const json_t *name = json_object_get(entry, "name");
        bool taken = false;
        if (listed->named == LEFT_OUT_NAMED_MAX)
            return;
        json_array_foreach (listed->entries, i, kept)
            taken = taken || json_equal(json_object_get(kept, "name"), name);
        if (taken)
            continue;
        json_t *shown =
            json_is_string(name) ? jsonx_own(mem, shown_text(mem, json_string_value(name))) : NULL;
        listed->named++;
        log_text(AZ_SEV_WARN, "gateway", "%s: left out of %s: %.128s", resource->name,
                 listed->list->method, shown != NULL ? json_string_value(shown) : "(no name)");
    }
}

/* Note what the server says to models, if it was asked for this page. */
static enum az_status
take_instructions(struct op *op, const struct peer_reply *reply, struct listed *listed)
{
    const char *text = json_string_value(json_object_get(reply->hello, "instructions"));
    if (reply->hello == NULL)
        return AZ_OK;
    listed->instructions = shown_instructions(op->mem, text != NULL ? text : "");
    return listed->instructions != NULL ? AZ_OK : op_no_memory(op);
}

/* Read one page. All its memory but the entries is freed at once, because a server may send 100
 * pages. *ret_cursor is NULL after the last page. */
static enum az_status
read_page(struct op *op, struct peer_request *request, struct listed *listed,
          const char **ret_cursor)
{
    const char *name = request->resource->name, *method = listed->list->method;
    size_t before = json_array_size(listed->entries);
    struct peer_reply reply;
    enum az_status st = peer_ask(op, request, &reply);
    *ret_cursor = NULL;
    if (st == AZ_OK)
        st = take_instructions(op, &reply, listed);
    if (st != AZ_OK)
        return st;
    if (peer_error_is(reply.error, RPC_METHOD_NOT_FOUND) && listed->list == &peer_prompts)
        return AZ_OK; /* a server without prompts */
    if (reply.error != NULL)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "%s of %s: %s", method, name,
                       peer_error_text(op->mem, reply.error));
    st = peer_entries_add(reply.mem, listed->list, reply.result, listed->entries, &listed->left_out,
                          ret_cursor);
    if (st == AZ_INVALID)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "%s of %s is malformed, or has more than %zu entries", method, name,
                       listed->list->max);
    if (st == AZ_OK)
        st = leave_out_more(reply.mem, listed, before);
    if (st == AZ_OK)
        name_left_out(reply.mem, request->resource, listed, reply.result);
    if (st == AZ_OK && *ret_cursor != NULL
        && (*ret_cursor = talloc_strdup(op->mem, *ret_cursor)) == NULL)
        st = AZ_SERVER_ERROR;
    talloc_free(reply.mem);
    return st == AZ_OK ? st : op_fail(op, st, NULL, "out of memory for %s of %s", method, name);
}

/* Read the pages of a list. */
static enum az_status
read_pages(struct op *op, struct peer_request *request, struct listed *listed)
{
    const char *cursor = NULL;
    int64_t until_ms = clock_monotonic_ms() + SYNC_SECONDS * 1000;
    request->message.method = listed->list->method;
    for (size_t page = 0; page < PEER_PAGES_MAX; page++) {
        request->message.params =
            cursor != NULL ? jsonx_own(op->mem, json_pack("{s:s}", "cursor", cursor)) : NULL;
        enum az_status st = read_page(op, request, listed, &cursor);
        if (st != AZ_OK || cursor == NULL)
            return st;
        if (clock_monotonic_ms() > until_ms)
            return op_fail(op, AZ_UPSTREAM_TIMEOUT, NULL, "%s of %s takes more than %d s",
                           listed->list->method, request->resource->name, SYNC_SECONDS);
    }
    return op_fail(op, AZ_UPSTREAM_INVALID, NULL, "%s of %s has more than %d pages",
                   listed->list->method, request->resource->name, PEER_PAGES_MAX);
}

/* Read the tools, and the prompts of a resource that serves them. */
static enum az_status
read_lists(struct op *op, const struct managed_resource *resource,
           const struct upstream_caller *caller, struct listed *tools, struct listed *prompts)
{
    struct peer_request request = {.resource = resource, .caller = caller};
    tools->entries = jsonx_own(op->mem, json_array());
    prompts->entries = jsonx_own(op->mem, json_array());
    if (tools->entries == NULL || prompts->entries == NULL)
        return op_no_memory(op);
    enum az_status st = resource_secrets(op, resource, &request.secrets);
    /* Forget what is known of the server, so that it is asked again: its answer has the
     * instructions. */
    if (st == AZ_OK && resource->pinned_instructions)
        peer_memory_forget(op, resource, caller, "");
    if (st == AZ_OK)
        st = read_pages(op, &request, tools);
    if (st == AZ_OK && resource->pinned_prompts)
        st = read_pages(op, &request, prompts);
    return st;
}

/* ---- storing */

/* Reserve the two names of a prompt that clients see, alone and with the resource. False: another
 * prompt has one of them, or out of memory (*lost). */
static bool
take_names(TALLOC_CTX *mem, json_t *taken, const char *resource, const char *prompt, bool *lost)
{
    const char *alone = managed_exposed_name(mem, MANAGED_EXPOSED_MAX, NULL, prompt);
    const char *whole = managed_exposed_name(mem, MANAGED_EXPOSED_MAX, resource, prompt);
    *lost = *lost || alone == NULL || whole == NULL;
    if (*lost || json_object_get(taken, alone) != NULL || json_object_get(taken, whole) != NULL)
        return false;
    *lost = json_object_set_new(taken, alone, json_true()) != 0
            || json_object_set_new(taken, whole, json_true()) != 0;
    return !*lost;
}

/* Store the prompts with their hashes. Skip prompts whose visible name collides with that of
 * another. */
static enum az_status
store_prompts(struct op *op, const struct managed_resource *resource, struct listed *listed,
              struct mcp_synced *ret)
{
    json_t *taken = jsonx_own(op->mem, json_object());
    struct jsonx_build rows = {jsonx_own(op->mem, json_array()), taken == NULL};
    size_t index;
    json_t *prompt;
    json_array_foreach (listed->entries, index, prompt) {
        char sha256[MANAGED_PIN_SIZE];
        const char *name = json_string_value(json_object_get(prompt, "name"));
        if (!managed_entry_hash(op->mem, prompt, sha256))
            rows.lost = true;
        else if (!take_names(op->mem, taken, resource->name, name, &rows.lost))
            listed->left_out++;
        else
            jsonx_append(
                &rows, json_pack("{s:s,s:O,s:s}", "key", name, "entry", prompt, "sha256", sha256));
    }
    if (jsonx_built(&rows) == NULL)
        return op_no_memory(op);
    return listing_store(op, LISTING_PROMPT, resource, rows.value, &ret->waiting_prompts);
}

/* Store the instructions with their hash, or nothing if the server gave none. */
static enum az_status
store_instructions(struct op *op, const struct managed_resource *resource, const char *text,
                   struct mcp_synced *ret)
{
    char sha256[MANAGED_PIN_SIZE];
    struct jsonx_build rows = {jsonx_own(op->mem, json_array()), false};
    json_t *entry = jsonx_own(op->mem, json_pack("{s:s}", "instructions", text));
    if (*text != '\0' && entry != NULL && managed_entry_hash(op->mem, entry, sha256))
        jsonx_append(&rows, json_pack("{s:s,s:O,s:s}", "key", LISTING_INSTRUCTIONS_KEY, "entry",
                                      entry, "sha256", sha256));
    else
        rows.lost = rows.lost || *text != '\0';
    if (jsonx_built(&rows) == NULL)
        return op_no_memory(op);
    return listing_store(op, LISTING_INSTRUCTIONS, resource, rows.value,
                         &ret->waiting_instructions);
}

/* Merge and store; repeat if another request saved the resource in between. */
static enum az_status
store_tools(struct op *op, const struct managed_resource *resource, const json_t *seen,
            struct tool_merge *ret)
{
    char now[ISO8601_SIZE];
    const char *name = resource->name;
    if (iso8601_format(op_now(op), now) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the time cannot be written");
    for (int i = 0; i < SYNC_TRIES; i++) {
        struct tool_pins stored = {.resource = name,
                                   .name_max = (size_t) op->az->cfg->gateway_tool_name_max};
        bool done = false;
        enum az_status st = resource_read_tools(op, resource, &stored.tools, &stored.synced);
        if (st != AZ_OK)
            return st;
        if (tool_pins_merge(op->mem, &stored, seen, now, ret) != AZ_OK)
            return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for the tools of %s", name);
        bool waits = ret->waiting > 0 && resource->pinning == MANAGED_PINNING_BLOCK;
        st = resource_store_tools(op, resource, ret->tools,
                                  waits ? MANAGED_SYNC_CHANGED : MANAGED_SYNC_OK, &done);
        if (st != AZ_OK || done)
            return st;
        if ((st = resource_find(op, name, &resource)) != AZ_OK)
            return st;
        if (resource == NULL || resource->upstream != MANAGED_MCP)
            break;
    }
    return op_fail(op, AZ_CONFLICT, "The resource was changed meanwhile", "resource %s", name);
}

enum az_status
mcp_sync(struct op *op, const struct managed_resource *resource,
         const struct upstream_caller *caller, struct mcp_synced *ret)
{
    struct listed tools = {.list = &peer_tools}, prompts = {.list = &peer_prompts};
    *ret = (struct mcp_synced){.waiting_prompts = jsonx_own(op->mem, json_array())};
    enum az_status st = read_lists(op, resource, caller, &tools, &prompts);
    malloc_trim(0); /* a page took many times what is kept of it */
    if (st == AZ_OK)
        st = store_tools(op, resource, tools.entries, &ret->tools);
    else if (st == AZ_UPSTREAM_UNREACHABLE || st == AZ_UPSTREAM_TIMEOUT
             || st == AZ_UPSTREAM_INVALID)
        resource_event(op, resource, MANAGED_SYNC_FAILED, NULL);
    if (st != AZ_OK)
        return st;
    ret->tools.left_out += tools.left_out;
    if (ret->tools.left_out > 0)
        log_text(AZ_SEV_WARN, "gateway", "%s: %zu tools of the upstream left out", resource->name,
                 ret->tools.left_out);
    if (resource->pinned_prompts)
        st = store_prompts(op, resource, &prompts, ret);
    if (st == AZ_OK && resource->pinned_instructions && tools.instructions != NULL)
        st = store_instructions(op, resource, tools.instructions, ret);
    if (prompts.left_out > 0)
        log_text(AZ_SEV_WARN, "gateway", "%s: %zu prompts of the upstream left out", resource->name,
                 prompts.left_out);
    return st;
}

/* ---- all of them */

/* True if the service itself can ask for the tools. A resource in error waits for its operator. */
static bool
syncs_alone(const struct managed_resource *resource)
{
    return resource->upstream == MANAGED_MCP && resource->missing == NULL
           && resource->status != MANAGED_ERROR
           && resource->auth.type != MANAGED_AUTH_TOKEN_EXCHANGE
           && !managed_auth_is_linked(resource->auth.type);
}

enum az_status
mcp_sync_all(struct op *op, char *note, size_t size)
{
    struct managed_resources all = {.count = 0};
    size_t synced = 0, failed = 0;
    enum az_status st = op->az->cfg->gateway_enabled ? resources_list(op, &all) : AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < all.count && !*op->az->stopping; i++) {
        struct op one = op_beside(op, talloc_new(op->mem));
        struct mcp_synced done;
        if (!syncs_alone(all.item[i])) {
            talloc_free(one.mem);
            continue;
        }
        if (mcp_sync(&one, all.item[i], NULL, &done) == AZ_OK) {
            synced++;
        } else {
            failed++;
            log_text(AZ_SEV_WARN, "gateway", "sync of %s: %s", all.item[i]->name, one.fault.detail);
        }
        talloc_free(one.mem);
    }
    snprintf(note, size, "tools of %zu MCP resources read, %zu not readable", synced, failed);
    return st;
}
