#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "crypto/digest.h"
#include "policy/rows/data_key.h"
#include "policy/rows/rule.h"
#include "policy/save/check/rule_check.h"
#include "policy/save/deploy/deploy_private.h"

/* Faults reported: a deploy has up to 10,000 entries, and no caller reads as many faults. */
#define DEPLOY_FAULTS_MAX 100

/* Record a fault of a whole list or, with the name of a member, of its entry i. */
static void
add_fault(struct op *op, struct deploy_work *work, const char *list, size_t i, const char *member,
          const char *why)
{
    json_t *faults = work->result.faults;
    const char *path =
        member != NULL ? talloc_asprintf(op->mem, "%s[%zu].%s", list, i, member) : list;
    if (json_object_size(faults) < DEPLOY_FAULTS_MAX && json_object_get(faults, path) == NULL
        && json_object_set_new(faults, path, json_string(why)) != 0)
        work->lost = true;
}

int
deploy_find(const json_t *index, const char *name)
{
    const json_t *place = json_object_get(index, name);
    return place != NULL ? (int) json_integer_value(place) : -1;
}

/* Return the fault of a text that is to be stored, or NULL. */
static const char *
row_text_fault(const char *text)
{
    if (text == NULL)
        return "is required";
    if (*text == '\0')
        return "must not be empty";
    return utf8_valid(text, strlen(text)) ? NULL : "must be UTF-8";
}

/* Enter a name; return a fault if it is listed before. */
static const char *
enter_name(struct op *op, struct deploy_work *work, json_t *index, const char *list, size_t i,
           const char *name)
{
    int before = deploy_find(index, name);
    if (before >= 0)
        return talloc_asprintf(op->mem, "is already listed in %s[%d]", list, before);
    if (json_object_set_new(index, name, json_integer((json_int_t) i)) != 0)
        work->lost = true;
    return NULL;
}

static void
check_rule_entry(struct op *op, struct deploy_work *work, size_t i)
{
    const struct deploy_rule *rule = &work->deploy->rule[i];
    const char *why = row_text_fault(rule->path);
    if (why == NULL)
        why = rule_path_fault(rule->path);
    if (why == NULL)
        why = enter_name(op, work, work->rule_index, "rules", i, rule->path);
    if (why != NULL)
        add_fault(op, work, "rules", i, "path", why);
    if ((why = row_text_fault(rule->content)) != NULL)
        add_fault(op, work, "rules", i, "content", why);
}

/* Parse a payload; return its fault, or NULL. */
static const char *
read_payload(struct op *op, const char *text, json_t **ret)
{
    const char *why = row_text_fault(text);
    if (why != NULL)
        return why;
    if (strlen(text) > POLICY_DATA_PAYLOAD_MAX)
        return "must not be larger than 8 MiB";
    if (jsonx_parse(op->mem, text, strlen(text), POLICY_DATA_DEPTH_MAX, ret, &why) == AZ_OK)
        return NULL;
    return talloc_asprintf(op->mem, "must be JSON: %s", why != NULL ? why : "out of memory");
}

static void
check_data_entry(struct op *op, struct deploy_work *work, size_t i)
{
    const struct deploy_data *data = &work->deploy->data[i];
    const char *why = policy_data_key_fault(data->data_key);
    if (why == NULL)
        why = enter_name(op, work, work->data_index, "data", i, data->data_key);
    if (why != NULL)
        add_fault(op, work, "data", i, "dataKey", why);
    if ((why = read_payload(op, data->payload, &work->payload[i])) != NULL)
        add_fault(op, work, "data", i, "payload", why);
}

/* A rollback has no limit: many small deploys may have added up to more than one deploy can hold.
 */
static enum az_status
check_counts(struct op *op, struct deploy_work *work)
{
    if (work->deploy->bundle_only)
        return AZ_OK;
    if (work->deploy->rules > DEPLOY_RULES_MAX)
        add_fault(op, work, "rules", 0, NULL,
                  talloc_asprintf(op->mem, "must have at most %d entries", DEPLOY_RULES_MAX));
    if (work->deploy->data_rows > DEPLOY_DATA_MAX)
        add_fault(op, work, "data", 0, NULL,
                  talloc_asprintf(op->mem, "must have at most %d entries", DEPLOY_DATA_MAX));
    return json_object_size(work->result.faults) == 0 ? AZ_OK : AZ_INVALID_FIELDS;
}

/* Repeat the refusal with the place of the rule. */
static enum az_status
name_rule(struct op *op, enum az_status st, size_t i)
{
    const char *text = talloc_asprintf(op->mem, "rules[%zu]: %s", i, op->fault.public_text);
    const char *detail = talloc_asprintf(op->mem, "rules[%zu]: %s", i, op->fault.detail);
    az_fault_clear(&op->fault);
    return op_fail(op, st, text, "%s", detail != NULL ? detail : "out of memory");
}

/* Rules below svc are judged later, when the shipped ones are known. */
static enum az_status
check_rules(struct op *op, struct deploy_work *work)
{
    for (size_t i = 0; i < work->deploy->rules; i++) {
        const struct deploy_rule *rule = &work->deploy->rule[i];
        if (rule_path_is_ours(rule->path))
            continue;
        enum az_status st =
            rule_check(op, rule->path, rule->content, rule->enabled, &work->refusal);
        if (st == AZ_INVALID_FIELDS) {
            add_fault(op, work, "rules", i, "content", op->fault.public_text);
            az_fault_clear(&op->fault);
        } else if (st != AZ_OK) {
            return name_rule(op, st, i);
        }
    }
    if (work->lost)
        return op_no_memory(op);
    return json_object_size(work->result.faults) == 0 ? AZ_OK : AZ_INVALID_FIELDS;
}

static enum az_status
check_entries(struct op *op, struct deploy_work *work)
{
    enum az_status st = check_counts(op, work);
    for (size_t i = 0; st == AZ_OK && i < work->deploy->rules; i++)
        check_rule_entry(op, work, i);
    for (size_t i = 0; st == AZ_OK && i < work->deploy->data_rows; i++)
        check_data_entry(op, work, i);
    if (work->lost)
        return op_no_memory(op);
    if (st == AZ_OK && json_object_size(work->result.faults) > 0)
        st = AZ_INVALID_FIELDS;
    return st == AZ_OK ? check_rules(op, work) : st;
}

/* Return the hex SHA-256 of a text, on op->mem; NULL: no memory. */
static const char *
stored_digest(struct op *op, const char *text)
{
    char *hex = talloc_array(op->mem, char, SHA256_HEX_SIZE);
    return hex != NULL && sha256_hex(text, strlen(text), hex) == AZ_OK ? hex : NULL;
}

/* Return an empty column of a table that one statement writes. */
static const char **
new_column(struct op *op, size_t count)
{
    return talloc_zero_array(op->mem, const char *, (unsigned) count + 1);
}

static enum az_status
make_rule_columns(struct op *op, struct deploy_work *work, struct deploy_rule_columns *ret)
{
    size_t rules = work->deploy->rules, count = 0;
    const char **path = new_column(op, rules), **kind = new_column(op, rules),
               **content = new_column(op, rules), **digest = new_column(op, rules),
               **enabled = new_column(op, rules), **version = new_column(op, rules);
    if (path == NULL || kind == NULL || content == NULL || digest == NULL || enabled == NULL
        || version == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < rules; i++) {
        const struct deploy_rule *rule = &work->deploy->rule[i];
        if ((work->digest[i] = stored_digest(op, rule->content)) == NULL)
            return op_no_memory(op);
        if (rule_path_is_ours(rule->path))
            continue;
        path[count] = rule->path;
        kind[count] = rule_kind(rule->path);
        content[count] = rule->content;
        digest[count] = work->digest[i];
        version[count] = rule->version != NULL ? rule->version : "";
        enabled[count++] = rule->enabled ? "t" : "f";
    }
    *ret = (struct deploy_rule_columns){path, kind, content, digest, enabled, version, count};
    return AZ_OK;
}

static enum az_status
make_data_columns(struct op *op, struct deploy_work *work, struct deploy_data_columns *ret)
{
    const struct deploy *deploy = work->deploy;
    const char **key = new_column(op, deploy->data_rows),
               **payload = new_column(op, deploy->data_rows),
               **digest = new_column(op, deploy->data_rows),
               **version = new_column(op, deploy->data_rows);
    if (key == NULL || payload == NULL || digest == NULL || version == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < deploy->data_rows; i++) {
        key[i] = deploy->data[i].data_key;
        payload[i] = deploy->data[i].payload;
        version[i] = deploy->data[i].version != NULL ? deploy->data[i].version : "";
        if ((digest[i] = stored_digest(op, payload[i])) == NULL)
            return op_no_memory(op);
    }
    work->data_digest = digest;
    *ret = (struct deploy_data_columns){key, payload, digest, version, deploy->data_rows};
    return AZ_OK;
}

static enum az_status
make_values(struct op *op, struct deploy_work *work)
{
    struct deploy_rule_columns rules;
    struct deploy_data_columns data;
    enum az_status st = make_rule_columns(op, work, &rules);
    if (st == AZ_OK)
        st = make_data_columns(op, work, &data);
    return st == AZ_OK
               ? deploy_values_make(op, &rules, &data, work->deploy->bundle_only, &work->values)
               : st;
}

enum az_status
deploy_check(struct op *op, struct deploy_work *work)
{
    work->result.faults = jsonx_own(op->mem, json_object());
    work->rule_index = jsonx_own(op->mem, json_object());
    work->data_index = jsonx_own(op->mem, json_object());
    work->digest = new_column(op, work->deploy->rules);
    work->payload = talloc_zero_array(op->mem, json_t *, (unsigned) work->deploy->data_rows + 1);
    if (work->result.faults == NULL || work->rule_index == NULL || work->data_index == NULL
        || work->digest == NULL || work->payload == NULL)
        return op_no_memory(op);
    enum az_status st = check_entries(op, work);
    if (st == AZ_INVALID_FIELDS)
        return op_fail(op, AZ_INVALID_FIELDS, NULL, "%zu faults in a deploy",
                       json_object_size(work->result.faults));
    return st == AZ_OK ? make_values(op, work) : st;
}

enum az_status
deploy_check_replaced(struct op *op, const struct deploy_work *work)
{
    const json_t *expected = work->deploy->replaced;
    const char *list, *name;
    json_t *names, *state;
    char *saved = NULL;
    if (work->lost)
        return op_no_memory(op);
    if (expected == NULL)
        return AZ_OK;
    json_object_foreach (work->result.replaced, list, names)
        json_object_foreach (names, name, state) {
            const json_t *then = json_object_get(json_object_get(expected, list), name);
            bool same = then == NULL ? json_is_null(state) : json_equal(then, state);
            if (!same)
                saved = talloc_asprintf(op->mem, "%s%s%s", saved != NULL ? saved : "",
                                        saved != NULL ? ", " : "", name);
        }
    return saved == NULL
               ? AZ_OK
               : op_fail(op, AZ_CONFLICT,
                         talloc_asprintf(op->mem, "Saved since the change was made: %s", saved),
                         "saved since the change was made: %s", saved);
}
