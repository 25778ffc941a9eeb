#include "config.h"

#include "admin/people/tokens.h"

#include <string.h>

#include "admin/resource/page_place.h"
#include "admin/resource/resource.h"
#include "base/iso8601.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "crypto/token.h"
#include "store/tokens/grants_find.h"
#include "store/tokens/revocation.h"
#include "store/tokens/tokens.h"
#include "store/tokens/tokens_find.h"
#include "store/tokens/tokens_list.h"
#include "token/access_jwt.h"

/* Most attempts to revoke a token whose client changes meanwhile. */
#define REVOKE_TRIES 3
/* Longest text that is read as a token, in code points. */
#define TOKEN_GIVEN_MAX ACCESS_JWT_OCTETS_MAX

struct token_question {
    const char *token, *subject, *client_id;
};
/* clang-format off */
static const struct field token_question_fields[] = {
    {"token", FIELD_TEXT, .required = true, .max = TOKEN_GIVEN_MAX,
     FIELD_INTO(struct token_question, token), .help = "An access or refresh token of this service",
     .example = "\"at_example\""},
};
static const struct field token_revocation_fields[] = {
    {"token",     FIELD_TEXT, .max = TOKEN_GIVEN_MAX, FIELD_INTO(struct token_question, token),
     .help = "An access or refresh token of this service", .example = "\"at_example\""},
    {"subjectId", FIELD_TEXT, .max = FIELD_SUBJECT_MAX, FIELD_INTO(struct token_question, subject),
     .help = "Instead of a token: a person, whose tokens and codes are all revoked"},
    {"clientId",  FIELD_TEXT, .max = FIELD_NAME_MAX, FIELD_INTO(struct token_question, client_id),
     .help = "Instead of a token: a client, whose tokens and codes are all revoked"},
};
const struct route_param tokens_params[] = {
    {.name = "subjectId", .help = "Only tokens of this person"},
    {.name = "clientId", .help = "Only tokens of this client"},
    {.name = "idpId", .help = "Only tokens of people of this identity provider"},
    {.name = "page", .max = INT32_MAX, .help = "Number of the page, from 0"},
    {.name = "size", .min = 1, .max = TOKENS_SIZE_MAX, .help = "Tokens of a page"},
    {.name = NULL},
};
/* clang-format on */
const struct field_table token_question_table =
    FIELD_TABLE("TokenQuestion", token_question_fields, 0);
const struct field_table token_revocation_table =
    FIELD_TABLE("TokenRevocation", token_revocation_fields, 0);

/* A token that was asked about. */
struct asked {
    struct token_parts parts;
    struct token_lookup lookup;
    char id[UUID7_TEXT_LENGTH + 1]; /* "": the text is no token of this service */
};

/* Name the token in the audit row by its id, which is no secret. */
static void
tokens_note(struct request *req, const struct asked *asked)
{
    const struct token_row *row = &asked->lookup.row;
    req->audit.subject_id = row->found ? row->subject : NULL;
    req->audit.summary = jsonx_dump(
        req->op.mem,
        jsonx_own(req->op.mem, json_pack("{s:s,s:s*}", "tokenId", asked->id, "tokenClient",
                                         row->found ? row->client.client_id : NULL)));
}

/* Find the row of the token. */
static enum az_status
tokens_find(struct request *req, struct asked *asked)
{
    struct token_lookup *lookup = &asked->lookup;
    lookup->token = *asked->id != '\0' ? &asked->parts : NULL;
    enum az_status st = token_find(&req->op, lookup);
    if (st == AZ_OK)
        tokens_note(req, asked);
    return st;
}

/* Read the body. A body with a fault is wiped, because a token may be in a misspelt member. */
static enum az_status
tokens_read(struct request *req, const struct field_table *table, struct token_question *ret)
{
    enum az_status st = resource_read_fields(req, table, ret);
    if (st != AZ_OK)
        resource_wipe_json(req->json);
    return st;
}

/* Read the text of the token, wipe what was sent, and find its row. A text that is not a token
 * counts as an unknown token. */
static enum az_status
tokens_look(struct request *req, const char *text, struct asked *asked)
{
    enum token_kind kind = TOKEN_ACCESS;
    if (access_jwt_parse(req->op.mem, text, &kind, &asked->parts) == AZ_OK
        && (kind == TOKEN_ACCESS || kind == TOKEN_REFRESH)) {
        uuid7_format(asked->parts.id, asked->id);
        asked->lookup.kind = kind;
    }
    resource_wipe_json(req->json);
    return tokens_find(req, asked);
}

/* Return a time as text, or NULL if there is no time. */
static const char *
tokens_time(TALLOC_CTX *mem, int64_t seconds)
{
    char text[ISO8601_MS_SIZE];
    if (seconds <= 0 || iso8601_format_ms(seconds * 1000, text) != AZ_OK)
        return NULL;
    return talloc_strdup(mem, text);
}

/* Answer with the facts. `revoked`: what this request did, or -1: it only asked. */
static enum az_status
tokens_respond(struct request *req, const struct asked *asked, int revoked)
{
    TALLOC_CTX *mem = req->op.mem;
    const struct token_row *row = &asked->lookup.row;
    const bool known = *asked->id != '\0' && (row->found || strcmp(row->dead, "unknown") != 0);
    struct jsonx_build body = {
        jsonx_own(mem,
                  json_pack("{s:b,s:s*,s:s*,s:s*,s:s*,s:s*}", "active", row->found && revoked != 1,
                            "reason", revoked == 1 ? "revoked" : row->dead, "tokenId",
                            known ? asked->id : NULL, "kind",
                            !known                               ? NULL
                            : asked->lookup.kind == TOKEN_ACCESS ? "access"
                                                                 : "refresh",
                            "flowId", row->flow_id, "clientId",
                            row->found ? row->client.client_id : NULL)),
        false};
    if (row->found)
        json_object_update_missing(
            body.value,
            jsonx_own(mem, json_pack("{s:s*,s:s*,s:s*,s:s*,s:s*}", "subjectId", row->subject,
                                     "scope", row->scope, "resource", row->resource, "issuedAt",
                                     tokens_time(mem, row->issued_at), "expiresAt",
                                     tokens_time(mem, row->expires_at))));
    if (revoked >= 0)
        jsonx_set(&body, "revoked", json_boolean(revoked));
    return respond_json(req, 200, jsonx_built(&body));
}

enum az_status
token_introspect_handle(struct request *req)
{
    struct asked asked = {.id = ""};
    struct token_question given = {.token = NULL};
    enum az_status st = tokens_read(req, &token_question_table, &given);
    if (st == AZ_OK)
        st = tokens_look(req, given.token, &asked);
    return st == AZ_OK ? tokens_respond(req, &asked, -1) : st;
}

/* The statement of /revoke, for the client of the token; it writes the audit row too. */
static enum az_status
revoke_one(struct request *req, const char *text)
{
    struct asked asked = {.id = ""};
    enum az_status st = tokens_look(req, text, &asked);
    for (int pass = 0; st == AZ_OK && pass < REVOKE_TRIES; pass++) {
        bool current = false, noted = false;
        if (!asked.lookup.row.found)
            return tokens_respond(req, &asked, 0);
        request_fill_audit(req, 200, "allowed");
        st = token_revoke(&req->op, asked.lookup.kind, &asked.parts, &asked.lookup.row.client,
                          &req->audit, &current, &noted);
        req->audited = noted;
        if (st == AZ_OK && current)
            return tokens_respond(req, &asked, 1);
        if (st == AZ_OK)
            st = tokens_find(req, &asked);
    }
    return st != AZ_OK ? st
                       : op_fail(&req->op, AZ_UNAVAILABLE, NULL,
                                 "the client changed during each of %d attempts", REVOKE_TRIES);
}

/* Revoke all tokens of a person or a client. */
static enum az_status
revoke_all(struct request *req, const char *subject, const char *client_id)
{
    TALLOC_CTX *mem = req->op.mem;
    bool known = false;
    json_t *whose = jsonx_own(
        mem, json_pack("{s:s*,s:s*}", "revokedSubject", subject, "revokedClient", client_id));
    req->audit.subject_id = subject;
    req->audit.summary = jsonx_dump(mem, whose);
    request_fill_audit(req, 200, "allowed");
    enum az_status st = revocation_write(&req->op, subject, client_id, &req->audit, &known);
    req->audited = known;
    if (st == AZ_OK && !known)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such person or client");
    if (st != AZ_OK)
        return st;
    return respond_json(req, 200,
                        jsonx_own(mem, json_pack("{s:b,s:b,s:s*,s:s*}", "active", 0, "revoked", 1,
                                                 "subjectId", subject, "clientId", client_id)));
}

enum az_status
token_revoke_handle(struct request *req)
{
    struct token_question given = {.token = NULL};
    enum az_status st = tokens_read(req, &token_revocation_table, &given);
    if (st != AZ_OK)
        return st;
    if ((given.token != NULL) + (given.subject != NULL) + (given.client_id != NULL) != 1) {
        resource_wipe_json(req->json);
        request_field_error(req, "token", "must be given, or else subjectId or clientId alone");
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    }
    return given.token != NULL ? revoke_one(req, given.token)
                               : revoke_all(req, given.subject, given.client_id);
}

/* ---- the list ---- */

/* Read one token more than the page has, to find out if there is another page. */
enum az_status
tokens_list_handle(struct request *req)
{
    static const struct page_limits limits = {TOKENS_SIZE, TOKENS_SIZE_MAX, TOKENS_OFFSET_MAX,
                                              "subjectId, clientId or idpId"};
    const struct page_place page = page_place_read(req, &limits);
    const struct tokens_list list = {.subject = request_param(req, "subjectId"),
                                     .client_id = request_param(req, "clientId"),
                                     .idp_id = request_param(req, "idpId"),
                                     .offset = page.number * page.size,
                                     .limit = page.size + 1};
    json_t *tokens;
    if (req->error_body != NULL)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    enum az_status st = tokens_list(&req->op, &list, &tokens);
    if (st != AZ_OK)
        return st;
    const bool last = json_array_size(tokens) <= (size_t) page.size;
    if (!last)
        json_array_remove(tokens, (size_t) page.size);
    return respond_json(req, 200,
                        jsonx_own(req->op.mem, json_pack("{s:O,s:I,s:I,s:b}", "content", tokens,
                                                         "number", (json_int_t) page.number, "size",
                                                         (json_int_t) page.size, "last", last)));
}
