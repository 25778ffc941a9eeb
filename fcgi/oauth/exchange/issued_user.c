#include "config.h"

#include "oauth/exchange/issued_user.h"

#include <string.h>

enum issued_subject
issued_subject(const json_t *issued)
{
    const json_t *subject = json_object_get(issued, "subject");
    const char *type = json_string_value(json_object_get(subject, "type"));
    if (type == NULL)
        return ISSUED_UNKNOWN;
    return strcmp(type, "user") == 0 ? ISSUED_USER : ISSUED_CLIENT;
}

struct question_user
issued_user(const struct token_row *row, const json_t *issued)
{
    const json_t *subject = json_object_get(issued, "subject");
    json_t *claims = row->claims != NULL ? (json_t *) (uintptr_t) row->claims
                                         : json_object_get(subject, "claims");
    return (struct question_user){
        .iss = json_string_value(json_object_get(subject, "iss")),
        .idp = json_string_value(json_object_get(subject, "idp")),
        .acr = json_string_value(json_object_get(subject, "acr")),
        .amr = json_object_get(subject, "amr"),
        .auth_time = json_integer_value(json_object_get(subject, "auth_time")),
        .claims = claims,
        .incomplete = row->claims == NULL ? json_object_get(subject, "claims_incomplete") : NULL,
    };
}
