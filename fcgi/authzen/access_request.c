#include "config.h"

#include "authzen/access_request.h"

#include <stdint.h>
#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"

const char *const access_semantic_words[ACCESS_SEMANTICS + 1] = {
    [ACCESS_EXECUTE_ALL] = "execute_all",
    [ACCESS_DENY_ON_FIRST_DENY] = "deny_on_first_deny",
    [ACCESS_PERMIT_ON_FIRST_PERMIT] = "permit_on_first_permit",
};

/* The members of a batch besides the defaults. */
struct batch_members {
    json_t *evaluations, *options;
    const char *semantic;
};

/* clang-format off */
static const struct field thing_fields[] = {
    {"type",       FIELD_TEXT,   .required = true, .max = ACCESS_WORD_MAX, .column = "type",
     .example = "\"user\"", .help = "Kind of thing"},
    {"id",         FIELD_TEXT,   .required = true, .max = ACCESS_ID_MAX,   .column = "id",
     .help = "Unique within the type", .example = "\"alice\""},
    {"properties", FIELD_OBJECT, .column = "properties", .help = "More facts, for rules"},
};
static const struct field action_fields[] = {
    {"name",       FIELD_TEXT,   .required = true, .max = ACCESS_WORD_MAX, .column = "name",
     .help = "What is to be done", .example = "\"read\""},
    {"properties", FIELD_OBJECT, .column = "properties", .help = "More facts, for rules"},
};
static const struct field option_fields[] = {
    {"evaluations_semantic", FIELD_TEXT, .words = access_semantic_words,
     FIELD_INTO(struct batch_members, semantic),
     .help = "Which decisions are returned: all, or up to the first of a kind",
     .example = "\"execute_all\""},
};
static const struct field_table thing_table = FIELD_TABLE("AccessEntity", thing_fields,
                                                          FIELDS_IGNORE_UNKNOWN);
static const struct field_table action_table = FIELD_TABLE("AccessAction", action_fields,
                                                           FIELDS_IGNORE_UNKNOWN);
static const struct field_table option_table = FIELD_TABLE("AccessOptions", option_fields,
                                                           FIELDS_IGNORE_UNKNOWN);

/* The members of an access request. Those of an evaluation may come from the defaults. */
#define REQUEST_ROWS(alone) \
    {"subject",  FIELD_OBJECT, .required = alone, .shape = &thing_table, .help = "Who asks"}, \
    {"action",   FIELD_OBJECT, .required = alone, .shape = &action_table, \
     .help = "What is to be done"}, \
    {"resource", FIELD_OBJECT, .required = alone, .shape = &thing_table, \
     .help = "The thing that it is done to"}, \
    {"context",  FIELD_OBJECT, .required = false, .help = "Facts of the moment, for rules"}

static const struct field request_fields[] = {REQUEST_ROWS(true)};
static const struct field evaluation_fields[] = {REQUEST_ROWS(false)};
static const struct field_table evaluation_table = FIELD_TABLE("AccessEvaluation",
                                                               evaluation_fields,
                                                               FIELDS_IGNORE_UNKNOWN);
static const struct field batch_fields[] = {
    REQUEST_ROWS(false),
    {"evaluations", FIELD_ARRAY,  .max = ACCESS_EVALUATIONS_MAX, .shape = &evaluation_table,
     .help = "Access requests; what one leaves out is taken from the batch",
     FIELD_INTO(struct batch_members, evaluations)},
    {"options",     FIELD_OBJECT, .shape = &option_table, .help = "How the batch is decided",
     FIELD_INTO(struct batch_members, options)},
};
const struct field_table access_request_table = FIELD_TABLE("AccessRequest", request_fields,
                                                            FIELDS_IGNORE_UNKNOWN);
const struct field_table access_requests_table = FIELD_TABLE("AccessRequests", batch_fields,
                                                             FIELDS_IGNORE_UNKNOWN);
/* clang-format on */

#define ENTITIES (sizeof(request_fields) / sizeof(request_fields[0]))

/* A member that was read. */
struct read_entity {
    const json_t *sent; /* of a default: as it was sent, whether or not it is complete */
    json_t *value;      /* known members alone, or NULL if absent or not well-formed */
    const char *fault;  /* public text, or NULL */
    size_t octets;      /* of a default: its text in the question */
};

/* The first fault of an object. */
struct first_fault {
    TALLOC_CTX *mem;
    const char *name; /* of the object, or NULL for the body */
    const char *text; /* or NULL */
};

static void
take_fault(void *arg, const char *path, const char *why)
{
    struct first_fault *first = arg;
    bool dotted = first->name != NULL && *path != '\0';
    if (first->text == NULL)
        first->text =
            talloc_asprintf(first->mem, "%s%s%s %s", first->name != NULL ? first->name : "",
                            dotted ? "." : "", path, why);
}

/* Read one member. AZ_SERVER_ERROR: no memory; a fault is no failure of this function. */
static enum az_status
entity_read(struct op *op, size_t which, json_t *value, struct read_entity *ret)
{
    struct first_fault first = {op->mem, request_fields[which].name, NULL};
    const struct field_table *table = request_fields[which].shape;
    enum az_status st = AZ_OK;
    *ret = (struct read_entity){.value = NULL};
    if (value == NULL || json_is_null(value))
        return AZ_OK;
    if (table != NULL)
        st = fields_read(op->mem, table, value, take_fault, &first, NULL, &ret->value);
    else if (json_is_object(value))
        ret->value = value;
    else
        take_fault(&first, "", "must be an object");
    ret->fault = first.text;
    return st == AZ_SERVER_ERROR ? op_fail(op, st, NULL, "out of memory") : AZ_OK;
}

/*
 * Return the entity with the members that it needs and lacks taken from the default (AuthZEN 1.0
 * 7.1.1 does not say if defaults are merged). Members that it does not need are never taken, so
 * that a complete entity stays as it is. The result is NULL if out of memory. *copied grows by the
 * octets taken.
 */
static json_t *
complete_entity(struct op *op, size_t which, json_t *entity, const json_t *sent, size_t *copied)
{
    const struct field_table *table = request_fields[which].shape;
    struct jsonx_build whole = {jsonx_own(op->mem, jsonx_copy(entity)), false};
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->row[i].name;
        const json_t *own = json_object_get(entity, name);
        json_t *value = json_object_get(sent, name);
        if (!table->row[i].required || value == NULL || (own != NULL && !json_is_null(own)))
            continue;
        *copied += json_dumpb(value, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
        jsonx_set(&whole, name, json_incref(value));
    }
    return jsonx_built(&whole);
}

/* Read one member of an evaluation with its default, if there are defaults. */
static enum az_status
entity_read_with_default(struct op *op, size_t which, json_t *value,
                         const struct read_entity *defaults, size_t *copied,
                         struct read_entity *ret)
{
    const json_t *sent = defaults != NULL ? defaults[which].sent : NULL;
    if (json_is_object(value) && json_is_object(sent) && request_fields[which].shape != NULL
        && (value = complete_entity(op, which, value, sent, copied)) == NULL)
        return op_no_memory(op);
    enum az_status st = entity_read(op, which, value, ret);
    if (st == AZ_OK && ret->value == NULL && ret->fault == NULL && defaults != NULL) {
        *ret = defaults[which];
        *copied += ret->octets;
    }
    return st;
}

/*
 * Read one access request. An entity that it does not have comes from `defaults`, and of one that
 * is there the members that it needs; NULL: a single request has no defaults. *ret_fault becomes
 * the first fault, otherwise the request is appended to `requests`.
 */
static enum az_status
request_append(struct op *op, const json_t *object, const struct read_entity *defaults,
               struct jsonx_build *requests, size_t *copied, const char **ret_fault)
{
    struct jsonx_build request = {jsonx_own(op->mem, json_object()), false};
    *ret_fault = json_is_object(object) ? NULL : "must be an object";
    for (size_t i = 0; i < ENTITIES && *ret_fault == NULL; i++) {
        struct read_entity read = {.value = NULL};
        json_t *value = json_object_get(object, request_fields[i].name);
        enum az_status st = entity_read_with_default(op, i, value, defaults, copied, &read);
        if (st != AZ_OK)
            return st;
        if (read.value != NULL)
            jsonx_set(&request, request_fields[i].name, json_incref(read.value));
        else if (read.fault == NULL && request_fields[i].required)
            read.fault = field_fault_text(op->mem, "%s is required", request_fields[i].name);
        *ret_fault = read.fault;
    }
    if (*ret_fault == NULL)
        jsonx_append(requests, json_incref(jsonx_built(&request)));
    return request.lost || requests->lost ? op_no_memory(op) : AZ_OK;
}

static enum az_status
single_read(struct op *op, const json_t *body, struct access_request *ret)
{
    struct jsonx_build requests = {ret->requests, false};
    size_t copied = 0;
    enum az_status st = request_append(op, body, NULL, &requests, &copied, &ret->faults[0]);
    if (st != AZ_OK || ret->faults[0] == NULL)
        return st;
    return op_fail(op, AZ_INVALID_REQUEST, ret->faults[0], NULL);
}

/* Read the defaults. What is wrong with one is a fault of each evaluation that takes it. */
static enum az_status
defaults_read(struct op *op, const json_t *body, struct read_entity ret[ENTITIES])
{
    for (size_t i = 0; i < ENTITIES; i++) {
        json_t *value = json_object_get(body, request_fields[i].name);
        enum az_status st = entity_read(op, i, value, &ret[i]);
        if (st != AZ_OK)
            return st;
        ret[i].sent = value;
        if (ret[i].value != NULL)
            ret[i].octets = json_dumpb(ret[i].value, NULL, 0, JSON_COMPACT);
    }
    return AZ_OK;
}

static enum az_status
batch_read(struct op *op, const json_t *body, const json_t *evaluations, struct access_request *ret)
{
    struct read_entity defaults[ENTITIES];
    struct jsonx_build requests = {ret->requests, false};
    size_t copied = 0, index;
    const json_t *evaluation;
    enum az_status st = defaults_read(op, body, defaults);
    json_array_foreach (evaluations, index, evaluation) {
        if (st == AZ_OK)
            st = request_append(op, evaluation, defaults, &requests, &copied, &ret->faults[index]);
        if (st == AZ_OK && copied > ACCESS_DEFAULTS_MAX)
            st = op_fail(op, AZ_TOO_LARGE, "The defaults are too large for so many evaluations",
                         NULL);
    }
    return st;
}

/* Return the semantic of a word of the table, or NULL if none was named. */
static enum access_semantic
read_semantic(const char *word)
{
    int semantic = ACCESS_EXECUTE_ALL;
    while (word != NULL && strcmp(word, access_semantic_words[semantic]) != 0)
        semantic++;
    return (enum access_semantic) semantic;
}

/* Read the members of a batch: an entity that is no object is a fault of the body. */
static enum az_status
members_read(struct op *op, const json_t *body, struct batch_members *members,
             struct access_request *ret)
{
    struct first_fault first = {op->mem, NULL, NULL};
    fields_read(op->mem, &access_requests_table, body, take_fault, &first, members, NULL);
    first.name = "options";
    if (members->options != NULL)
        fields_read(op->mem, &option_table, members->options, take_fault, &first, members, NULL);
    if (first.text != NULL)
        return op_fail(op, AZ_INVALID_REQUEST, first.text, NULL);
    ret->semantic = read_semantic(members->semantic);
    return AZ_OK;
}

enum az_status
access_request_read(struct op *op, const json_t *body, bool several, struct access_request *ret)
{
    struct batch_members members = {.evaluations = NULL};
    *ret = (struct access_request){.semantic = ACCESS_EXECUTE_ALL, .count = 1};
    if (!json_is_object(body))
        return op_fail(op, AZ_INVALID_REQUEST, "The body must be a JSON object", NULL);
    enum az_status st = several ? members_read(op, body, &members, ret) : AZ_OK;
    if (st != AZ_OK)
        return st;
    ret->batch = json_array_size(members.evaluations) > 0;
    if (ret->batch)
        ret->count = json_array_size(members.evaluations);
    ret->faults = talloc_zero_array(op->mem, const char *, (unsigned) ret->count);
    ret->requests = jsonx_own(op->mem, json_array());
    if (ret->faults == NULL || ret->requests == NULL)
        return op_no_memory(op);
    return ret->batch ? batch_read(op, body, members.evaluations, ret) : single_read(op, body, ret);
}
