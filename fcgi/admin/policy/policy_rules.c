#include "config.h"

#include "admin/policy/policy_rules.h"

#include <string.h>

#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_refusal.h"
#include "admin/resource/resource_body.h"
#include "base/buf.h"
#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "http/header_value.h"
#include "policy/rows/cedar_rule.h"
#include "policy/rows/rule.h"
#include "policy/save/check/rule_check.h"
#include "store/policy/policy_rules.h"

/* Longest compiled text that is shown, in octets: what a client of the admin API can be expected to
 * read. The text of a rule of 512 KiB is usually a tenth of that. */
#define RULE_COMPILED_MAX (8 << 20)

static const char *const rule_kinds[] = {"rego", "cedar", NULL};
static const char *const truths[] = {"true", "false", NULL};

/* clang-format off */
const struct route_param policy_rules_params[] = {
    {.name = "path", .help = "Only the rule of this path"},
    {.name = "kind", .words = rule_kinds, .help = "Only rules of this language"},
    {.name = "enabled", .words = truths, .help = "Only rules that are enabled, or are not"},
    {.name = NULL}
};
/* clang-format on */

/* ---- PolicyRuleDto ---- */

static const char *
path_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return rule_path_fault(json_string_value(value));
}

static const char *
content_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return rule_content_fault(json_string_value(value));
}

/* clang-format off */
static const struct field policy_rule_fields[] = {
    {"id",                 FIELD_READ_ONLY, .shown = FIELD_INTEGER, .help = "Number of the rule"},
    {"path",               FIELD_TEXT,      .required = true, .max = RULE_PATH_MAX,
     .rule = path_rule, .help = "Name of the file in the bundle",
     .example = "\"custom/example.rego\""},
    {"kind",               FIELD_TEXT,      .required = true, .words = rule_kinds,
     .help = "Language; it is that of the suffix of path", .example = "\"rego\""},
    {"content",            FIELD_TEXT,      .required = true, .max = RULE_CONTENT_MAX,
     .rule = content_rule, .help = "Text of the rule, at most 524288 octets",
     .example = "\"package custom.example\\n\\nlimit := 100\\n\""},
    {"version",            FIELD_TEXT,      .required = true, .max = FIELD_WORD_MAX,
     .help = "Text of the caller; policy does not read it", .example = "\"1\""},
    {"digest",             FIELD_READ_ONLY, .max = FIELD_WORD_MAX,
     .help = "SHA-256 of the content, in hexadecimal"},
    {"enabled",            FIELD_BOOLEAN, .help = "The rule is part of the bundle",
     .example = "true"},
    {"compiled",           FIELD_READ_ONLY, .shown = FIELD_TEXT,
     .help = "Rego that a Cedar rule is compiled to; not in lists, and absent if the rule is a "
             "draft with an error or the text has more than 8388608 octets"},
    {"createdAt",          FIELD_READ_ONLY, .help = "Time of the first save"},
    {"updatedAt",          FIELD_READ_ONLY, .help = "Time of the last save"},
    {"createdAtFormatted", FIELD_READ_ONLY, .help = "The same time for people"},
};
const struct field_table policy_rule_table = FIELD_TABLE("PolicyRuleDto", policy_rule_fields, 0);
/* clang-format on */

static const char *
policy_rule_text(const struct request *req, const char *name)
{
    return json_string_value(json_object_get(req->json, name));
}

/* Read the body; every fault of it is in the answer's fieldErrors. */
static enum az_status
policy_rule_read(struct request *req, struct policy_rule_write *ret)
{
    enum az_status st = fields_read(req->op.mem, &policy_rule_table, req->json, request_field_fault,
                                    req, NULL, NULL);
    *ret = (struct policy_rule_write){.path = policy_rule_text(req, "path"),
                                      .kind = policy_rule_text(req, "kind"),
                                      .content = policy_rule_text(req, "content"),
                                      .version = policy_rule_text(req, "version")};
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory");
    if (ret->path != NULL && ret->kind != NULL && rule_path_fault(ret->path) == NULL
        && words_has(rule_kinds, ret->kind) && strcmp(ret->kind, rule_kind(ret->path)) != 0)
        st = request_invalid_field(req, "kind", "must match the suffix of path");
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

/* Name the rule in the audit row, by path or id as the caller did. */
static void
policy_rule_note(struct request *req, int64_t id, const char *path)
{
    struct jsonx_build summary = {jsonx_own(req->op.mem, json_pack("{s:s*}", "path", path)), false};
    if (id != 0)
        jsonx_set(&summary, "id", json_integer(id));
    req->audit.summary = jsonx_dump(req->op.mem, jsonx_built(&summary));
}

/* ---- reading ---- */

static enum az_status
policy_rule_missing(struct op *op)
{
    return op_fail(op, AZ_NOT_FOUND, NULL, "no such rule");
}

enum az_status
policy_rules_list_handle(struct request *req)
{
    const struct policy_rule_filter filter = {.path = request_param(req, "path"),
                                              .kind = request_param(req, "kind"),
                                              .enabled = request_param(req, "enabled")};
    const char *list, *why = filter.kind == NULL || words_has(rule_kinds, filter.kind)
                                 ? NULL
                                 : "must be rego or cedar";
    if (why != NULL)
        request_field_error(req, "kind", why);
    if (filter.enabled != NULL && !words_has(truths, filter.enabled))
        request_field_error(req, "enabled", "must be true or false");
    if (req->error_body != NULL)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    enum az_status st = policy_rule_list(&req->op, &filter, &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

/* Return the text of all modules of a Cedar rule; *ret is NULL if the draft of one has an error, or
 * it is too long to be shown. */
static enum az_status
policy_rule_compiled(struct op *op, const struct policy_rule *rule, const char **ret)
{
    struct cedar_fault fault;
    struct cedar_modules modules;
    BUF_AUTO buf;
    size_t length;
    buf_init(&buf, op->mem, RULE_COMPILED_MAX);
    enum az_status st = cedar_rule_compile(op->mem, rule->path, rule->content, &modules, &fault);
    for (size_t i = 0; i < modules.count && st == AZ_OK; i++) {
        buf_append_text(&buf, i > 0 ? "\n" : "");
        st = buf_append_text(&buf, modules.module[i].text);
    }
    *ret = st == AZ_OK ? buf_take(&buf, &length) : NULL;
    return st == AZ_INVALID || *ret != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

/* Add the member `compiled` of a Cedar rule. */
static enum az_status
policy_rule_add_compiled(struct op *op, struct policy_rule *rule)
{
    const char *text;
    json_t *dto;
    enum az_status st = policy_rule_compiled(op, rule, &text);
    if (st == AZ_OK && text == NULL)
        return AZ_OK;
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, rule->dto, strlen(rule->dto), 1, &dto, NULL);
    if (st == AZ_OK && json_object_set_new(dto, "compiled", json_string(text)) != 0)
        st = AZ_SERVER_ERROR;
    if (st == AZ_OK && (rule->dto = jsonx_dump(op->mem, dto)) != NULL)
        return AZ_OK;
    return op_fail(op, AZ_SERVER_ERROR, NULL, "the compiled text of %s cannot be shown",
                   rule->path);
}

/* Answer with the rule as it is now; another writer may have changed it since a save. */
static enum az_status
policy_rule_respond(struct request *req, int status, int64_t id)
{
    struct policy_rule rule = {.content = NULL};
    enum az_status st = policy_rule_fetch(&req->op, id, &rule);
    if (st != AZ_OK)
        return st;
    if (rule.content == NULL)
        return policy_rule_missing(&req->op);
    if (strcmp(rule_kind(rule.path), "cedar") == 0)
        st = policy_rule_add_compiled(&req->op, &rule);
    return st == AZ_OK ? policy_respond(req, status, rule.dto, rule.digest) : st;
}

enum az_status
policy_rule_get_handle(struct request *req)
{
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    return st == AZ_OK ? policy_rule_respond(req, 200, id) : st;
}

/* ---- saving ---- */

/* The rule that a save is for. */
enum rule_target {
    TARGET_NEW,  /* a new one: the path must be free */
    TARGET_ID,   /* the one with an id */
    TARGET_PATH, /* the one with this path, or a new one */
};

/* A save and its results. */
struct rule_save {
    struct request *req;
    enum rule_target target;
    int64_t id;                     /* id of the rule; set by the save unless TARGET_ID */
    bool created;                   /* the rule is new */
    bool remove;                    /* delete it */
    struct policy_rule_write write; /* new content */
    struct save_refusal refusal;    /* refusal that did not need the engine */
};

static enum az_status
policy_rule_find(struct op *op, const struct rule_save *save, struct policy_rule *ret)
{
    enum az_status st = save->target == TARGET_ID
                            ? policy_rule_fetch(op, save->id, ret)
                            : policy_rule_fetch_path(op, save->write.path, ret);
    if (st != AZ_OK)
        return st;
    bool found = ret->content != NULL;
    if (!found && save->target == TARGET_ID)
        return policy_rule_missing(op);
    if (found && ret->shipped)
        return op_fail(op, AZ_PROTECTED,
                       "This rule is shipped with the service and cannot be changed", NULL);
    if (found && save->target == TARGET_NEW)
        return op_fail(op, AZ_CONFLICT, "A rule with this path already exists", NULL);
    return request_if_match(save->req, found ? ret->digest : NULL);
}

/* Return `enabled` of the rule. A body without it keeps the stored value, so that no update enables
 * a rule by accident. */
static bool
policy_rule_enabled(const struct request *req, const struct policy_rule *rule)
{
    const json_t *given = json_object_get(req->json, "enabled");
    return json_is_boolean(given) ? json_is_true(given) : rule->content == NULL || rule->enabled;
}

/* Check and write the rule. Runs in the transaction of the save, so that the row that was checked
 * is the row that is replaced. */
static enum az_status
policy_rule_apply(struct op *op, void *arg)
{
    struct rule_save *save = arg;
    struct policy_rule rule = {.content = NULL};
    enum az_status st = policy_rule_find(op, save, &rule);
    if (st != AZ_OK)
        return st;
    if (save->remove)
        return policy_rule_delete(op, save->id);
    struct policy_rule_write *write = &save->write;
    write->enabled = policy_rule_enabled(save->req, &rule);
    st = rule_check(op, write->path, write->content, write->enabled, &save->refusal);
    if (st != AZ_OK)
        return st;
    save->created = rule.content == NULL;
    if (save->created)
        return policy_rule_insert(op, write, &save->id);
    save->id = rule.id;
    return policy_rule_update(op, rule.id, write);
}

/* Save a rule and answer. The mode is strict: the rule is active in every engine, or everything is
 * as before. */
static enum az_status
policy_rule_save(struct request *req, struct rule_save *save)
{
    struct save_limits limits;
    struct save_plan plan = {.apply = policy_rule_apply,
                             .arg = save,
                             .mode = SAVE_STRICT,
                             .source = "policy-rule",
                             .who = req->admin.label,
                             .limits = &limits};
    struct save_outcome outcome = {.revision = NULL};
    policy_rule_note(req, save->id, save->write.path);
    enum az_status st = save_params_read(req, &limits, &plan.message, &plan.if_revision);
    if (st != AZ_OK)
        return st;
    st = save_policy(&req->op, &plan, &outcome);
    if (st == AZ_INVALID_FIELDS)
        return request_invalid_field(req, "content", req->op.fault.public_text);
    if (st != AZ_OK && save->refusal.error != NULL)
        outcome.refusal = save->refusal;
    if (st != AZ_OK)
        return policy_refuse(req, st, &outcome);
    policy_add_outcome(req, &outcome, NULL);
    if (save->remove)
        return respond_empty(req, 204);
    return policy_rule_respond(req, save->created ? 201 : 200, save->id);
}

static enum az_status
policy_rule_write_as(struct request *req, enum rule_target target, int64_t id)
{
    struct rule_save save = {.req = req, .target = target, .id = id};
    enum az_status st = policy_rule_read(req, &save.write);
    return st == AZ_OK ? policy_rule_save(req, &save) : st;
}

enum az_status
policy_rules_create_handle(struct request *req)
{
    return policy_rule_write_as(req, TARGET_NEW, 0);
}

enum az_status
policy_rule_put_handle(struct request *req)
{
    int64_t id = 0;
    enum az_status st = path_id_read(req, &id);
    return st == AZ_OK ? policy_rule_write_as(req, TARGET_ID, id) : st;
}

enum az_status
policy_rule_put_by_path_handle(struct request *req)
{
    return policy_rule_write_as(req, TARGET_PATH, 0);
}

enum az_status
policy_rule_delete_handle(struct request *req)
{
    struct rule_save save = {.req = req, .target = TARGET_ID, .remove = true};
    enum az_status st = path_id_read(req, &save.id);
    return st == AZ_OK ? policy_rule_save(req, &save) : st;
}
