#include "config.h"

#include "admin/admin_keys.h"

#include "store/people/admin_keys.h"

const struct admin_resource admin_keys_resource = {.rows = &admin_key_rows};
