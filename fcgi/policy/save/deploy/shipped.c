#include "config.h"

#include "policy/save/deploy/shipped.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "policy/catalogue/shipped_files.h"
#include "store/policy/policy_rows.h"

/* State of one load. */
struct load {
    const char **paths; /* of the shipped rules; others are deleted */
    size_t count;       /* of them */
    int *changed;       /* rows written */
};

static enum az_status
ship_rule(struct op *op, void *arg, const char *name, const char *text)
{
    struct load *load = arg;
    if (load->count == SHIPPED_FILES_MAX)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "more than %d shipped rules", SHIPPED_FILES_MAX);
    if (*text == '\0') /* a file that was copied in part */
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: policy/%s is empty", name);
    load->paths[load->count++] = name;
    return policy_ship_rule(op, name, text, load->changed);
}

/* Return the data key: the file's name without folder and suffix. */
static const char *
key_of(struct op *op, const char *name)
{
    const char *slash = strrchr(name, '/');
    return talloc_strndup(op->mem, slash + 1, strlen(slash + 1) - strlen(".json"));
}

static enum az_status
read_shipped_json(struct op *op, const char *name, const char *text, json_t **ret)
{
    const char *why;
    if (jsonx_parse(op->mem, text, strlen(text), SHIPPED_DEPTH_MAX, ret, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_DATA_DIR: policy/%s: %s", name, why);
    return AZ_OK;
}

static enum az_status
take_schema(struct op *op, void *arg, const char *name, const char *text)
{
    struct load *load = arg;
    json_t *schema;
    enum az_status st = read_shipped_json(op, name, text, &schema);
    if (st != AZ_OK)
        return st;
    const char *control = json_string_value(json_object_get(schema, "x-control"));
    return policy_ship_schema(op, key_of(op, name), control != NULL ? control : "", text,
                              load->changed);
}

static enum az_status
ship_data(struct op *op, void *arg, const char *name, const char *text)
{
    struct load *load = arg;
    json_t *value;
    enum az_status st = read_shipped_json(op, name, text, &value);
    return st == AZ_OK
               ? policy_ship_data(op, key_of(op, name), jsonx_dump(op->mem, value), load->changed)
               : st;
}

static enum az_status
load_all(struct op *op, void *arg)
{
    struct load *load = arg;
    load->count = 0;
    *load->changed = 0;
    enum az_status st = shipped_each(op, "svc", ".rego", ship_rule, load);
    if (st == AZ_OK)
        st = policy_ship_prune(op, load->paths, load->count, load->changed);
    if (st == AZ_OK)
        st = shipped_each(op, "schemas", ".json", take_schema, load);
    return st == AZ_OK ? shipped_each(op, "data", ".json", ship_data, load) : st;
}

enum az_status
save_shipped_policy(struct op *op, const char *who, int *ret_changed, struct save_outcome *ret)
{
    struct load load = {.changed = ret_changed};
    const struct save_plan plan = {
        .apply = load_all, .arg = &load, .mode = SAVE_LATER, .source = "shipped", .who = who};
    load.paths = talloc_zero_array(op->mem, const char *, SHIPPED_FILES_MAX);
    *ret_changed = 0;
    return load.paths != NULL ? save_policy(op, &plan, ret) : op_no_memory(op);
}
