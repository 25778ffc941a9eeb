#include "config.h"

#include "base/json/jsonx.h"

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

void
jsonx_set(struct jsonx_build *build, const char *name, json_t *value)
{
    if (json_object_set_new(build->value, name, value) != 0)
        build->lost = true;
}

void
jsonx_append(struct jsonx_build *build, json_t *value)
{
    if (json_array_append_new(build->value, value) != 0)
        build->lost = true;
}

json_t *
jsonx_built(const struct jsonx_build *build)
{
    return build->lost ? NULL : build->value;
}
