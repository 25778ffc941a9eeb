#include "config.h"

#include "admin/people/consents.h"

#include "store/people/consents.h"
#include "store/people/session_ends.h"

/* clang-format off */
const struct route_param consents_params[] = {
    {.name = "subjectId", .help = "Only those of this user"},
    {.name = "clientId", .help = "Only those for this client"},
    {.name = NULL},
};
const struct admin_resource consents_resource = {.rows = &consent_rows, .key_is_number = true};

const struct route_param sessions_params[] = {
    {.name = "subjectId", .help = "Only those of this user"},
    {.name = NULL},
};
/* clang-format on */
const struct admin_resource sessions_resource = {.rows = &session_rows};
