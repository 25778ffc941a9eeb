#include "config.h"

#include "admin/policy/policy_bundle.h"

#include <stddef.h>
#include <string.h>

#include "admin/credential.h"
#include "admin/policy/impact_limits.h"
#include "admin/policy/policy_refusal.h"
#include "admin/trial_place.h"
#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/deploy/deploy.h"
#include "store/db/rows/object_owners.h"

_Static_assert(POLICY_DATA_DEPTH_MAX == HTTP_JSON_DEPTH_MAX, "a row fits in a request body");

/* Members of PolicyBundleDeployRequest, RuleEntry and DataEntry (specification 2.4 to 2.6). */
struct deploy_request {
    const char *mode, *message, *if_revision;
    const char *owner;
    const json_t *rules, *data, *delete_rules, *delete_data, *impact, *marks;
};
struct mark_entry {
    const char *kind, *key, *digest;
};
struct rule_entry {
    const char *path, *content;
    bool enabled;
};
struct data_entry {
    const char *data_key;
    const json_t *payload;
};

/* Longest revision that is read; ours have 32 characters. */
#define REVISION_MAX 64

static const char *
message_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return save_message_fault(json_string_value(value));
}

static const char *
rule_text_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    return rule_content_fault(json_string_value(value));
}

/* Modes by name; the first is the default (decisions.md "Policy"). */
static const char *const mode_words[] = {"merge", "replace", "dry-run", NULL};
static const struct deploy_mode {
    bool replace, dry_run;
} modes[] = {
    {false, false},
    {true,  false},
    {false, true },
};

/* Kinds of objects that a deploy marks (doc/design/instance.md F5). */
static const char *const mark_kinds[] = {"rule", "row", "entry", NULL};

/* clang-format off */
static const struct field deploy_rule_fields[] = {
    {"path",    FIELD_TEXT,    .required = true, .max = RULE_PATH_MAX,
     FIELD_INTO(struct rule_entry, path), .help = "Name of the file in the bundle",
     .example = "\"custom/example.rego\""},
    {"content", FIELD_TEXT,    .required = true, .max = RULE_CONTENT_MAX, .rule = rule_text_rule,
     FIELD_INTO(struct rule_entry, content), .help = "Text of the rule, at most 524288 octets",
     .example = "\"package custom.example\\n\\nlimit := 100\\n\""},
    {"enabled", FIELD_BOOLEAN, FIELD_INTO(struct rule_entry, enabled),
     .help = "The rule is part of the bundle; true if it is left out", .example = "true"},
};
static const struct field deploy_data_fields[] = {
    {"dataKey", FIELD_TEXT, .required = true, .max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct data_entry, data_key), .help = "Path of the value in the data of policy",
     .example = "\"example.limits\""},
    {"payload", FIELD_ANY,  .required = true, FIELD_INTO(struct data_entry, payload),
     .help = "The value itself, not as text", .example = "{\"orders\": 100}"},
};
static const struct field deploy_mark_fields[] = {
    {"kind",   FIELD_TEXT, .required = true, .words = mark_kinds,
     FIELD_INTO(struct mark_entry, kind), .help = "Kind of the object", .example = "\"row\""},
    {"key",    FIELD_TEXT, .required = true, .max = OBJECT_KEY_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct mark_entry, key), .help = "Its name; of an entry DATAKEY/MEMBER/NAME",
     .example = "\"example.limits\""},
    {"digest", FIELD_TEXT, .required = true, .min = SHA256_HEX_SIZE - 1, .max = SHA256_HEX_SIZE - 1,
     FIELD_INTO(struct mark_entry, digest), .help = "SHA-256 of the object as it is applied",
     .example = "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""},
};
static const struct field_table deploy_mark_table = FIELD_TABLE("DeployMark", deploy_mark_fields,
                                                                0);
static const struct field_table deploy_rule_table = FIELD_TABLE("RuleEntry", deploy_rule_fields, 0);
static const struct field_table deploy_data_table = FIELD_TABLE("DataEntry", deploy_data_fields, 0);
static const struct field deploy_request_fields[] = {
    {"mode",       FIELD_TEXT,  .words = mode_words, FIELD_INTO(struct deploy_request, mode),
     .help = "merge adds and changes; replace deletes what is not listed, too; dry-run changes "
             "nothing", .example = "\"merge\""},
    {"message",    FIELD_TEXT,  .max = SAVE_MESSAGE_MAX, .rule = message_rule,
     FIELD_INTO(struct deploy_request, message),
     .help = "Reason of the change, for the history; at most 500 octets",
     .example = "\"Limit of orders\""},
    {"ifRevision", FIELD_TEXT,  .max = REVISION_MAX, FIELD_INTO(struct deploy_request, if_revision),
     .help = "Revision that must be active; else nothing is saved"},
    {"rules",      FIELD_ARRAY, .max = DEPLOY_RULES_MAX, .shape = &deploy_rule_table,
     FIELD_INTO(struct deploy_request, rules), .help = "Rules to save"},
    {"data",       FIELD_ARRAY, .max = DEPLOY_DATA_MAX, .shape = &deploy_data_table,
     FIELD_INTO(struct deploy_request, data), .help = "Data rows to save"},
    {"deleteRules", FIELD_TEXT_LIST, .max = DEPLOY_RULES_MAX, .item_max = RULE_PATH_MAX,
     FIELD_INTO(struct deploy_request, delete_rules), .help = "Paths of rules to delete"},
    {"deleteData", FIELD_TEXT_LIST, .max = DEPLOY_DATA_MAX, .item_max = POLICY_DATA_KEY_MAX,
     FIELD_INTO(struct deploy_request, delete_data), .help = "Keys of data rows to delete"},
    {"impact",     FIELD_OBJECT, .shape = &impact_limits_table,
     FIELD_INTO(struct deploy_request, impact),
     .help = "Limits of the save, in place of the parameters of the query"},
    {"owner",      FIELD_TEXT,  .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct deploy_request, owner),
     .help = "Owner of the objects of `marks`: that of instance.json", .example = "\"platform\""},
    {"marks",      FIELD_ARRAY, .max = DEPLOY_MARKS_MAX, .shape = &deploy_mark_table,
     FIELD_INTO(struct deploy_request, marks),
     .help = "Objects to mark as the owner's in the transaction of the save"},
};
const struct field_table policy_deploy_table =
    FIELD_TABLE("PolicyBundleDeployRequest", deploy_request_fields, 0);

/* clang-format on */

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The place of an entry in the body. */
struct deploy_place {
    struct request *req;
    const char *list; /* rules or data; NULL: at the top */
    size_t index;
};

static void
policy_bundle_fault(void *arg, const char *name, const char *why)
{
    const struct deploy_place *place = arg;
    const char *path = name;
    if (place->list != NULL)
        path = talloc_asprintf(place->req->op.mem, *name != '\0' ? "%s[%zu].%s" : "%s[%zu]%s",
                               place->list, place->index, name);
    if (path != NULL)
        request_field_error(place->req, path, why);
}

static enum az_status
policy_bundle_invalid(struct request *req)
{
    return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
}

static const char *
policy_bundle_mode_name(const struct deploy_mode *mode)
{
    return mode_words[mode - modes];
}

/* Return the mode of a name that the table of fields has accepted, or the default. */
static const struct deploy_mode *
policy_bundle_mode(const char *name)
{
    const struct deploy_mode *mode = modes;
    while (name != NULL && mode + 1 < modes + COUNT(modes)
           && strcmp(policy_bundle_mode_name(mode), name) != 0)
        mode++;
    return mode;
}

static enum az_status
policy_bundle_read_rules(struct request *req, const json_t *list, struct deploy *deploy)
{
    struct deploy_place place = {req, "rules", 0};
    struct deploy_rule *rule =
        talloc_zero_array(req->op.mem, struct deploy_rule, (unsigned) json_array_size(list) + 1);
    const json_t *item;
    enum az_status st = rule != NULL ? AZ_OK : op_no_memory(&req->op);
    if (st != AZ_OK)
        return st;
    json_array_foreach (list, place.index, item) {
        struct rule_entry entry = {.enabled = true};
        if (fields_read(req->op.mem, &deploy_rule_table, item, policy_bundle_fault, &place, &entry,
                        NULL)
            != AZ_OK)
            st = AZ_INVALID_FIELDS;
        rule[place.index] = (struct deploy_rule){
            .path = entry.path, .content = entry.content, .enabled = entry.enabled};
    }
    deploy->rule = rule;
    deploy->rules = json_array_size(list);
    return st;
}

static enum az_status
policy_bundle_read_data(struct request *req, const json_t *list, struct deploy *deploy)
{
    struct deploy_place place = {req, "data", 0};
    struct deploy_data *data =
        talloc_zero_array(req->op.mem, struct deploy_data, (unsigned) json_array_size(list) + 1);
    const json_t *item;
    enum az_status st = data != NULL ? AZ_OK : op_no_memory(&req->op);
    if (st != AZ_OK)
        return st;
    json_array_foreach (list, place.index, item) {
        struct data_entry entry = {.data_key = NULL};
        if (fields_read(req->op.mem, &deploy_data_table, item, policy_bundle_fault, &place, &entry,
                        NULL)
            != AZ_OK) {
            st = AZ_INVALID_FIELDS;
            continue;
        }
        const char *payload = jsonx_dump(req->op.mem, entry.payload);
        if (payload == NULL)
            return op_no_memory(&req->op);
        data[place.index] = (struct deploy_data){.data_key = entry.data_key, .payload = payload};
    }
    deploy->data = data;
    deploy->data_rows = json_array_size(list);
    return st;
}

/* Read the owner and the marks of its objects: both or neither. */
static enum az_status
policy_bundle_read_marks(struct request *req, const struct deploy_request *given,
                         struct deploy *deploy)
{
    struct deploy_place place = {req, "marks", 0};
    enum az_status st = AZ_OK;
    const json_t *item;
    if ((given->owner == NULL) != (given->marks == NULL)) {
        request_field_error(req, given->owner == NULL ? "owner" : "marks", "is required");
        return AZ_INVALID_FIELDS;
    }
    json_array_foreach (given->marks, place.index, item) {
        struct mark_entry entry = {.kind = NULL};
        if (fields_read(req->op.mem, &deploy_mark_table, item, policy_bundle_fault, &place, &entry,
                        NULL)
            != AZ_OK)
            st = AZ_INVALID_FIELDS;
    }
    deploy->owner = given->owner;
    deploy->marks = given->marks;
    return st;
}

enum az_status
policy_bundle_read(struct request *req, const json_t *body, struct deploy *ret,
                   const char **ret_mode)
{
    struct deploy_request given = {.mode = NULL};
    struct deploy_place place = {req, NULL, 0};
    enum az_status rules, data, marks;
    if (fields_read(req->op.mem, &policy_deploy_table, body, policy_bundle_fault, &place, &given,
                    NULL)
        != AZ_OK)
        return policy_bundle_invalid(req);
    const struct deploy_mode *mode = policy_bundle_mode(given.mode);
    *ret_mode = policy_bundle_mode_name(mode);
    ret->replace = mode->replace;
    ret->dry_run = mode->dry_run;
    ret->message = given.message;
    ret->if_revision = given.if_revision;
    ret->delete_rules = given.delete_rules;
    ret->delete_data = given.delete_data;
    rules = policy_bundle_read_rules(req, given.rules, ret);
    data = policy_bundle_read_data(req, given.data, ret);
    marks = policy_bundle_read_marks(req, &given, ret);
    if (rules == AZ_SERVER_ERROR || data == AZ_SERVER_ERROR)
        return AZ_SERVER_ERROR;
    return rules == AZ_OK && data == AZ_OK && marks == AZ_OK ? AZ_OK : policy_bundle_invalid(req);
}

/* Record the size of the deploy in the audit row; the bundle's history has its content. */
static void
policy_bundle_note(struct request *req, const char *mode, const struct deploy *deploy)
{
    req->audit.summary = jsonx_dump(
        req->op.mem,
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:I,s:I,s:s*}", "mode", mode, "rules", (json_int_t) deploy->rules,
                            "data", (json_int_t) deploy->data_rows, "message", deploy->message)));
}

enum az_status
policy_bundle_refuse(struct request *req, enum az_status st, const struct deploy_result *result)
{
    const char *path;
    json_t *why;
    if (st == AZ_INVALID_FIELDS)
        json_object_foreach (result->faults, path, why)
            request_field_error(req, path, json_string_value(why));
    if (st == AZ_UNPROCESSABLE && result->data_key != NULL)
        req->error_body = jsonx_own(req->op.mem, json_pack("{s:s,s:O}", "dataKey", result->data_key,
                                                           "failures", result->failures));
    return policy_refuse(req, st, &result->save);
}

/* Answer 200 with PolicyBundleDeployResult. */
static enum az_status
policy_bundle_respond(struct request *req, const char *mode, const struct deploy_result *result)
{
    policy_add_outcome(req, &result->save, result->warning);
    return respond_json(req, 200, deploy_result_json(req->op.mem, result, mode));
}

enum az_status
policy_bundle_answer(struct request *req, enum az_status st, const char *mode,
                     const struct deploy_result *result)
{
    return st == AZ_OK ? policy_bundle_respond(req, mode, result)
                       : policy_bundle_refuse(req, st, result);
}

enum az_status
policy_bundle_deploy_check(struct request *req)
{
    const char *mode = json_string_value(json_object_get(req->json, "mode"));
    return mode != NULL && strcmp(mode, "dry-run") == 0 ? AZ_OK
                                                        : admin_require(req, ADMIN_ROLE_OPERATOR);
}

enum az_status
policy_bundle_deploy_handle(struct request *req)
{
    struct deploy deploy = {.source = "deploy", .who = req->admin.label};
    struct deploy_result result;
    struct save_limits limits;
    TRIAL_PLACE_AUTO place = {NULL};
    const char *mode = NULL;
    enum az_status st = impact_limits_read(req, &limits);
    deploy.limits = &limits;
    if (st == AZ_OK)
        st = policy_bundle_read(req, req->json, &deploy, &mode);
    if (st == AZ_OK)
        st = impact_limits_read_body(req, json_object_get(req->json, "impact"), &limits);
    if (st != AZ_OK)
        return st;
    policy_bundle_note(req, mode, &deploy);
    if (deploy.dry_run && (st = trial_place_take(req, &place)) != AZ_OK)
        return st;
    st = deploy_run(&req->op, &deploy, &result);
    return policy_bundle_answer(req, st, mode, &result);
}
