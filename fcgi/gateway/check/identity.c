#include "config.h"

#include "gateway/check/identity.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"

/*
 * Return a value as it stands in a field: octets outside 0x21 to 0x7e, and `%`, as %XX; spaces stay
 * with `spaces`; a lone `-` as %2D, because `-` stands for an absent value (NULL). On mem; NULL: it
 * has more than `max` octets, or no memory.
 */
static const char *
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
        {"X-Authz-Subject",      row->subject, false                   },
        {"X-Authz-Subject-Type", issued(token, "type"),                  false},
        {"X-Authz-Idp",                      row->idp,                      false                },
        {"X-Authz-Client",                      row->client.client_id,                   false},
        {"X-Authz-Scopes",                      words_join(mem,                   token->scopes),                        true},
        {"X-Authz-Acr",                  issued(token,                              "acr"),                   false},
        {"X-Authz-Resource",                visit->name,false},
        {"X-Authz-Route",route->id,          false                                  },
        {"X-Authz-Request-Id",                  req->op.request_id,                false     },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        size_t max = fields[i].spaces ? IDENTITY_SCOPES_MAX : IDENTITY_VALUE_MAX;
        const char *value = identity_value(mem, fields[i].text, fields[i].spaces, max);
        if (value == NULL)
            return op_fail(&req->op, AZ_FORBIDDEN, "The identity has no room in a header field",
                           "%s has more than %zu octets", fields[i].name, max);
        respond_header(req, fields[i].name, value);
    }
    respond_header(req, "X-Authz-Jwt", jwt != NULL ? jwt : "-");
    return AZ_OK;
}
