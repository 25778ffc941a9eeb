#include "config.h"

#include "policy/save/bundle/bundle.h"

#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "policy/rows/cedar_data.h"
#include "policy/rows/rule.h"
#include "policy/rows/rule_places.h"
#include "policy/save/bundle/archive.h"
#include "policy/save/bundle/bundle_conflicts.h"

/* Hex digits of the rows' hash that name a revision. A bundle with the revision of another one
 * would not be published, so 128 bits. */
#define REVISION_DIGITS 32
#define ROW_DEPTH_MAX 64

/* Put a row at its place: the key is split at its dots into nested objects. */
static enum az_status
place_row(struct op *op, json_t *root, const char *key, const char *payload)
{
    json_t *value, *at = root;
    const char *why;
    if (jsonx_parse(op->mem, payload, strlen(payload), ROW_DEPTH_MAX, &value, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row %s is not JSON: %s", key, why);
    for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        json_t *next = json_object_getn(at, key, (size_t) (dot - key));
        if (next == NULL
            && json_object_setn_new(at, key, (size_t) (dot - key), next = json_object()) != 0)
            return op_no_memory(op);
        at = next;
    }
    return json_object_set(at, key, value) == 0
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "row %s collides with another row", key);
}

/* Put the places of the operators' rules into the document. The object is there without places too:
 * if it came with the first rule of one hook, each decision would look up something else (policy.md
 * I7). */
static enum az_status
place_rules(struct op *op, json_t *root, const struct bundle_rows *rows)
{
    size_t count = 0;
    struct rule_text *text = talloc_array(op->mem, struct rule_text, (unsigned) rows->rules + 1);
    for (size_t i = 0; text != NULL && i < rows->rules; i++)
        if (!rule_path_is_ours(rows->rule_path[i])
            && strcmp(rule_kind(rows->rule_path[i]), "rego") == 0)
            text[count++] = (struct rule_text){rows->rule_path[i], rows->rule_content[i]};
    json_t *places = text != NULL ? rule_places_find(op->mem, text, count) : NULL;
    if (places == NULL)
        return op_no_memory(op);
    const char *document = jsonx_dump(op->mem, places);
    return document != NULL ? place_row(op, root, RULE_PLACES_KEY, document) : op_no_memory(op);
}

/* Build data.json: the rows in one document, members sorted. The rows with entities of Cedar are
 * one object in it, and the places of rules are another. */
static enum az_status
build_data(struct op *op, const struct bundle_rows *rows, char **ret)
{
    json_t *root = jsonx_own(op->mem, json_object());
    char *entities = NULL;
    enum az_status st = cedar_data_of_bundle(op, rows, &entities);
    if (st == AZ_OK && entities != NULL)
        st = place_row(op, root, CEDAR_DATA_UNITED, entities);
    if (st == AZ_OK)
        st = place_rules(op, root, rows);
    for (size_t i = 0; st == AZ_OK && i < rows->data; i++)
        if (!cedar_data_holds_entities(rows->data_key[i]))
            st = place_row(op, root, rows->data_key[i], rows->data_payload[i]);
    if (st != AZ_OK)
        return st;
    *ret = jsonx_dump_sorted(op->mem, root);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

static enum az_status
bundle_too_large(struct op *op)
{
    return op_fail(op, AZ_TOO_LARGE,
                   "The rules and rows together exceed the size limit of a bundle", NULL);
}

/* Name the revision: a hash over everything in the archive except the revision itself, and over the
 * text of Cedar rules, so that a comment in one has a place in the history too. */
static enum az_status
name_revision(struct op *op, const struct bundle_build *build, const char **ret)
{
    const struct bundle_rows *rows = &build->rows;
    struct buf all;
    char *hash = talloc_array(op->mem, char, SHA256_HEX_SIZE);
    buf_init(&all, op->mem, ARCHIVE_MAX);
    buf_append_text(&all, build->data);
    for (size_t i = 0; i < rows->rules; i++) {
        buf_append(&all, "", 1);
        buf_append_text(&all, rows->rule_path[i]);
        buf_append(&all, "", 1);
        buf_append_text(&all, rows->rule_content[i]);
    }
    for (size_t i = 0; i < build->modules.count; i++)
        if (build->modules.module[i].compiled) {
            buf_append(&all, "", 1);
            buf_append_text(&all, build->modules.module[i].text);
        }
    if (all.status == AZ_INVALID)
        return bundle_too_large(op);
    if (hash == NULL || all.status != AZ_OK || sha256_hex(all.data, all.len, hash) != AZ_OK)
        return op_no_memory(op);
    buf_done(&all);
    hash[REVISION_DIGITS] = '\0';
    *ret = hash;
    return AZ_OK;
}

enum az_status
bundle_read(struct op *op, struct bundle_build *ret)
{
    *ret = (struct bundle_build){.bundle = {.rows = &ret->rows}};
    enum az_status st = bundle_rows_fetch(op, &ret->rows);
    if (st == AZ_OK)
        st = bundle_modules_make(op, &ret->rows, &ret->modules);
    if (st == AZ_INVALID)
        return bundle_too_large(op);
    if (st == AZ_OK)
        st = bundle_check_conflicts(op, &ret->rows, &ret->modules);
    if (st == AZ_OK)
        st = build_data(op, &ret->rows, &ret->data);
    return st == AZ_OK ? name_revision(op, ret, &ret->bundle.revision) : st;
}

enum az_status
bundle_pack(struct op *op, struct bundle_build *build)
{
    const struct bundle_module *module = build->modules.module;
    struct bundle_new *bundle = &build->bundle;
    struct archive *archive = archive_new(op->mem);
    char *manifest =
        talloc_asprintf(op->mem, "{\"revision\":\"%s\",\"rego_version\":1}", bundle->revision);
    unsigned char *body;
    char *etag = talloc_array(op->mem, char, SHA256_HEX_SIZE);
    enum az_status st = bundle_content_fetch(op, &bundle->content);
    if (st == AZ_OK)
        st = archive != NULL && manifest != NULL ? AZ_OK : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        st = archive_add(archive, ".manifest", manifest, strlen(manifest));
    if (st == AZ_OK)
        st = archive_add(archive, "data.json", build->data, strlen(build->data));
    for (size_t i = 0; i < build->modules.count && st == AZ_OK; i++)
        st = archive_add(archive, module[i].file, module[i].text, strlen(module[i].text));
    if (st == AZ_OK)
        st = archive_finish(op->mem, archive, &body, &bundle->length);
    if (st == AZ_OK)
        st = sha256_hex(body, bundle->length, etag);
    talloc_free(archive);
    if (st == AZ_INVALID)
        return bundle_too_large(op); /* paths were checked when they were saved */
    if (st != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the bundle archive cannot be built");
    bundle->body = body;
    bundle->etag = etag;
    bundle->modules = bundle_modules_name(op->mem, &build->modules);
    if (bundle->modules == NULL)
        return op_no_memory(op);
    return AZ_OK;
}
