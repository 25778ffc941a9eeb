#include "config.h"

#include "authzen/configuration.h"

#include "base/json/jsonx.h"
#include "base/settings/settings.h"

/* Member names, and their paths below the issuer. */
static const struct {
    const char *name, *path;
} members[] = {
    {"policy_decision_point",       ""                      },
    {"access_evaluation_endpoint",  "/access/v1/evaluation" },
    {"access_evaluations_endpoint", "/access/v1/evaluations"},
};

enum az_status
authzen_configuration_handle(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    struct jsonx_build document = {jsonx_own(req->op.mem, json_object()), false};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        jsonx_set(&document, members[i].name,
                  json_sprintf("%s%s", cfg->oidc_issuer, members[i].path));
    enum az_status st = respond_json(req, 200, jsonx_built(&document));
    return st == AZ_OK ? respond_cached(req, cfg->jwks_cache_seconds) : st;
}
