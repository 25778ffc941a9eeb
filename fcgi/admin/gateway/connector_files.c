#include "config.h"

#include "admin/gateway/connector_private.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/json/schema/json_schema.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "http/page/page_site.h"
#include "managed/names.h"

#define SUFFIX ".json"

/* ---- one file */

static void
refuse(const char *path, const char *why)
{
    log_text(AZ_SEV_WARN, "connector manifest refused", "%s: %s", path, why);
}

static void
log_fault(void *arg, const char *path, const char *why)
{
    log_text(AZ_SEV_WARN, "connector manifest refused", "%s: %s %s", (const char *) arg, path, why);
}

/* Read the manifest in the text of a file. */
static enum az_status
connector_read_text(struct op *op, char *path, const char *text, size_t length, const char *id,
                    struct managed_manifest *ret)
{
    json_t *document;
    const char *why = "is too large";
    if (length > MANIFEST_MAX
        || jsonx_parse(op->mem, text, length, MANIFEST_DEPTH, &document, &why) != AZ_OK) {
        refuse(path, why);
        return AZ_INVALID;
    }
    enum az_status st = managed_manifest_read(op->mem, document, log_fault, path, ret);
    if (st != AZ_OK)
        return st;
    json_t *schema = managed_manifest_schema(op->mem, ret);
    why = schema != NULL ? schema_fault(op->mem, schema) : "out of memory";
    if (why == NULL && strcmp(ret->id, id) != 0)
        why = "has another id than its name says";
    if (why != NULL)
        refuse(path, why);
    return why == NULL ? AZ_OK : AZ_INVALID;
}

/* Return the name of an open folder of the catalogue. */
static const char *
folder(struct op *op, bool own)
{
    return own ? op->az->cfg->connectors_dir
               : talloc_asprintf(op->mem, "%s/connectors", op->az->cfg->data_dir);
}

/* Read the file of an id in one of the folders. AZ_NOT_FOUND: the folder has no such file. */
static enum az_status
connector_read_file(struct op *op, bool own, const char *id, struct managed_manifest *ret)
{
    const char *dir = folder(op, own);
    size_t length;
    if (dir == NULL)
        return AZ_NOT_FOUND;
    char *path = talloc_asprintf(op->mem, "%s/%s" SUFFIX, dir, id);
    char *text = path != NULL ? page_read_file(op->mem, path, MANIFEST_MAX, &length) : NULL;
    if (text == NULL && path != NULL && errno == ENOENT)
        return AZ_NOT_FOUND;
    if (text == NULL) {
        refuse(path != NULL ? path : id, path != NULL ? strerror(errno) : "out of memory");
        return AZ_INVALID;
    }
    return connector_read_text(op, path, text, length, id, ret);
}

enum az_status
connector_file_read(struct op *op, const char *id, const struct managed_manifest **ret)
{
    struct managed_manifest *manifest = talloc_zero(op->mem, struct managed_manifest);
    *ret = NULL;
    if (manifest == NULL)
        return op_no_memory(op);
    if (!managed_name_is_good(id)) /* else a path could lead out of the folder */
        return AZ_OK;
    enum az_status st = connector_read_file(op, true, id, manifest);
    if (st == AZ_NOT_FOUND)
        st = connector_read_file(op, false, id, manifest);
    if (st == AZ_OK)
        *ret = manifest;
    return AZ_OK;
}

/* ---- all of them */

static int
is_manifest(const struct dirent *entry)
{
    return words_end(entry->d_name, SUFFIX);
}

static int
compare_files(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Add the ids of the files of a folder to the members of an object. */
static void
connector_collect(struct op *op, const char *dir, struct jsonx_build *ids)
{
    struct dirent **entries = NULL;
    int count = dir != NULL ? scandir(dir, &entries, is_manifest, compare_files) : 0;
    for (int i = 0; i < count; i++) {
        const char *file = entries[i]->d_name;
        const char *id = talloc_strndup(op->mem, file, strlen(file) - strlen(SUFFIX));
        if (id != NULL && managed_name_is_good(id)
            && json_object_size(ids->value) < CONNECTOR_FILES_MAX)
            jsonx_set(ids, id, json_true());
        ids->lost = ids->lost || id == NULL;
        free(entries[i]);
    }
    free(entries);
}

static int
compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

json_t *
connector_file_ids(struct op *op)
{
    struct jsonx_build found = {jsonx_own(op->mem, json_object()), false},
                       sorted = {jsonx_own(op->mem, json_array()), false};
    const char *list[CONNECTOR_FILES_MAX], *id;
    json_t *member;
    size_t count = 0;
    connector_collect(op, folder(op, true), &found);
    connector_collect(op, folder(op, false), &found);
    json_object_foreach (found.value, id, member)
        list[count++] = id;
    qsort(list, count, sizeof(list[0]), compare_ids);
    for (size_t i = 0; i < count; i++)
        jsonx_append(&sorted, json_string(list[i]));
    return jsonx_built(&found) != NULL ? jsonx_built(&sorted) : NULL;
}
