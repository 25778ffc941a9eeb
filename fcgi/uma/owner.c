#include "config.h"

#include "uma/owner.h"

#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "oauth/own_token.h"

static enum az_status
check_pat(struct request *req)
{
    static const char *const scopes[] = {"uma_protection", "introspection", NULL};
    return own_token_require(req, scopes);
}

static enum az_status
check_delegation(struct request *req)
{
    static const char *const scopes[] = {"delegation_management", NULL};
    return own_token_require(req, scopes);
}

const struct route_credential credential_pat = {
    .check = check_pat,
    .before_body = true,
    .schemes = (const char *const[]){"token", NULL},
};
const struct route_credential credential_delegation = {
    .check = check_delegation,
    .before_body = true,
    .schemes = (const char *const[]){"token", NULL},
};

struct uma_owner
uma_request_owner(const struct request *req)
{
    const struct token_row *row = &req->token->lookup.row;
    return (struct uma_owner){
        .client = row->client.id, .subject = row->subject, .provider = row->provider};
}

enum az_status
uma_no_such(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "the owner has nothing with this id");
}

enum az_status
uma_path_id(struct request *req, unsigned char ret[UUID7_OCTETS])
{
    return uuid7_parse(req->path_value[0], ret) == AZ_OK ? AZ_OK : uma_no_such(req);
}

enum az_status
uma_new_id(struct op *op, unsigned char ret[UUID7_OCTETS], char text[UUID7_TEXT_LENGTH + 1])
{
    unsigned char random[UUID7_RANDOM_OCTETS];
    if (random_octets(random, sizeof(random)) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    uuid7_make((uint64_t) op->now_ms, random, ret);
    uuid7_format(ret, text);
    return AZ_OK;
}

/* Record the fault of a member; the first one stays. */
static void
uma_fault(void *arg, const char *path, const char *why)
{
    struct request *req = arg;
    const char *text = talloc_asprintf(req->op.mem, "%s%s%s", path, *path != '\0' ? " " : "", why);
    op_fail(&req->op, AZ_INVALID_REQUEST, text, NULL);
}

enum az_status
uma_read(struct request *req, const struct field_table *table, const json_t *object, void *target)
{
    enum az_status st = fields_read(req->op.mem, table, object, uma_fault, req, target, NULL);
    if (st == AZ_OK)
        return AZ_OK;
    return st == AZ_INVALID ? op_failed(req->op.fault.status)
                            : op_fail(&req->op, st, NULL, "out of memory for a body");
}

const char *
uma_scope_rule(TALLOC_CTX *mem, const json_t *value)
{
    (void) mem;
    for (const char *c = json_string_value(value); *c != '\0'; c++)
        if ((unsigned char) *c <= 0x20 || (unsigned char) *c > 0x7e || *c == '"' || *c == '\\')
            return "must be a scope: printable ASCII without space, quote and backslash";
    return NULL;
}

enum az_status
uma_note_write(struct request *req, int status, json_t *summary)
{
    json_t *owned = jsonx_own(req->op.mem, summary);
    request_fill_audit(req, status, "allowed");
    req->audit.summary = owned != NULL ? jsonx_dump(req->op.mem, owned) : NULL;
    return req->audit.summary != NULL ? AZ_OK : op_no_memory(&req->op);
}

enum az_status
uma_owner_gone(struct request *req)
{
    return own_token_refuse(req, "the client or the identity provider of the token was deleted");
}

/* Answer a read with JSON text, and with its audit row; not found for NULL. */
static enum az_status
respond_read(struct request *req, const char *json)
{
    if (json == NULL)
        return uma_no_such(req);
    enum az_status st = own_token_note_read(req);
    return st == AZ_OK ? respond_json_text(req, 200, json) : st;
}

enum az_status
uma_respond_list(struct request *req, uma_list_fn *list)
{
    const struct uma_owner owner = uma_request_owner(req);
    const char *objects = NULL;
    enum az_status st = list(&req->op, &owner, &objects);
    return st == AZ_OK ? respond_read(req, objects) : st;
}

enum az_status
uma_respond_object(struct request *req, uma_get_fn *get)
{
    const struct uma_owner owner = uma_request_owner(req);
    unsigned char id[UUID7_OCTETS];
    const char *object = NULL;
    enum az_status st = uma_path_id(req, id);
    if (st == AZ_OK)
        st = get(&req->op, id, &owner, &object);
    return st == AZ_OK ? respond_read(req, object) : st;
}

enum az_status
uma_respond_ended(struct request *req, uma_end_fn *end, const char *member)
{
    const struct uma_owner owner = uma_request_owner(req);
    unsigned char id[UUID7_OCTETS];
    bool found = false;
    enum az_status st = uma_path_id(req, id);
    if (st == AZ_OK)
        st = uma_note_write(req, 204, json_pack("{s:s}", member, req->path_value[0]));
    if (st == AZ_OK)
        st = end(&req->op, id, &owner, &req->audit, &found);
    if (st != AZ_OK)
        return st;
    if (!found)
        return uma_no_such(req);
    req->audited = true;
    return respond_empty(req, 204);
}
