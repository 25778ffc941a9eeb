#include "config.h"

#include "admin/credential.h"

#include <string.h>

#include "base/settings/settings.h"
#include "store/people/admin_keys.h"

/* Label in audit rows while SVC_ALLOW_INSECURE_DEV_KEY leaves the admin API open. */
#define DEVELOPMENT_LABEL "development mode"

/* Find the label of the key that the caller sent; it stays NULL for an unknown key. */
static enum az_status
find_key(struct request *req, const char **ret_label)
{
    const char *key = request_header(req, "HTTP_X_ADMIN_API_KEY");
    if (key == NULL || *key == '\0' || strlen(key) > ADMIN_KEY_TEXT_MAX)
        return AZ_OK;
    return admin_key_find(&req->op, key, ret_label, &req->admin_id);
}

static enum az_status
check_admin(struct request *req)
{
    const struct settings *cfg = req->op.az->cfg;
    const struct az_operator *by_operator = req->op.az->by_operator;
    const char *label = NULL;
    if (by_operator != NULL) {
        req->proved = true;
        req->admin_label = by_operator->label;
        return AZ_OK;
    }
    enum az_status st = cfg->allow_insecure_dev_key ? AZ_OK : find_key(req, &label);
    if (st != AZ_OK)
        return st;
    if (cfg->allow_insecure_dev_key)
        label = DEVELOPMENT_LABEL;
    if (label == NULL)
        return op_fail(&req->op, AZ_UNAUTHORIZED, NULL, "no such admin key");
    req->proved = true;
    if (!cfg->admin_enabled)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "SVC_ADMIN_ENABLED is false");
    req->admin_label = label;
    return AZ_OK;
}

const struct route_credential credential_admin = {
    .check = check_admin,
    .before_body = true,
    .schemes = (const char *const[]){"adminKey", NULL},
};
