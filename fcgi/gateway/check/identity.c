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

/* The fields, as a web server copies them to its request, and as an authorizer gives variables
 * (FastCGI 6.3). */
enum identity_field {
    IDENTITY_SUBJECT,
    IDENTITY_SUBJECT_TYPE,
    IDENTITY_IDP,
    IDENTITY_CLIENT,
    IDENTITY_SCOPES,
    IDENTITY_ACR,
    IDENTITY_RESOURCE,
    IDENTITY_ROUTE,
    IDENTITY_REQUEST_ID,
    IDENTITY_JWT,
};
static const struct {
    const char *field, *variable;
} identity_names[] = {
    [IDENTITY_SUBJECT] = {"X-Authz-Subject",      "Variable-AUTHZ_SUBJECT"     },
    [IDENTITY_SUBJECT_TYPE] = {"X-Authz-Subject-Type", "Variable-AUTHZ_SUBJECT_TYPE"},
    [IDENTITY_IDP] = {"X-Authz-Idp",          "Variable-AUTHZ_IDP"         },
    [IDENTITY_CLIENT] = {"X-Authz-Client",       "Variable-AUTHZ_CLIENT"      },
    [IDENTITY_SCOPES] = {"X-Authz-Scopes",       "Variable-AUTHZ_SCOPES"      },
    [IDENTITY_ACR] = {"X-Authz-Acr",          "Variable-AUTHZ_ACR"         },
    [IDENTITY_RESOURCE] = {"X-Authz-Resource",     "Variable-AUTHZ_RESOURCE"    },
    [IDENTITY_ROUTE] = {"X-Authz-Route",        "Variable-AUTHZ_ROUTE"       },
    [IDENTITY_REQUEST_ID] = {"X-Authz-Request-Id",   "Variable-AUTHZ_REQUEST_ID"  },
    [IDENTITY_JWT] = {"X-Authz-Jwt",          "Variable-AUTHZ_JWT"         },
};

static void
put_identity(struct request *req, enum identity_field field, const char *value)
{
    const struct check_shape *shape = req->route->arg;
    respond_header(
        req, shape->direct ? identity_names[field].variable : identity_names[field].field, value);
}

enum az_status
identity_respond(struct request *req, const struct gateway_access *access,
                 const struct managed_route *route, const char *jwt)
{
    TALLOC_CTX *mem = req->op.mem;
    const struct own_token *token = access->token;
    const struct token_row *row = &token->lookup.row;
    const char *const texts[] = {
        [IDENTITY_SUBJECT] = row->subject,
        [IDENTITY_SUBJECT_TYPE] = issued(token, "type"),
        [IDENTITY_IDP] = row->idp,
        [IDENTITY_CLIENT] = row->client.client_id,
        [IDENTITY_SCOPES] = words_join(mem, token->scopes),
        [IDENTITY_ACR] = issued(token, "acr"),
        [IDENTITY_RESOURCE] = access->name,
        [IDENTITY_ROUTE] = route->id,
        [IDENTITY_REQUEST_ID] = req->op.request_id,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        bool spaces = i == IDENTITY_SCOPES;
        size_t max = spaces ? IDENTITY_SCOPES_MAX : IDENTITY_VALUE_MAX;
        const char *value = identity_value(mem, texts[i], spaces, max);
        if (value == NULL)
            return op_fail(&req->op, AZ_FORBIDDEN, "The identity has no room in a header field",
                           "%s has more than %zu octets", identity_names[i].field, max);
        put_identity(req, (enum identity_field) i, value);
    }
    put_identity(req, IDENTITY_JWT, jwt != NULL ? jwt : "-");
    return AZ_OK;
}
