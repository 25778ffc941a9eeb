#include "config.h"

#include "env.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/process/gateway_process.h"

static int stopping;

struct az *
env_az(TALLOC_CTX *mem)
{
    struct az *az = talloc_zero(mem, struct az);
    struct problems problems = {NULL, 0};
    struct settings *cfg = settings_load(az, NULL, &problems);
    cfg->policy_engine = "opa"; /* a test without one has no plan to decide by */
    cfg->admin_api_key = "a key of the tests";
    cfg->admin_pepper = "a pepper of the tests";
    cfg->credential_key = "a credential key of the tests";
    cfg->bundle_api_key = "a bundle key of the tests";
    cfg->metrics_token = "a metrics token of the tests";
    az->cfg = cfg;
    az->gateway = talloc_zero(az, struct gateway_process);
    az->dpop_algs = cfg->dpop_signing_algs;
    az->pool = "single";
    az->stopping = &stopping;
    return az;
}

struct settings *
env_settings(struct az *az)
{
    return (struct settings *) (uintptr_t) az->cfg;
}

struct op
env_op(TALLOC_CTX *mem, struct az *az)
{
    return (struct op){.mem = mem, .az = az, .request_id = "req-1", .now_ms = ENV_NOW * 1000};
}

json_t *
env_json(TALLOC_CTX *mem, const char *text)
{
    char *copy = talloc_strdup(mem, text);
    json_t *value;
    for (char *c = copy; *c != '\0'; c++)
        *c = *c == '\'' ? '"' : *c;
    value = jsonx_own(mem, json_loads(copy, JSON_DECODE_ANY, NULL));
    if (value == NULL) {
        fprintf(stderr, "not JSON: %s\n", copy);
        exit(99);
    }
    return value;
}

static int
remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void) info;
    (void) type;
    (void) place;
    return remove(path);
}

static int
remove_all(char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return 0;
}

const char *
env_directory(TALLOC_CTX *mem)
{
    const char *base = getenv("TMPDIR");
    char *path = talloc_asprintf(mem, "%s/authz-t-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(99);
    }
    talloc_set_destructor(path, remove_all);
    return path;
}
