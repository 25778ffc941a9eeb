#include "config.h"

#include "admin/resource_faults.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/document.h"
#include "store/gateway/resources.h"

/* Nesting of a page of documents. */
#define PAGE_DEPTH (MANAGED_DOCUMENT_DEPTH + 1)

/* Return what is not served of a resource and how to mend it; NULL: all is served, or out of
 * memory. */
static const char *
fault_text(TALLOC_CTX *mem, const struct managed_resource *resource)
{
    const struct managed_left_out *first = resource->left_out;
    if (resource->unreadable != NULL)
        return talloc_asprintf(mem,
                               "nothing is served: the stored document cannot be read (%s); save "
                               "it again without that",
                               resource->unreadable);
    if (resource->left_outs == 0)
        return NULL;
    return talloc_asprintf(mem,
                           "%zu of its tools and routes are left out (leftOut has all), the first "
                           "is the %s %s: %s; save it again without that",
                           resource->left_outs, first->kind, first->name, first->why);
}

static json_t *
left_out_json(const struct managed_resource *resource)
{
    struct jsonx_build list = {json_array(), false};
    for (size_t i = 0; i < resource->left_outs; i++)
        jsonx_append(&list,
                     json_pack("{s:s,s:s,s:s}", "kind", resource->left_out[i].kind, "name",
                               resource->left_out[i].name, "why", resource->left_out[i].why));
    return list.value;
}

/* Show the faults of a resource in its row. A resource that is disabled stays so. */
static void
show_faults(TALLOC_CTX *mem, const struct managed_resource *resource, struct jsonx_build *row)
{
    const char *why = fault_text(mem, resource);
    if (why == NULL)
        return;
    if (resource->left_outs > 0)
        jsonx_set(row, "leftOut", left_out_json(resource));
    if (!resource->enabled || resource->status == MANAGED_DISABLED)
        return;
    if (resource->unreadable != NULL || resource->status == MANAGED_ACTIVE)
        jsonx_set(row, "status",
                  json_string(managed_status_word(
                      resource->unreadable != NULL ? MANAGED_ERROR : MANAGED_DEGRADED)));
    jsonx_set(row, "statusReason", json_string(why));
}

/* Read the resources that are served in part: that of a name, or all that are enabled. */
static enum az_status
find_faulty(struct op *op, const char *name, struct managed_resources *ret)
{
    const struct managed_resource **faulty;
    struct managed_resources all = {.count = 0};
    const struct managed_resource *one = NULL;
    enum az_status st = name != NULL ? resource_find(op, name, &one) : resources_list(op, &all);
    if (one != NULL)
        all = (struct managed_resources){.item = &one, .count = 1};
    if (st != AZ_OK)
        return st;
    faulty = talloc_array(op->mem, const struct managed_resource *, (unsigned) all.count + 1);
    if (faulty == NULL)
        return op_no_memory(op);
    *ret = (struct managed_resources){.item = faulty};
    for (size_t i = 0; i < all.count; i++)
        if (all.item[i]->unreadable != NULL || all.item[i]->left_outs > 0)
            faulty[ret->count++] = all.item[i];
    return AZ_OK;
}

static void
show_row(TALLOC_CTX *mem, const struct managed_resources *faulty, json_t *row, bool *lost)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    struct jsonx_build build = {row, false};
    for (size_t i = 0; i < faulty->count && name != NULL; i++)
        if (strcmp(name, faulty->item[i]->name) == 0)
            show_faults(mem, faulty->item[i], &build);
    *lost = *lost || build.lost;
}

enum az_status
resource_faults_show(struct op *op, const char *name, const char **text)
{
    struct managed_resources faulty;
    json_t *rows = NULL, *row;
    bool lost = false;
    size_t index;
    enum az_status st = find_faulty(op, name, &faulty);
    if (st != AZ_OK || faulty.count == 0)
        return st;
    if (jsonx_parse(op->mem, *text, strlen(*text), PAGE_DEPTH, &rows, NULL) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "stored resources cannot be read");
    if (json_is_object(rows))
        show_row(op->mem, &faulty, rows, &lost);
    json_array_foreach (rows, index, row)
        show_row(op->mem, &faulty, row, &lost);
    const char *shown = lost ? NULL : jsonx_dump(op->mem, rows);
    if (shown == NULL)
        return op_no_memory(op);
    *text = shown;
    return AZ_OK;
}

enum az_status
resource_faults_list(struct op *op, json_t *entries)
{
    struct managed_resources faulty;
    struct jsonx_build list = {entries, false};
    enum az_status st = find_faulty(op, NULL, &faulty);
    for (size_t i = 0; st == AZ_OK && i < faulty.count; i++) {
        const struct managed_resource *resource = faulty.item[i];
        const char *why = fault_text(op->mem, resource);
        json_t *count =
            resource->left_outs > 0 ? json_integer((json_int_t) resource->left_outs) : NULL;
        list.lost = list.lost || why == NULL;
        jsonx_append(&list, json_pack("{s:s,s:s,s:o*,s:s*}", "kind", "resource_degraded", "name",
                                      resource->name, "count", count, "detail", why));
    }
    return st == AZ_OK && list.lost ? op_no_memory(op) : st;
}
