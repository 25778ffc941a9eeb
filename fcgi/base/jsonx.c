#include "config.h"

#include "base/jsonx.h"

struct owned_json {
    json_t *value;
};

static int
owned_json_free(struct owned_json *owned)
{
    json_decref(owned->value);
    return 0;
}

json_t *
jsonx_own(TALLOC_CTX *mem, json_t *value)
{
    if (value == NULL)
        return NULL;
    struct owned_json *owned = talloc(mem, struct owned_json);
    if (owned == NULL) {
        json_decref(value);
        return NULL;
    }
    owned->value = value;
    talloc_set_destructor(owned, owned_json_free);
    return value;
}
