/* The admin key where no database is needed: this process has none, so a look-up would crash it. */
#include "config.h"

#include "admin/credential.h"

#include <string.h>

#include "base/settings/settings.h"
#include "tap.h"

/* A row that does not state a role needs an owner. */
static const struct route row = {.path = "/admin/", .credential = &credential_admin};

static const char *
shown_key(const struct http_io *io, const char *name)
{
    return strcmp(name, "HTTP_X_ADMIN_API_KEY") == 0 ? io->handle : NULL;
}

/* Return the outcome of the credential check for a request with this key, in the process of an
 * operator (NULL: of the service). */
static enum az_status
check_as(TALLOC_CTX *mem, const struct settings *cfg, const char *who, const char *key,
         const char **ret_label)
{
    const struct az_operator by_operator = {.label = who};
    char *copy = key != NULL ? talloc_strdup(mem, key) : NULL;
    const struct http_io io = {.handle = copy, .variable = shown_key};
    struct az az = {.cfg = cfg, .by_operator = who != NULL ? &by_operator : NULL};
    struct request *req = talloc_zero(mem, struct request);
    req->op.mem = req;
    req->op.az = &az;
    req->io = &io;
    req->method = "GET";
    req->route = &row;
    enum az_status status = credential_admin.check(req);
    *ret_label = req->admin.label;
    return status;
}

static enum az_status
check(TALLOC_CTX *mem, const struct settings *cfg, const char *key, const char **ret_label)
{
    return check_as(mem, cfg, NULL, key, ret_label);
}

/* Each role against each least role (gateway-admin.md 3.9). */
static void
test_roles(TALLOC_CTX *mem)
{
    for (int has = ADMIN_ROLE_NONE; has <= ADMIN_ROLE_OWNER; has++)
        for (int least = ADMIN_ROLE_NONE; least <= ADMIN_ROLE_OWNER; least++) {
            struct request *req = talloc_zero(mem, struct request);
            bool may = least != ADMIN_ROLE_NONE ? has >= least : has == ADMIN_ROLE_OWNER;
            req->op.mem = req;
            req->admin.role = (enum admin_role) has;
            is_int(admin_require(req, (enum admin_role) least), may ? AZ_OK : AZ_ROLE_REQUIRED,
                   "a key of role %d %s a row of role %d", has, may ? "may use" : "may not use",
                   least);
            talloc_free(req);
        }
    is_int(admin_role_of("root"), ADMIN_ROLE_NONE, "an unknown word is no role");
    is_int(admin_role_of(NULL), ADMIN_ROLE_NONE, "nor is none");
    is_int(admin_role_of("owner"), ADMIN_ROLE_OWNER, "owner is one");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct settings cfg = {.admin_enabled = true, .oidc_issuer = "https://as.example"};
    const char *label;
    char key[ADMIN_KEY_TEXT_MAX + 2];

    is_int(check(mem, &cfg, NULL, &label), AZ_UNAUTHORIZED, "no key is 401 (specification 5)");
    ok(label == NULL, "... and nobody acts");
    is_int(check(mem, &cfg, "", &label), AZ_UNAUTHORIZED, "an empty key is 401");
    memset(key, 'a', sizeof(key));
    key[ADMIN_KEY_TEXT_MAX + 1] = '\0';
    is_int(check(mem, &cfg, key, &label), AZ_UNAUTHORIZED,
           "a key of %d octets is 401 without a look-up", ADMIN_KEY_TEXT_MAX + 1);
    cfg.admin_enabled = false;
    is_int(check(mem, &cfg, NULL, &label), AZ_UNAUTHORIZED,
           "no key is 401 while the admin API is off (specification 5.3)");
    cfg.allow_insecure_dev_key = true;
    is_int(check(mem, &cfg, NULL, &label), AZ_NOT_FOUND, "off is 404 in development mode");
    ok(label == NULL, "... and nobody acts");
    cfg.admin_enabled = true;
    is_int(check(mem, &cfg, NULL, &label), AZ_OK, "development mode asks for no key");
    is_str(label, "development mode", "... and the audit row says so");
    cfg.allow_insecure_dev_key = false;
    cfg.admin_enabled = false;
    is_int(check_as(mem, &cfg, "authzctl", NULL, &label), AZ_OK,
           "authzctl on the database needs neither a key nor SVC_ADMIN_ENABLED");
    is_str(label, "authzctl", "... and the audit row names it");
    test_roles(mem);
    talloc_free(mem);
    return done();
}
