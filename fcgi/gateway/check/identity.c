#include "config.h"

#include "gateway/check/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "gateway/check/shape.h"

const char *
identity_value(TALLOC_CTX *mem, const char *text, bool spaces, size_t max)
{
    if (text == NULL || *text == '\0')
        return "-";
    if (strcmp(text, "-") == 0)
        return "%2D";
    size_t length = strlen(text), used = 0;
    char *value = length <= max ? talloc_array(mem, char, (unsigned) (3 * length + 1)) : NULL;
    if (value == NULL)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) text[i];
        if ((c >= 0x21 && c <= 0x7e && c != '%') || (c == ' ' && spaces))
            value[used++] = (char) c;
        else
            used += (size_t) snprintf(value + used, 4, "%%%02X", c);
    }
    value[used] = '\0';
    return used <= max ? value : NULL;
}

/* Return a member of a part of the stored question about the token, or NULL. */
static const char *
issued(const struct own_token *token, const char *member)
{
    return json_string_value(json_object_get(json_object_get(token->issued, "subject"), member));
}

/* Return the name of a field: X-Authz-Subject, or for an authorizer Variable-AUTHZ_SUBJECT (FastCGI
 * 6.3). On mem, or NULL. */
static const char *
identity_name(const struct request *req, const char *name)
{
    const struct check_shape *shape = req->route->arg;
    char *whole =
        talloc_asprintf(req->op.mem, shape->direct ? "Variable-AUTHZ_%s" : "X-Authz-%s", name);
    for (char *c = shape->direct && whole != NULL ? whole + strlen("Variable-") : NULL;
         c != NULL && *c != '\0'; c++)
        *c = *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char) (*c - 32) : *c;
    return whole;
}

static enum az_status
put_identity(struct request *req, const char *name, const char *value)
{
    const char *whole = identity_name(req, name);
    if (whole == NULL)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "out of memory for a field");
    respond_header(req, whole, value);
    return AZ_OK;
}

enum az_status
identity_respond(struct request *req, const struct gateway_visit *visit,
                 const struct managed_route *route, const char *jwt)
{
    TALLOC_CTX *mem = req->op.mem;
    const struct own_token *token = visit->token;
    const struct token_row *row = &token->lookup.row;
    const struct {
        const char *name, *text;
        bool spaces;
    } fields[] = {
        {"Subject",      row->subject, false           },
        {"Subject-Type", issued(token, "type"),          false},
        {"Idp",              row->idp,                      false                },
        {"Client",              row->client.client_id,                   false},
        {"Scopes",              words_join(mem,                   token->scopes),                        true},
        {"Acr",          issued(token,                      "acr"),           false},
        {"Resource",        visit->name,false},
        {"Route",route->id,          false                          },
        {"Request-Id",          req->op.request_id,        false},
    };
    enum az_status st = AZ_OK;
    for (size_t i = 0; st == AZ_OK && i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t max = fields[i].spaces ? IDENTITY_SCOPES_MAX : IDENTITY_VALUE_MAX;
        const char *value = identity_value(mem, fields[i].text, fields[i].spaces, max);
        if (value == NULL)
            return op_fail(&req->op, AZ_FORBIDDEN, "The identity has no room in a header field",
                           "%s has more than %zu octets", fields[i].name, max);
        st = put_identity(req, fields[i].name, value);
    }
    return st == AZ_OK ? put_identity(req, "Jwt", jwt != NULL ? jwt : "-") : st;
}
