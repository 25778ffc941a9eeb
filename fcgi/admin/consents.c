#include "config.h"

#include "admin/consents.h"

#include "store/people/consents.h"
#include "store/people/session_ends.h"

const struct route_param consents_params[] = {
    {"subjectId", false},
    {"clientId",  false},
    {NULL,        false},
};
const struct admin_resource consents_resource = {.rows = &consent_rows, .key_is_number = true};

const struct route_param sessions_params[] = {
    {"subjectId", false},
    {NULL,        false},
};
const struct admin_resource sessions_resource = {.rows = &session_rows};
