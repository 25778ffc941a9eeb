#include "config.h"

#include "oauth/registration/register.h"

#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "base/uuid7.h"
#include "base/words.h"
#include "crypto/keyring.h"
#include "crypto/random.h"
#include "http/address.h"
#include "http/form.h"
#include "oauth/grants.h"
#include "oauth/parameters/parameters.h"
#include "oauth/registration/register_metadata.h"
#include "oauth/registration/statement.h"
#include "policy/decide/default_scopes.h"
#include "policy/decide/registration.h"
#include "store/clients/client_secrets.h"
#include "store/clients/clients_dynamic.h"
#include "token/issue.h"

/* State of one registration. */
struct registering {
    struct request *req;
    json_t *body;                    /* as sent */
    const char *statement_text;      /* software_statement, or NULL */
    struct statement statement;      /* its content; claims is NULL without one */
    struct register_metadata wanted; /* requested metadata */
    struct registration question;    /* the same, for policy */
    struct registration_verdict verdict;
    json_t *registered; /* members as returned; all but a default scope are registered */
    char client_id[UUID7_TEXT_LENGTH + 1];
    const char *secret; /* NULL for a public client */
};

/* ---- what is asked for */

/* Read the body. AZ_MEDIA_TYPE: another content type (oauth.md C2); AZ_INVALID_CLIENT_METADATA: not
 * a JSON object. */
static enum az_status
register_read_body(struct request *req, json_t **ret)
{
    const char *why = NULL;
    json_t *body = NULL;
    if (!request_media_type_is_json(req->io->variable(req->io, "CONTENT_TYPE")))
        return op_fail(&req->op, AZ_MEDIA_TYPE, NULL, NULL);
    enum az_status st =
        jsonx_parse(req->op.mem, req->body, req->body_length, HTTP_JSON_DEPTH_MAX, &body, &why);
    if (st == AZ_SERVER_ERROR)
        return op_fail(&req->op, st, NULL, "out of memory");
    if (st != AZ_OK || !json_is_object(body))
        return op_fail(&req->op, AZ_INVALID_CLIENT_METADATA, "The body must be a JSON object", "%s",
                       why != NULL ? why : "not a JSON object");
    *ret = body;
    return AZ_OK;
}

static enum az_status
read_statement(struct registering *reg)
{
    struct op *op = &reg->req->op;
    const json_t *value = json_object_get(reg->body, "software_statement");
    if (value == NULL || json_is_null(value)
        || (json_is_string(value) && json_string_length(value) == 0))
        return AZ_OK;
    if (!json_is_string(value))
        return op_fail(op, AZ_INVALID_SOFTWARE_STATEMENT, "The software statement must be a string",
                       NULL);
    reg->statement_text = json_string_value(value);
    return statement_read(op, reg->statement_text, &reg->statement);
}

/* Refuse an address of a private scheme without a dot that the row does not list, and name it:
 * policy, which judges all addresses, says only that there is one. */
static enum az_status
check_schemes(struct registering *reg)
{
    static const char *const names[] = {"redirect_uris", "post_logout_redirect_uris"};
    struct op *op = &reg->req->op;
    json_t *allowed;
    enum az_status st = dotless_schemes_fetch(op, reg->wanted.addresses, &allowed);
    for (size_t i = 0; st == AZ_OK && i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *uris = json_object_get(reg->wanted.members, names[i]);
        size_t refused = dotless_refused(allowed, uris);
        if (refused != SIZE_MAX)
            st = op_fail(op, AZ_INVALID_REDIRECT_URI,
                         talloc_asprintf(op->mem, "%s[%zu] " URI_SCHEME_FAULT, names[i], refused),
                         NULL);
    }
    return st;
}

static enum az_status
read_metadata(struct registering *reg)
{
    struct op *op = &reg->req->op;
    /* A setting may turn things off (decisions.md "What works is advertised"). */
    const struct register_rules rules = {
        .max_redirect_uris = op->az->cfg->max_redirect_uris,
        .id_token_algs = op->az->cfg->id_token_algs,
        .dpop = op->az->dpop_algs != NULL,
    };
    enum az_status st =
        register_metadata_read(op, reg->body, reg->statement.claims, &rules, &reg->wanted);
    return st == AZ_OK ? check_schemes(reg) : st;
}

/* Record in the audit row the mode and the issuer of the statement. */
static void
note_request(struct registering *reg)
{
    struct request *req = reg->req;
    bool stated = reg->statement.claims != NULL;
    req->audit.summary = jsonx_dump(
        req->op.mem,
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:s*,s:s*}", "mode", stated ? "statement" : "plain", "issuer",
                            reg->statement.issuer, "client_name", reg->wanted.client_name)));
}

static void
make_question(struct registering *reg)
{
    struct request *req = reg->req;
    const struct register_metadata *wanted = &reg->wanted;
    reg->question = (struct registration){
        .frame = {.endpoint = req->route->path, .ip = req->ip, .user_agent = req->user_agent},
        .redirect_uris = wanted->addresses,
        .grant_types = wanted->grant_types,
        .response_types = wanted->response_types,
        .scopes = wanted->scopes,
        .auth_method = wanted->auth_method,
        .client_name = wanted->client_name,
        .issuer = reg->statement.issuer,
        .verified = reg->statement.verified,
        .claims = reg->statement.claims,
    };
    /* Any client may claim any name, so policy sees one only from a verified statement
     * (decisions.md "software_id"). */
    if (reg->statement.verified)
        reg->question.software_id =
            json_string_value(json_object_get(wanted->members, "software_id"));
}

/* ---- what is registered */

/* Set the scope of the answer to the scopes that policy granted, in the grammar that /token reads.
 * If none was asked for, they are those that a request without scope gets now (RFC 7591 2). */
static enum az_status
set_scope(struct registering *reg)
{
    struct op *op = &reg->req->op;
    json_t *words;
    const char *scope = words_join(op->mem, reg->verdict.verdict.decision.scopes);
    if (scope == NULL)
        return op_no_memory(op);
    if (*scope == '\0') {
        json_object_del(reg->registered, "scope");
        return AZ_OK;
    }
    if (scope_parse(op, scope, &words) != AZ_OK) {
        az_fault_clear(&op->fault);
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "policy answer refused: scopes are not valid (RFC 6749 section 3.3)");
    }
    return json_object_set_new(reg->registered, "scope", json_string(scope)) == 0
               ? AZ_OK
               : op_no_memory(op);
}

/* Limit the requested metadata to what policy granted. */
static enum az_status
narrow(struct registering *reg)
{
    struct op *op = &reg->req->op;
    json_t *grants = reg->verdict.grant_types;
    struct jsonx_build registered = {jsonx_own(op->mem, jsonx_copy(reg->wanted.members)), false};
    jsonx_set(&registered, "grant_types", json_incref(grants));
    if (!words_array_has(grants, "authorization_code"))
        jsonx_set(&registered, "response_types", json_array());
    reg->registered = jsonx_built(&registered);
    if (reg->registered == NULL)
        return op_no_memory(op);
    return set_scope(reg);
}

/* Return the values by column. */
static const char *
make_columns(struct registering *reg)
{
    struct op *op = &reg->req->op;
    json_t *types = reg->verdict.verdict.decision.resource_types;
    struct jsonx_build columns = {jsonx_own(op->mem, jsonx_copy(reg->registered)), false};
    const json_t *dpop = json_object_get(reg->registered, "dpop_bound_access_tokens");
    /* Only a scope that the client registers limits it (decisions.md "Omitted scope"). */
    if (reg->wanted.scopes == NULL)
        json_object_del(columns.value, "scope");
    jsonx_set(&columns, "auth_method", json_string(reg->wanted.auth_method));
    jsonx_set(&columns, "dpop_bound", json_boolean(json_is_true(dpop)));
    if (types != NULL)
        jsonx_set(&columns, "resource_types", json_incref(types));
    if (reg->statement.claims == NULL)
        return jsonx_dump(op->mem, jsonx_built(&columns));
    struct jsonx_build claims = {jsonx_own(op->mem, jsonx_copy(reg->statement.claims)), false};
    /* Unverified claims still limit the client, but they prove nothing. */
    if (!reg->statement.verified) {
        jsonx_set(&claims, STATEMENT_UNVERIFIED, json_true());
        json_object_del(columns.value, "software_id");
        json_object_del(columns.value, "software_version");
    }
    jsonx_set(&columns, "software_statement", json_incref(jsonx_built(&claims)));
    return jsonx_dump(op->mem, jsonx_built(&columns));
}

/* Make a UUID as client_id. It is not an address, so it is never confused with a client that has
 * a metadata document. */
static enum az_status
make_client_id(struct registering *reg)
{
    struct op *op = &reg->req->op;
    unsigned char random[UUID7_RANDOM_OCTETS], id[UUID7_OCTETS];
    if (random_octets(random, sizeof(random)) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    uuid7_make((uint64_t) op->now_ms, random, id);
    uuid7_format(id, reg->client_id);
    reg->req->audit.client_id = reg->client_id;
    return AZ_OK;
}

/* Hash the address of the sender, by which its clients are counted. Senders whose address is not
 * known count as one. */
static enum az_status
hash_address(struct request *req, unsigned char ret[SHA256_OCTETS])
{
    unsigned char octets[ADDRESS_OCTETS_MAX] = {0};
    size_t length = address_counted(req->ip, octets);
    return keyring_mac(req->op.az->keyring, KEYRING_ADDRESS, octets, length, ret) == AZ_OK
               ? AZ_OK
               : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "an address cannot be hashed");
}

static enum az_status
store(struct registering *reg, bool *ret_stored)
{
    struct op *op = &reg->req->op;
    struct client_new client = {
        .client_id = reg->client_id,
        .registration = reg->statement.claims != NULL ? "STATEMENT" : "DCR",
        .type = reg->wanted.confidential ? "confidential" : "public",
        .revision = reg->verdict.verdict.decision.revision,
    };
    enum az_status st = narrow(reg);
    if (st == AZ_OK)
        st = make_client_id(reg);
    if (st == AZ_OK && reg->wanted.confidential && !reg->wanted.keyed)
        st = client_secret_make(op, &reg->secret);
    if (st == AZ_OK && reg->secret != NULL)
        st = client_secret_seal(op, client.client_id, reg->secret, &client.sealed,
                                &client.sealed_length);
    if (st != AZ_OK)
        return st;
    if ((client.columns = make_columns(reg)) == NULL)
        return op_no_memory(op);
    if ((st = hash_address(reg->req, client.registered_from)) != AZ_OK)
        return st;
    return client_register(op, &client, &reg->req->audit, ret_stored);
}

/* ---- the answer */

/* Answer with the members of specification 2.2; absent ones are left out, never null. */
static enum az_status
respond(struct registering *reg)
{
    struct request *req = reg->req;
    struct jsonx_build answer = {
        jsonx_own(req->op.mem,
                  json_pack("{s:s,s:I,s:s*}", "client_id", reg->client_id, "client_id_issued_at",
                            (json_int_t) op_now(&req->op), "client_secret", reg->secret)),
        false};
    /* Required beside a secret; 0: it does not expire (RFC 7591 3.2.1). */
    if (reg->secret != NULL)
        jsonx_set(&answer, "client_secret_expires_at", json_integer(0));
    if (reg->statement_text != NULL)
        jsonx_set(&answer, "software_statement", json_string(reg->statement_text));
    if (json_object_update_missing(answer.value, reg->registered) != 0)
        answer.lost = true;
    return respond_json(req, 201, jsonx_built(&answer));
}

/* Note the decision. A denial is noted with the grant types and scopes that were asked for. */
static void
note_decision(struct registering *reg, bool denied)
{
    struct op *op = &reg->req->op;
    struct audit_entry *audit = &reg->req->audit;
    token_note_verdict(op, audit, &reg->verdict.verdict);
    audit->grant_type =
        words_join(op->mem, denied ? reg->question.grant_types : reg->verdict.grant_types);
    if (denied)
        audit->scope = words_join(op->mem, reg->question.scopes);
    audit_explain(op, audit);
}

/* Ask policy and store the result. *ret_stored false: the revision that answered may not decide;
 * *ret_no is its answer. */
static enum az_status
decide(struct registering *reg, enum az_status *ret_no, const char **ret_text, bool *ret_stored)
{
    struct request *req = reg->req;
    enum az_status st = registration_ask(&req->op, &reg->question, &reg->verdict);
    enum az_status no =
        st == AZ_OK ? registration_refusal(&reg->question, &reg->verdict, ret_text) : st;
    note_decision(reg, no != AZ_OK);
    if (st != AZ_OK)
        return st;
    request_fill_audit(req, no == AZ_OK ? 201 : az_status_row(no)->http,
                       no == AZ_OK ? "allowed" : "denied");
    *ret_no = no;
    return no == AZ_OK ? store(reg, ret_stored)
                       : client_register_denial(&req->op, reg->verdict.verdict.decision.revision,
                                                &req->audit, ret_stored);
}

static enum az_status
decide_and_answer(struct registering *reg)
{
    struct request *req = reg->req;
    int64_t started = clock_monotonic_ms();
    for (;;) {
        enum az_status no = AZ_OK;
        const char *text = NULL;
        bool stored = false;
        enum az_status st = decide(reg, &no, &text, &stored);
        if (st != AZ_OK) {
            req->audit.client_id = NULL; /* no client has that name */
            return st;
        }
        const char *revision = reg->verdict.verdict.decision.revision;
        if (stored) {
            req->audited = true;
            return no == AZ_OK
                       ? respond(reg)
                       : op_fail(&req->op, no, text, "policy denied, revision %s", revision);
        }
        req->audit.client_id = NULL;
        if (!ask_again(&req->op, started, &reg->verdict.verdict)) {
            ask_note_error(&req->op, &reg->verdict.verdict);
            note_decision(reg, no != AZ_OK);
            return AZ_UNAVAILABLE;
        }
    }
}

enum az_status
register_handle(struct request *req)
{
    /* The audit row and the log line name the client after this function has returned. */
    struct registering *reg = talloc_zero(req->op.mem, struct registering);
    if (reg == NULL)
        return op_no_memory(&req->op);
    reg->req = req;
    enum az_status st = register_read_body(req, &reg->body);
    if (st == AZ_OK)
        st = read_statement(reg);
    if (st == AZ_OK)
        st = read_metadata(reg);
    if (st != AZ_OK)
        return st;
    note_request(reg);
    make_question(reg);
    return decide_and_answer(reg);
}
