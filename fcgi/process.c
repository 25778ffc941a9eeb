#include "config.h"

#include "process.h"

#include <curl/curl.h>
#include <time.h>

#include "base/log.h"
#include "crypto/keyring.h"
#include "http/shared.h"
#include "policy/engine.h"
#include "store/admin_keys.h"
#include "store/clients.h"
#include "store/db.h"
#include "store/schema.h"
#include "store/signing_keys.h"

static volatile int stopping;

/* The keyring alone needs settings that have no default: without them the CLI does without it. */
static bool
make_handles(struct az *az)
{
    const struct settings *cfg = az->cfg;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return false;
    az->db = db_new(az, cfg->database_url);
    az->engine = engine_new(az, cfg->opa_url, cfg->policy_timeout_ms);
    az->clients = client_cache_new(az);
    if (cfg->credential_key != NULL && cfg->admin_pepper != NULL)
        az->keyring = keyring_new(az, cfg->credential_key, cfg->admin_pepper);
    return az->db != NULL && az->engine != NULL && az->clients != NULL;
}

struct az *
process_new(TALLOC_CTX *mem, bool with_shared, struct problems *problems)
{
    struct az *az = talloc_zero(mem, struct az);
    struct settings *cfg = az != NULL ? settings_load(az, AUTHZ_CONF, problems) : NULL;
    const char *why = NULL;
    if (cfg == NULL)
        return NULL;
    settings_check(az, cfg, problems);
    log_level_set(cfg->log_level);
    az->cfg = cfg;
    az->stopping = &stopping;
    az->pool = "single";
    if (with_shared && problems->count == 0
        && shared_open(az, cfg->runtime_dir, &az->shared, &why) != AZ_OK)
        problems_add(az, problems, "%s", why);
    if (!make_handles(az))
        return NULL;
    return az->keyring != NULL || problems->count > 0 ? az : NULL;
}

struct op
process_op(TALLOC_CTX *mem, struct az *az)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct op){.mem = mem,
                       .az = az,
                       .request_id = "none",
                       .now_ms = (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000};
}

enum az_status
process_check_database(struct op *op)
{
    bool made;
    enum az_status st = schema_check(op);
    if (st == AZ_OK)
        st = signing_keys_ensure(op, &made);
    if (st == AZ_OK)
        st = signing_keys_check(op);
    if (st == AZ_OK)
        st = admin_key_register_configured(op);
    return st;
}
