#include "config.h"

#include "uma/delegations.h"

#include <string.h>

#include "base/digits.h"
#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "store/uma/delegations.h"
#include "uma/owner.h"

/* The body of a new delegation. */
struct delegation_wanted {
    const char *grantee_type; /* subject or client */
    const char *grantee_subject;
    const json_t *grantee_client; /* number or decimal text */
    const char *resource;
    json_t *scopes;
    const char *expires_at;
};

static const char *const grantee_types[] = {"subject", "client", NULL};

/* clang-format off */
static const struct field delegation_fields[] = {
    {"grantee_type",       FIELD_TEXT,      .required = true, .words = grantee_types,
     FIELD_INTO(struct delegation_wanted, grantee_type),
     .help = "A person, with grantee_subject_id, or a client, with grantee_client_id",
     .example = "\"subject\""},
    {"grantee_subject_id", FIELD_TEXT,      .max = FIELD_SUBJECT_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct delegation_wanted, grantee_subject), .help = "sub of the person who may act",
     .example = "\"bob\""},
    {"grantee_client_id",  FIELD_ANY,       FIELD_INTO(struct delegation_wanted, grantee_client),
     .help = "id of a client: a number, or its decimal text"},
    {"resource_id",        FIELD_TEXT,      .required = true, .max = FIELD_NAME_MAX,
     FIELD_INTO(struct delegation_wanted, resource), .help = "_id of a resource of the owner",
     .example = "\"r-example\""},
    {"scopes",             FIELD_TEXT_LIST, .max = UMA_SCOPES_MAX, .item_max = UMA_SCOPE_CHARS_MAX,
     .rule = uma_scope_rule, FIELD_INTO(struct delegation_wanted, scopes),
     .help = "What the grantee may do; scopes of the resource", .example = "[\"view\"]"},
    {"expires_at",         FIELD_TEXT,      .max = FIELD_WORD_MAX,
     FIELD_INTO(struct delegation_wanted, expires_at),
     .help = "ISO 8601, in the future; absent: the delegation ends when it is revoked"},
};
static const struct field delegation_change_fields[] = {
    {"expires_at",         FIELD_TEXT,      .max = FIELD_WORD_MAX,
     FIELD_INTO(struct delegation_wanted, expires_at),
     .help = "ISO 8601, in the future; absent: unchanged", .example = "\"2099-01-31T12:00:00Z\""},
};
/* clang-format on */
const struct field_table delegation_table =
    FIELD_TABLE("NewDelegation", delegation_fields, FIELDS_IGNORE_UNKNOWN);
const struct field_table delegation_change_table =
    FIELD_TABLE("DelegationChange", delegation_change_fields, FIELDS_IGNORE_UNKNOWN);

static enum az_status
delegation_refuse(struct request *req, const char *text)
{
    return op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

/* Read the end: 0 for NULL. A time that has passed is refused, because it would be a revocation
 * that is not recorded as one. */
static enum az_status
read_end(struct request *req, const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    if (text == NULL)
        return AZ_OK;
    if (iso8601_parse(text, strlen(text), ret_ms) != AZ_OK)
        return delegation_refuse(req, "expires_at must be a time like 2030-01-31T12:00:00Z");
    return *ret_ms > req->op.now_ms ? AZ_OK
                                    : delegation_refuse(req, "expires_at must be in the future");
}

/* Read the id of a client: a number, or its decimal text. */
static bool
read_client_key(const json_t *value, int64_t *ret)
{
    if (json_is_string(value))
        return digits_read(json_string_value(value), INT64_MAX, ret) && *ret > 0;
    *ret = json_integer_value(value); /* 0 for what is no integer */
    return *ret > 0;
}

/* Read the one grantee that the type names. With both, the caller's intention is not certain. */
static enum az_status
read_grantee(struct request *req, const struct delegation_wanted *wanted, struct delegation *ret)
{
    bool to_client = strcmp(wanted->grantee_type, "client") == 0;
    bool has_client = wanted->grantee_client != NULL && !json_is_null(wanted->grantee_client);
    if (to_client != has_client || to_client == (wanted->grantee_subject != NULL))
        return delegation_refuse(req, to_client ? "A delegation to a client has grantee_client_id, "
                                                  "and no grantee_subject_id"
                                                : "A delegation to a subject has "
                                                  "grantee_subject_id, and no grantee_client_id");
    ret->grantee_subject = wanted->grantee_subject;
    if (to_client && !read_client_key(wanted->grantee_client, &ret->grantee_client))
        return delegation_refuse(req, "grantee_client_id must be the id of a client");
    return AZ_OK;
}

/* Read the scopes: absent ones count as an empty list, and repeated ones once. Together they are no
 * longer than the scope of a token, because policy sees them with every token of the grantee. */
static enum az_status
read_delegated(struct request *req, const json_t *wanted, struct delegation *ret)
{
    ret->scopes = wanted != NULL ? words_array_once(req->op.mem, wanted)
                                 : jsonx_own(req->op.mem, json_array());
    const char *text = ret->scopes != NULL ? words_join(req->op.mem, ret->scopes) : NULL;
    if (text == NULL)
        return op_no_memory(&req->op);
    return strlen(text) <= SCOPE_TEXT_MAX
               ? AZ_OK
               : delegation_refuse(req, "scopes must have at most 1024 characters together");
}
_Static_assert(SCOPE_TEXT_MAX == 1024, "the text of read_delegated() says the number");

static enum az_status
read_delegation(struct request *req, unsigned char resource[UUID7_OCTETS], struct delegation *ret)
{
    struct delegation_wanted wanted = {.grantee_type = NULL};
    struct delegation delegation = {.resource = resource};
    enum az_status st = uma_read(req, &delegation_table, req->json, &wanted);
    if (st == AZ_OK)
        st = read_grantee(req, &wanted, &delegation);
    if (st == AZ_OK)
        st = read_delegated(req, wanted.scopes, &delegation);
    if (st == AZ_OK)
        st = read_end(req, wanted.expires_at, &delegation.expires_ms);
    if (st != AZ_OK)
        return st;
    *ret = delegation;
    return uuid7_parse(wanted.resource, resource) == AZ_OK ? AZ_OK : uma_no_such(req);
}

/* Prepare the audit row: all that is delegated. */
static enum az_status
note_delegation(struct request *req, const char *id, const struct delegation *delegation)
{
    char resource[UUID7_TEXT_LENGTH + 1], end[ISO8601_MS_SIZE] = "";
    uuid7_format(delegation->resource, resource);
    if (delegation->expires_ms != 0)
        iso8601_format_ms(delegation->expires_ms, end);
    json_t *client =
        delegation->grantee_client != 0 ? json_integer(delegation->grantee_client) : NULL;
    return uma_note_write(
        req, 201,
        json_pack("{s:s,s:s,s:O,s:s*,s:o*,s:s*}", "delegation_id", id, "resource_id", resource,
                  "scopes", delegation->scopes, "grantee_subject_id", delegation->grantee_subject,
                  "grantee_client_id", client, "expires_at", *end != '\0' ? end : NULL));
}

/* Return the failure of a delegation that was not stored. */
static enum az_status
refuse_made(struct request *req, enum delegation_made made)
{
    switch (made) {
    case DELEGATION_NO_THING:
        return uma_no_such(req);
    case DELEGATION_BEYOND:
        return op_fail(&req->op, AZ_INVALID_SCOPE, "A scope is not registered for the resource",
                       NULL);
    case DELEGATION_NO_GRANTEE:
        return delegation_refuse(req, "grantee_client_id must be the id of a client");
    case DELEGATION_FULL:
        return op_fail(&req->op, AZ_CONFLICT, "The maximum number of delegations is reached",
                       "the owner has %d active delegations", DELEGATIONS_MAX);
    case DELEGATION_NO_OWNER:
    case DELEGATION_MADE:
        break;
    }
    return uma_owner_gone(req);
}

enum az_status
delegation_create_handle(struct request *req)
{
    const struct uma_owner owner = uma_request_owner(req);
    unsigned char id[UUID7_OCTETS], resource[UUID7_OCTETS];
    char text[UUID7_TEXT_LENGTH + 1];
    struct delegation delegation;
    enum delegation_made made = DELEGATION_NO_OWNER;
    enum az_status st = read_delegation(req, resource, &delegation);
    if (st == AZ_OK)
        st = uma_new_id(&req->op, id, text);
    if (st == AZ_OK)
        st = note_delegation(req, text, &delegation);
    if (st == AZ_OK)
        st = delegation_insert(&req->op, id, &owner, &delegation, &req->audit, &made);
    if (st != AZ_OK)
        return st;
    if (made != DELEGATION_MADE)
        return refuse_made(req, made);
    req->audited = true;
    return respond_json(req, 201,
                        jsonx_own(req->op.mem, json_pack("{s:s}", "delegation_id", text)));
}

enum az_status
delegation_list_handle(struct request *req)
{
    return uma_respond_list(req, delegation_list);
}

enum az_status
delegation_show_handle(struct request *req)
{
    return uma_respond_object(req, delegation_get);
}

enum az_status
delegation_change_handle(struct request *req)
{
    const struct uma_owner owner = uma_request_owner(req);
    struct delegation_wanted wanted = {.expires_at = NULL};
    unsigned char id[UUID7_OCTETS];
    int64_t expires_ms = 0;
    const char *delegation = NULL;
    enum az_status st = uma_path_id(req, id);
    if (st == AZ_OK)
        st = uma_read(req, &delegation_change_table, req->json, &wanted);
    if (st == AZ_OK)
        st = read_end(req, wanted.expires_at, &expires_ms);
    if (st == AZ_OK)
        st = uma_note_write(req, 200,
                            json_pack("{s:s,s:s*}", "delegation_id", req->path_value[0],
                                      "expires_at", wanted.expires_at));
    if (st == AZ_OK)
        st = delegation_set_end(&req->op, id, &owner, expires_ms, &req->audit, &delegation);
    if (st != AZ_OK)
        return st;
    if (delegation == NULL)
        return uma_no_such(req);
    req->audited = true;
    return respond_json_text(req, 200, delegation);
}

enum az_status
delegation_revoke_handle(struct request *req)
{
    return uma_respond_ended(req, delegation_revoke, "delegation_id");
}
