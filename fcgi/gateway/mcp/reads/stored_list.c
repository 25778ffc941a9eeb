#include "config.h"

#include "gateway/mcp/reads/stored_list.h"

#include "base/json/jsonx.h"
#include "base/log.h"
#include "gateway/caller.h"
#include "gateway/link/link_account.h"
#include "gateway/mcp/tools/catalogue.h"
#include "managed/auth.h"
#include "managed/names.h"

/* True if a resource has entries of a kind. */
static bool
has_setting(const struct managed_resource *resource, enum listing_kind kind)
{
    return kind == LISTING_PROMPT ? resource->pinned_prompts : resource->pinned_instructions;
}

enum az_status
stored_list_exists(struct mcp_exchange *it, enum listing_kind kind, bool *ret)
{
    struct managed_resources all;
    enum az_status st = mcp_find_resources(it, &all);
    *ret = false;
    for (size_t i = 0; st == AZ_OK && i < all.count; i++)
        *ret = *ret || has_setting(all.item[i], kind);
    return st;
}

/* True if a stored entry is served. */
static bool
is_served(const struct managed_resource *resource, enum listing_kind kind,
          const struct stored_entry *row)
{
    return has_setting(resource, kind) && row->pin != MANAGED_PIN_MISSING
           && (row->pin == MANAGED_PIN_APPROVED || resource->pinning == MANAGED_PINNING_WARN);
}

/* Return the index of the resource with an id, or list->resources if the list does not have it. */
static size_t
place_of(const struct stored_list *list, int64_t id)
{
    size_t i = 0;
    while (i < list->resources && list->resource[i]->id != id)
        i++;
    return i;
}

static enum az_status
lost_list(struct mcp_exchange *it)
{
    return op_no_memory(&it->req->op);
}

/* Leave out entries that have one name: the rules of a save were others when they were stored, and
 * whichever stayed, its name could call the wrong one. False: out of memory. */
static bool
leave_out_twins(TALLOC_CTX *mem, struct stored_list *list)
{
    json_t *names = jsonx_own(mem, json_object());
    bool lost = names == NULL;
    size_t kept = 0;
    for (size_t i = 0; i < list->count && !lost; i++) {
        const char *name = list->item[i].name;
        lost = json_object_set_new(names, name, json_boolean(json_object_get(names, name) != NULL))
               != 0;
    }
    for (size_t i = 0; i < list->count && !lost; i++) {
        struct listed_entry entry = list->item[i];
        if (json_is_false(json_object_get(names, entry.name)))
            list->item[kept++] = entry;
        else
            log_text(AZ_SEV_WARN, "managed resource is served in part",
                     "%s: the prompt %s is left out: another one has the name %s, too",
                     list->resource[entry.resource]->name, entry.row->name, entry.name);
    }
    list->count = kept;
    return !lost;
}

enum az_status
stored_list_read(struct mcp_exchange *it, enum listing_kind kind, struct stored_list *ret)
{
    struct op *op = &it->req->op;
    struct stored_entries rows = {.count = 0};
    struct managed_resources all;
    bool exists = false;
    enum az_status st = mcp_find_resources(it, &all);
    if (st == AZ_OK)
        st = stored_list_exists(it, kind, &exists);
    if (st == AZ_OK && exists)
        st = listing_read(op, kind, it->access.resource, &rows);
    if (st != AZ_OK)
        return st;
    *ret = (struct stored_list){.kind = kind, .resource = all.item, .resources = all.count};
    ret->item = talloc_array(op->mem, struct listed_entry, (unsigned) rows.count + 1);
    if (ret->item == NULL)
        return lost_list(it);
    for (size_t i = 0; i < rows.count; i++) {
        const struct stored_entry *row = &rows.item[i];
        size_t place = place_of(ret, row->resource);
        if (place == ret->resources || !is_served(ret->resource[place], kind, row))
            continue;
        const char *prefix = it->access.resource == NULL ? ret->resource[place]->name : NULL;
        const char *name = managed_exposed_name(op->mem, MANAGED_EXPOSED_MAX, prefix, row->name);
        if (name == NULL)
            return lost_list(it);
        ret->item[ret->count++] = (struct listed_entry){place, row, name};
    }
    return leave_out_twins(op->mem, ret) ? AZ_OK : lost_list(it);
}

/* Describe the resources of a list to policy. */
static enum az_status
describe_targets(struct mcp_exchange *it, const struct stored_list *list,
                 struct gateway_target **ret)
{
    struct op *op = &it->req->op;
    struct gateway_bearer bearer = {it->req, it->access.token};
    const struct upstream_caller caller = gateway_caller(&bearer);
    bool *linked = talloc_array(op->mem, bool, (unsigned) list->resources + 1);
    *ret = talloc_array(op->mem, struct gateway_target, (unsigned) list->resources + 1);
    if (*ret == NULL || linked == NULL)
        return lost_list(it);
    enum az_status st = link_are_linked(op, &caller, list->resource, list->resources, linked);
    for (size_t i = 0; st == AZ_OK && i < list->resources; i++)
        (*ret)[i] = gateway_target_of(
            list->resource[i],
            managed_auth_is_linked(list->resource[i]->auth.type) ? &linked[i] : NULL);
    return st;
}

enum az_status
stored_list_decide(struct mcp_exchange *it, const struct stored_list *list,
                   enum gateway_verdict **ret)
{
    struct op *op = &it->req->op;
    struct gateway_target *targets;
    struct gateway_tool *asked =
        talloc_array(op->mem, struct gateway_tool, (unsigned) list->count + 1);
    *ret = talloc_zero_array(op->mem, enum gateway_verdict, (unsigned) list->count + 1);
    if (asked == NULL || *ret == NULL)
        return lost_list(it);
    enum az_status st = describe_targets(it, list, &targets);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < list->count; i++) {
        const struct listed_entry *entry = &list->item[i];
        json_t *scopes = mcp_default_scopes(op->mem, list->resource[entry->resource]);
        if (scopes == NULL)
            return lost_list(it);
        asked[i] = (struct gateway_tool){
            entry->resource,
            {.kind = listing_word(list->kind), .name = entry->row->name, .scopes = scopes}
        };
    }
    struct gateway_tools_question question = {
        .holder = {.mcp_version = it->version.name, .mcp_method = it->message.method},
        .resources = targets,
        .resource_count = list->resources,
        .tools = asked,
        .tool_count = list->count,
    };
    return gateway_decide_tools(it->req, &it->access, &question, *ret);
}
