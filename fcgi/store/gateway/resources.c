#include "config.h"

#include "store/gateway/resources.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/keyring.h"
#include "managed/auth.h"
#include "managed/document.h"
#include "managed/import/manifest.h"

/* Resources that a process remembers. */
#define REMEMBERED_MAX 512

/* A parsed resource. */
struct remembered {
    struct managed_resource resource;
    const unsigned char *sealed; /* its secrets, or NULL */
    size_t sealed_length;
};

/* The parsed resources of a process. */
struct managed_memory {
    struct remembered *item[REMEMBERED_MAX];
    size_t count;
};

#define COLUMNS                                                                                    \
    "m.id, m.version, m.name, m.status, m.status_reason, m.connector_id, m.connector_version,"     \
    " m.redirect_shared"
/* The definition, unless the process has this version: the parameter is an array of versions. */
#define DEFINITION_OF_ONE                                                                          \
    ", CASE WHEN m.version <> ALL($2::bigint[]) THEN m.document END AS document"                   \
    ", CASE WHEN m.version <> ALL($2::bigint[]) THEN m.tools END AS tools"                         \
    ", CASE WHEN m.version <> ALL($2::bigint[]) THEN m.secrets_set END AS secrets_set"             \
    ", CASE WHEN m.version <> ALL($2::bigint[]) THEN m.secrets_sealed END AS secrets_sealed"       \
    ", CASE WHEN m.version <> ALL($2::bigint[]) THEN (SELECT c.manifest -> 'scopes'"               \
    "  FROM connector c WHERE c.id = m.connector_id) END AS scopes"
#define DEFINITION_OF_ALL                                                                          \
    ", CASE WHEN m.version <> ALL($1::bigint[]) THEN m.document END AS document"                   \
    ", CASE WHEN m.version <> ALL($1::bigint[]) THEN m.tools END AS tools"                         \
    ", CASE WHEN m.version <> ALL($1::bigint[]) THEN m.secrets_set END AS secrets_set"             \
    ", CASE WHEN m.version <> ALL($1::bigint[]) THEN m.secrets_sealed END AS secrets_sealed"       \
    ", CASE WHEN m.version <> ALL($1::bigint[]) THEN (SELECT c.manifest -> 'scopes'"               \
    "  FROM connector c WHERE c.id = m.connector_id) END AS scopes"

/* clang-format off */
enum managed_find_column { FIND_ID, FIND_VERSION, FIND_NAME, FIND_STATUS, FIND_STATUS_REASON, FIND_CONNECTOR_ID, FIND_CONNECTOR_VERSION, FIND_REDIRECT_SHARED, FIND_DOCUMENT, FIND_TOOLS, FIND_SECRETS_SET, FIND_SECRETS_SEALED, FIND_SCOPES };
static const struct db_stmt managed_find_stmt = {
    "managed_find", "SELECT " COLUMNS DEFINITION_OF_ONE " FROM managed_resource m WHERE m.name = $1", 2};
enum managed_list_column { LIST_ID, LIST_VERSION, LIST_NAME, LIST_STATUS, LIST_STATUS_REASON, LIST_CONNECTOR_ID, LIST_CONNECTOR_VERSION, LIST_REDIRECT_SHARED, LIST_DOCUMENT, LIST_TOOLS, LIST_SECRETS_SET, LIST_SECRETS_SEALED, LIST_SCOPES };
static const struct db_stmt managed_list_stmt = {
    "managed_list", "SELECT " COLUMNS DEFINITION_OF_ALL " FROM managed_resource m WHERE m.enabled ORDER BY m.name", 1};
enum managed_public_column { PUBLIC_ID, PUBLIC_VERSION, PUBLIC_NAME, PUBLIC_STATUS, PUBLIC_STATUS_REASON, PUBLIC_CONNECTOR_ID, PUBLIC_CONNECTOR_VERSION, PUBLIC_REDIRECT_SHARED, PUBLIC_DOCUMENT, PUBLIC_TOOLS, PUBLIC_SECRETS_SET, PUBLIC_SECRETS_SEALED, PUBLIC_SCOPES };
static const struct db_stmt managed_public_stmt = {
    "managed_public", "SELECT " COLUMNS DEFINITION_OF_ALL " FROM managed_resource m"
    " WHERE m.enabled OR json_typeof(m.document -> 'publicUrls') = 'array' ORDER BY m.name", 1};

enum managed_read_tools_column { READ_TOOLS, READ_SYNCED };
static const struct db_stmt managed_read_tools_stmt = {
    "managed_read_tools", "SELECT tools, synced_at IS NOT NULL AS synced FROM managed_resource WHERE id = $1::bigint", 1};
/* clang-format on */

/* ---- memory of parsed resources */

static struct managed_memory *
memory_of(struct op *op)
{
    if (op->az->managed == NULL)
        op->az->managed = talloc_zero(op->az, struct managed_memory);
    return op->az->managed;
}

static struct remembered *
recall(struct op *op, int64_t version)
{
    struct managed_memory *memory = memory_of(op);
    for (size_t i = 0; memory != NULL && i < memory->count; i++)
        if (memory->item[i]->resource.version == version)
            return memory->item[i];
    return NULL;
}

/* Forget an entry. It lives until the end of the operation, which may still read it. */
static void
resource_forget(struct op *op, struct managed_memory *memory, size_t i)
{
    talloc_steal(op->mem, memory->item[i]);
    memory->item[i] = memory->item[--memory->count];
}

/* Keep a resource in place of its earlier version or, if there is no room, of the first entry. */
static void
remember(struct op *op, struct remembered *fresh)
{
    struct managed_memory *memory = memory_of(op);
    if (memory == NULL)
        return;
    for (size_t i = 0; i < memory->count; i++)
        if (memory->item[i]->resource.id == fresh->resource.id) {
            resource_forget(op, memory, i);
            break;
        }
    if (memory->count == REMEMBERED_MAX)
        resource_forget(op, memory, 0);
    memory->item[memory->count++] = talloc_steal(memory, fresh);
}

/* Return the versions that the process has, of one name or of all, as an array of SQL. */
static const char *
known_versions(struct op *op, const char *name)
{
    const struct managed_memory *memory = memory_of(op);
    char *text = talloc_strdup(op->mem, "{");
    for (size_t i = 0; memory != NULL && i < memory->count; i++) {
        const struct managed_resource *resource = &memory->item[i]->resource;
        if (name == NULL || strcmp(name, resource->name) == 0)
            text = talloc_asprintf_append_buffer(text, "%s%lld", text[1] != '\0' ? "," : "",
                                                 (long long) resource->version);
        if (text == NULL)
            return NULL;
    }
    return talloc_asprintf_append_buffer(text, "}");
}

/* ---- reading a row */

/* Read a member of a row that is JSON. */
static json_t *
column_json(TALLOC_CTX *mem, const PGresult *result, int row, int column)
{
    const char *text = db_get(result, row, column);
    json_t *value = NULL;
    if (text == NULL
        || jsonx_parse(mem, text, strlen(text), MANAGED_DOCUMENT_DEPTH, &value, NULL) != AZ_OK)
        return NULL;
    return value;
}

/* The faults of a stored document. */
struct row_faults {
    TALLOC_CTX *mem;
    const char *name;  /* of the resource */
    const char *first; /* the first one, with its place */
};

/* Log why a stored document cannot be used. */
static void
tell_broken(void *arg, const char *path, const char *why)
{
    struct row_faults *faults = arg;
    log_text(AZ_SEV_WARN, "managed resource cannot be read", "%s: %s %s", faults->name, path, why);
    if (faults->first == NULL)
        faults->first = talloc_asprintf(faults->mem, "%s %s", path, why);
}

/* Log the tools and routes that are left out. */
static void
tell_left_out(const struct managed_resource *resource)
{
    for (size_t i = 0; i < resource->left_outs; i++)
        log_text(AZ_SEV_WARN, "managed resource is served in part", "%s: the %s %s is left out: %s",
                 resource->name, resource->left_out[i].kind, resource->left_out[i].name,
                 resource->left_out[i].why);
}

/* Parse a document into an entry. One that this program cannot read has status MANAGED_ERROR. */
static enum az_status
parse_row(struct op *op, const PGresult *result, int row, struct remembered *entry)
{
    json_t *document = column_json(entry, result, row, FIND_DOCUMENT);
    json_t *tools = column_json(entry, result, row, FIND_TOOLS);
    char *name = talloc_strdup(entry, db_get(result, row, FIND_NAME));
    if (name == NULL)
        return AZ_SERVER_ERROR;
    if (document != NULL && tools != NULL && json_object_set(document, "tools", tools) != 0)
        return AZ_SERVER_ERROR;
    struct row_faults faults = {.mem = entry, .name = name};
    const struct managed_reading reading = {
        .mem = entry,
        .document = document,
        .insecure_hosts = op->az->cfg->gateway_insecure_hosts,
        .name_max = op->az->cfg->gateway_tool_name_max,
        .secrets = column_json(entry, result, row, FIND_SECRETS_SET),
        .stored = true,
        .fault = tell_broken,
        .fault_arg = &faults,
    };
    enum az_status st = managed_read(&reading, &entry->resource);
    if (st == AZ_OK)
        tell_left_out(&entry->resource);
    if (st == AZ_INVALID) /* it keeps its addresses, and has no routes */
        entry->resource = (struct managed_resource){
            .name = name,
            .display_name = name,
            .enabled = true,
            .public_urls = words_array_list(entry, json_object_get(document, "publicUrls")),
            .missing = "document",
            .unreadable = faults.first != NULL ? faults.first : "the document is no JSON"};
    return st == AZ_INVALID ? AZ_OK : st;
}

static enum az_status
resource_read_entry(struct op *op, const PGresult *result, int row, struct remembered **ret)
{
    struct remembered *entry = talloc_zero(op->mem, struct remembered);
    unsigned char *sealed = NULL;
    enum az_status st = entry != NULL ? parse_row(op, result, row, entry) : AZ_SERVER_ERROR;
    if (st == AZ_OK && db_get(result, row, FIND_SECRETS_SEALED) != NULL)
        st = db_get_octets(entry, result, row, FIND_SECRETS_SEALED, &sealed, &entry->sealed_length);
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "managed resource %s cannot be read",
                       db_get(result, row, FIND_NAME));
    json_t *scopes = column_json(entry, result, row, FIND_SCOPES);
    if (scopes != NULL && (entry->resource.implies = managed_scopes_implied(entry, scopes)) == NULL)
        return op_no_memory(op);
    entry->sealed = sealed;
    entry->resource.id = db_get_number(result, row, FIND_ID, 0);
    entry->resource.version = db_get_number(result, row, FIND_VERSION, 0);
    entry->resource.redirect_shared = db_get_bool(result, row, FIND_REDIRECT_SHARED);
    remember(op, entry);
    *ret = entry;
    return AZ_OK;
}

/* Return a copy with the status of the row, which changes without the version. */
static enum az_status
current_copy(struct op *op, const PGresult *result, int row, const struct remembered *entry,
             const struct managed_resource **ret)
{
    struct managed_resource *copy =
        talloc_memdup(op->mem, &entry->resource, sizeof(entry->resource));
    if (copy == NULL)
        return op_no_memory(op);
    copy->status = copy->unreadable != NULL ? MANAGED_ERROR
                                            : managed_status_of(db_get(result, row, FIND_STATUS));
    copy->status_reason = db_get(result, row, FIND_STATUS_REASON);
    copy->connector_id = db_get(result, row, FIND_CONNECTOR_ID);
    copy->connector_version = db_get(result, row, FIND_CONNECTOR_VERSION);
    *ret = copy;
    return AZ_OK;
}

/* Take one row: from memory, or parsed. *ret is NULL if it has left the memory. */
static enum az_status
take_row(struct op *op, const PGresult *result, int row, const struct managed_resource **ret)
{
    struct remembered *entry = recall(op, db_get_number(result, row, FIND_VERSION, 0));
    enum az_status st = AZ_OK;
    *ret = NULL;
    if (entry == NULL && db_get(result, row, FIND_DOCUMENT) != NULL)
        st = resource_read_entry(op, result, row, &entry);
    if (st != AZ_OK || entry == NULL)
        return st;
    return current_copy(op, result, row, entry, ret);
}

/* ---- one resource */

struct db_step *
resource_step(struct db_batch *batch, const char *name)
{
    struct op *op = db_batch_op(batch);
    struct db_step *step = db_batch_add(batch, &managed_find_stmt);
    db_text(&step->params, name);
    db_text(&step->params, op != NULL ? known_versions(op, name) : NULL);
    return step;
}

enum az_status
resource_take(struct op *op, struct db_step *step, const struct managed_resource **ret)
{
    const struct managed_resource *resource = NULL;
    enum az_status st = AZ_OK;
    if (PQntuples(step->result) > 0)
        st = take_row(op, step->result, 0, &resource);
    if (st != AZ_OK)
        return st;
    /* The entry was removed between the two calls. */
    if (resource == NULL && PQntuples(step->result) > 0)
        return resource_find(op, db_get(step->result, 0, FIND_NAME), ret);
    *ret = resource;
    return AZ_OK;
}

enum az_status
resource_find(struct op *op, const char *name, const struct managed_resource **ret)
{
    struct db_batch *batch = db_batch_new(op);
    struct db_step *step = resource_step(batch, name);
    enum az_status st = db_run(op, batch, true);
    return st == AZ_OK ? resource_take(op, step, ret) : st;
}

/* ---- all of them */

/* Take the resources out of a result with the columns of managed_list_stmt. */
static enum az_status
take_rows(struct op *op, const PGresult *result, struct managed_resources *ret)
{
    enum az_status st = AZ_OK;
    int rows = PQntuples(result);
    const struct managed_resource **item =
        talloc_zero_array(op->mem, const struct managed_resource *, (unsigned) rows + 1);
    if (item == NULL)
        return op_no_memory(op);
    struct managed_resources list = {.item = item};
    for (int row = 0; row < rows && st == AZ_OK; row++) {
        const struct managed_resource *resource = NULL;
        st = take_row(op, result, row, &resource);
        /* There are more resources than a process remembers. */
        if (st == AZ_OK && resource == NULL)
            st = resource_find(op, db_get(result, row, FIND_NAME), &resource);
        if (st == AZ_OK && resource != NULL)
            item[list.count++] = resource;
    }
    if (st == AZ_OK)
        *ret = list;
    return st;
}

enum az_status
resources_list(struct op *op, struct managed_resources *ret)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, known_versions(op, NULL));
    enum az_status st = db_exec(op, &managed_list_stmt, &params, true, &result);
    return st == AZ_OK ? take_rows(op, result, ret) : st;
}

struct db_step *
resources_public_step(struct db_batch *batch)
{
    struct op *op = db_batch_op(batch);
    struct db_step *step = db_batch_add(batch, &managed_public_stmt);
    db_text(&step->params, op != NULL ? known_versions(op, NULL) : NULL);
    return step;
}

enum az_status
resources_public_take(struct op *op, struct db_step *step, struct managed_resources *ret)
{
    return take_rows(op, step->result, ret);
}

/* ---- secrets */

const char *
resource_secrets_place(TALLOC_CTX *mem, const char *name)
{
    return talloc_asprintf(mem, "managed_resource/secrets/%s", name);
}

enum az_status
resource_secrets(struct op *op, const struct managed_resource *resource,
                 const struct managed_secrets **ret)
{
    struct managed_secrets *secrets = talloc_zero(op->mem, struct managed_secrets);
    const struct remembered *entry = recall(op, resource->version);
    unsigned char *plain;
    size_t length;
    if (secrets == NULL)
        return op_no_memory(op);
    if (entry == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "managed resource %s was changed meanwhile",
                       resource->name);
    if (entry->sealed != NULL) {
        const char *place = resource_secrets_place(op->mem, resource->name);
        enum az_status st =
            place != NULL ? keyring_open(op->mem, op->az->keyring, KEYRING_MANAGED_RESOURCE, place,
                                         entry->sealed, entry->sealed_length, &plain, &length)
                          : AZ_SERVER_ERROR;
        if (st == AZ_OK)
            st = managed_secrets_read(secrets, (const char *) plain, length, secrets);
        if (st != AZ_OK)
            return op_fail(op, AZ_SERVER_ERROR, NULL,
                           "the secrets of managed resource %s do not open", resource->name);
    }
    *ret = secrets;
    return AZ_OK;
}

/* ---- tools */

enum az_status
resource_read_tools(struct op *op, const struct managed_resource *resource, const json_t **ret,
                    bool *ret_synced)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_number(&params, resource->id);
    enum az_status st = db_exec(op, &managed_read_tools_stmt, &params, true, &result);
    *ret = NULL;
    *ret_synced = false;
    if (st != AZ_OK || PQntuples(result) == 0)
        return st;
    *ret = column_json(op->mem, result, 0, READ_TOOLS);
    *ret_synced = db_get_bool(result, 0, READ_SYNCED);
    return *ret != NULL
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL,
                         "the tools of managed resource %s cannot be read", resource->name);
}
