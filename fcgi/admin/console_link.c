#include "config.h"

#include "admin/console_link.h"

#include <string.h>

#include "admin/resource/resource.h"
#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/random.h"
#include "crypto/secret.h"
#include "http/origin.h"
#include "store/people/admin_links.h"

#define SECRET_LENGTH B64URL_LENGTH(CONSOLE_LINK_OCTETS)

/* Write a new secret and its hash. */
static enum az_status
make_secret(struct op *op, char ret[SECRET_LENGTH + 1], unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[CONSOLE_LINK_OCTETS];
    enum az_status st = random_octets(octets, sizeof(octets));
    b64url_encode_into(octets, sizeof(octets), ret);
    secret_wipe(octets, sizeof(octets));
    if (st == AZ_OK)
        st = sha256(ret, SECRET_LENGTH, ret_hash);
    return st == AZ_OK ? AZ_OK
                       : op_fail(op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
}

enum az_status
console_link_make_handle(struct request *req)
{
    char secret[SECRET_LENGTH + 1];
    unsigned char hash[SHA256_OCTETS];
    const char *ends = NULL;
    resource_note(req, "adminKey", req->path_value[0]);
    enum az_status st = make_secret(&req->op, secret, hash);
    if (st == AZ_OK)
        st = admin_link_make(&req->op, hash, req->path_value[0], &ends);
    if (st != AZ_OK)
        return st;
    json_t *url = json_sprintf("%s/portal/#/link/%s", req->op.az->cfg->oidc_issuer, secret);
    secret_wipe(secret, sizeof(secret));
    st = respond_json(
        req, 201, jsonx_own(req->op.mem, json_pack("{s:O,s:s}", "url", url, "expiresAt", ends)));
    resource_wipe_json(url);
    json_decref(url);
    return st;
}

/*
 * True if a page of the issuer sent the request. A browser names the origin of the page with each
 * POST: a page that shows this server under another name (DNS rebinding) has another one.
 */
static bool
is_from_issuer(const struct request *req)
{
    const char *mark = request_header(req, "HTTP_X_AUTHZ_CONSOLE");
    const char *origin = request_header(req, "HTTP_ORIGIN");
    return mark != NULL && strcmp(mark, "1") == 0 && origin != NULL
           && origin_is_allowed(req->op.az->cfg->oidc_issuer, NULL, origin);
}

enum az_status
console_link_find(struct request *req)
{
    unsigned char hash[SHA256_OCTETS];
    const char *secret = request_header(req, "HTTP_X_AUTHZ_CONSOLE_LINK");
    if (secret == NULL || strlen(secret) != SECRET_LENGTH)
        return AZ_OK;
    if (!is_from_issuer(req))
        return op_fail(
            &req->op, AZ_FOREIGN_PAGE,
            "A sign-in link is accepted only from the console at the address of the link", NULL);
    if (sha256(secret, SECRET_LENGTH, hash) != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL, "a sign-in link cannot be looked up");
    resource_note(req, "by", "link");
    return admin_link_use(&req->op, hash, &req->admin);
}
