#include "config.h"

#include "gateway/mcp/reads/instructions.h"

#include <string.h>

#include "gateway/mcp/reads/stored_list.h"

/* Return a text with its lines indented: only names of resources begin a line, so that no text
 * speaks under the name of another resource. NULL: out of memory. */
static char *
indented(TALLOC_CTX *mem, const char *text)
{
    char *all = talloc_strdup(mem, "");
    for (bool more = true; more && all != NULL;) {
        size_t length = strcspn(text, "\n");
        all = talloc_asprintf_append_buffer(all, "\n  %.*s", (int) length, text);
        more = text[length] != '\0';
        text += length + more;
    }
    return all;
}

/* Append the instructions of one resource under its name, unless there is no room for them, and
 * return the texts. NULL: out of memory. */
static char *
add_under_name(char *texts, const struct managed_resource *resource, const char *text)
{
    const char *lines = indented(texts, text);
    char *part = lines != NULL ? talloc_asprintf(texts, "%s%s:%s", *texts != '\0' ? "\n\n" : "",
                                                 resource->name, lines)
                               : NULL;
    if (part == NULL)
        return NULL;
    return strlen(texts) + strlen(part) <= INSTRUCTIONS_ALL_MAX
               ? talloc_strdup_append_buffer(texts, part)
               : texts;
}

enum az_status
mcp_find_instructions(struct mcp_exchange *it, struct mcp_features *ret)
{
    struct op *op = &it->req->op;
    struct stored_list list;
    enum gateway_verdict *verdicts;
    enum az_status st = stored_list_read(it, LISTING_INSTRUCTIONS, &list);
    if (st != AZ_OK || list.count == 0)
        return st;
    ret->decided = true;
    if ((st = stored_list_decide(it, &list, &verdicts)) != AZ_OK)
        return st;
    char *texts = talloc_strdup(op->mem, "");
    for (size_t i = 0; texts != NULL && i < list.count; i++) {
        const json_t *entry = list.item[i].row->entry;
        const char *text = json_string_value(json_object_get(entry, "instructions"));
        if (verdicts[i] == GATEWAY_DENY || text == NULL)
            continue;
        texts = it->access.resource != NULL
                    ? talloc_strdup(op->mem, text)
                    : add_under_name(texts, list.resource[list.item[i].resource], text);
    }
    if (texts == NULL)
        return op_no_memory(op);
    ret->instructions = *texts != '\0' ? texts : NULL;
    return AZ_OK;
}
