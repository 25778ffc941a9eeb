#include "config.h"

#include "uma/permission.h"

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "crypto/token.h"
#include "http/api/api_schema.h"
#include "http/form.h"
#include "store/uma/tickets.h"
#include "uma/owner.h"

/* One permission of the request. */
struct permission {
    const char *resource;
    json_t *scopes;
};

/* clang-format off */
static const struct field permission_fields[] = {
    {"resource_id",     FIELD_TEXT,      .required = true, .max = FIELD_NAME_MAX,
     FIELD_INTO(struct permission, resource), .help = "_id of a registered resource",
     .example = "\"r-example\""},
    {"resource_scopes", FIELD_TEXT_LIST, .required = true, .max = UMA_SCOPES_MAX,
     .item_max = UMA_SCOPE_CHARS_MAX, .rule = uma_scope_rule, FIELD_INTO(struct permission, scopes),
     .help = "What is to be done with it; scopes of the resource", .example = "[\"view\"]"},
};
/* clang-format on */
const struct field_table uma_permission_table =
    FIELD_TABLE(NULL, permission_fields, FIELDS_IGNORE_UNKNOWN);

json_t *
permission_body_schema(void)
{
    struct jsonx_build unnamed = {json_object(), false};
    json_t *one = schema_of_table(&unnamed, &uma_permission_table);
    json_decref(unnamed.value);
    json_t *schema = json_pack("{s:[O,{s:s,s:O,s:i,s:i}]}", "anyOf", one, "type", "array", "items",
                               one, "minItems", 1, "maxItems", PERMISSIONS_MAX);
    json_decref(one);
    return schema;
}

/* Read the body, which the reader of JSON bodies does not accept if it is an array. */
static enum az_status
permission_body(struct request *req, json_t **ret)
{
    const char *why = NULL;
    json_t *body = NULL;
    if (!request_media_type_is_json(req->io->variable(req->io, "CONTENT_TYPE")))
        return op_fail(&req->op, AZ_MEDIA_TYPE, NULL, NULL);
    if (jsonx_parse(req->op.mem, req->body, req->body_length, HTTP_JSON_DEPTH_MAX, &body, &why)
        != AZ_OK)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       talloc_asprintf(req->op.mem, "The body is not valid JSON: %s",
                                       why != NULL ? why : "out of memory"),
                       NULL);
    *ret = json_is_array(body) ? body : jsonx_own(req->op.mem, json_pack("[O]", body));
    size_t count = json_array_size(*ret);
    if (count == 0 || count > PERMISSIONS_MAX)
        return op_fail(&req->op, AZ_INVALID_REQUEST, "The body must have from 1 to 20 permissions",
                       NULL);
    return AZ_OK;
}
_Static_assert(PERMISSIONS_MAX == 20, "the text of permission_body() says the number");

/* Read the permissions as they are stored. A resource_id that is not an id of ours is unknown. */
static enum az_status
read_permissions(struct request *req, json_t **ret)
{
    struct jsonx_build list = {jsonx_own(req->op.mem, json_array()), false};
    json_t *body, *item;
    size_t index;
    enum az_status st = permission_body(req, &body);
    if (st != AZ_OK)
        return st;
    json_array_foreach (body, index, item) {
        struct permission permission = {.resource = NULL};
        unsigned char id[UUID7_OCTETS];
        if (!json_is_object(item))
            return op_fail(&req->op, AZ_INVALID_REQUEST, "A permission must be a JSON object",
                           NULL);
        if ((st = uma_read(req, &uma_permission_table, item, &permission)) != AZ_OK)
            return st;
        if (uuid7_parse(permission.resource, id) != AZ_OK)
            return op_fail(&req->op, AZ_INVALID_RESOURCE_ID, NULL, "not an id of ours");
        jsonx_append(&list,
                     json_pack("{s:s,s:O}", "resource_id", permission.resource, "resource_scopes",
                               words_array_once(req->op.mem, permission.scopes)));
    }
    *ret = jsonx_built(&list);
    return *ret != NULL ? AZ_OK : op_no_memory(&req->op);
}

/* Return the failure of a request that got no ticket. */
static enum az_status
refuse_ticket(struct request *req, enum uma_asked asked)
{
    if (asked == UMA_UNKNOWN)
        return op_fail(&req->op, AZ_INVALID_RESOURCE_ID, NULL, "the owner has no such resource");
    if (asked == UMA_BEYOND)
        return op_fail(&req->op, AZ_INVALID_SCOPE, "A scope is not registered for its resource",
                       NULL);
    return uma_owner_gone(req);
}

/* Store the ticket, and answer with its text. */
static enum az_status
give_ticket(struct request *req, const struct uma_ticket *ticket, const struct token_text *text)
{
    const struct uma_owner owner = uma_request_owner(req);
    enum uma_asked asked = UMA_UNKNOWN;
    enum az_status st =
        uma_note_write(req, 201, json_pack("{s:O}", "permissions", ticket->permissions));
    if (st == AZ_OK)
        st = uma_ticket_insert(&req->op, ticket, &owner, &req->audit, &asked);
    if (st != AZ_OK)
        return st;
    if (asked != UMA_GIVEN)
        return refuse_ticket(req, asked);
    req->audited = true;
    return respond_json(req, 201, jsonx_own(req->op.mem, json_pack("{s:s}", "ticket", text->text)));
}

enum az_status
permission_handle(struct request *req)
{
    struct token_text text;
    struct token_parts parts;
    struct uma_ticket ticket = {.parts = &parts,
                                .expires_at = op_now(&req->op) + req->op.az->cfg->ticket_validity};
    enum az_status st = read_permissions(req, &ticket.permissions);
    if (st != AZ_OK)
        return st;
    st = token_make(TOKEN_TICKET, ticket.expires_at, req->op.now_ms, &text, &parts);
    if (st != AZ_OK)
        return op_fail(&req->op, st, NULL, "a ticket could not be made");
    st = give_ticket(req, &ticket, &text);
    token_text_done(&text);
    return st;
}
