#include "config.h"

#include "admin/identity_providers.h"

#include <string.h>

#include "admin/identity_provider_dto.h"
#include "base/jsonx.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/people/identity_providers.h"
#include "store/people/identity_providers_admin.h"

static enum az_status
no_such_provider(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND, NULL, "no such identity provider");
}

/* The audit row names the provider that was written. */
static void
note_provider(struct request *req, const char *idp_id)
{
    req->audit.summary =
        jsonx_dump(req->op.mem, jsonx_own(req->op.mem, json_pack("{s:s}", "idpId", idp_id)));
}

/* Reads the body; every fault is in the answer's fieldErrors. */
static enum az_status
read_dto(struct request *req, const char *path_id, struct identity_provider_dto *ret)
{
    enum az_status st =
        identity_provider_dto_read(req->op.mem, req->json, path_id, request_field_fault, req, ret);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
    return st == AZ_OK ? AZ_OK : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory");
}

/* A secret given in a body lies in its octets and in the parsed text: both are wiped when it is
 * sealed. */
static void
wipe_given_secret(struct request *req)
{
    const json_t *secret = json_object_get(req->json, "clientSecret");
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    if (json_is_string(secret))
        secret_wipe((void *) (uintptr_t) json_string_value(secret), json_string_length(secret));
}

static enum az_status
seal_secret(struct request *req, const char *secret, struct identity_provider_row *row)
{
    unsigned char *box;
    if (secret == NULL)
        return AZ_OK;
    const char *place = identity_provider_secret_place(req->op.mem, row->idp_id);
    if (place == NULL
        || keyring_seal(req->op.mem, req->op.az->keyring, KEYRING_IDENTITY_PROVIDER, place, secret,
                        strlen(secret), &box, &row->sealed_length)
               != AZ_OK)
        return op_fail(&req->op, AZ_SERVER_ERROR, NULL,
                       "the secret of an identity provider cannot be sealed");
    row->sealed = box;
    return AZ_OK;
}

enum az_status
identity_providers_list_handle(struct request *req)
{
    const char *list;
    enum az_status st = identity_providers_list(&req->op, &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

enum az_status
identity_provider_get_handle(struct request *req)
{
    const char *dto = NULL;
    enum az_status st = identity_provider_dto_fetch(&req->op, req->path_value[0], &dto);
    if (st != AZ_OK)
        return st;
    return dto != NULL ? respond_json_text(req, 200, dto) : no_such_provider(req);
}

/* The name as given, or one that is made. */
static enum az_status
name_provider(struct request *req, const struct identity_provider_dto *dto, const char **ret)
{
    const struct identity_providers *taken;
    *ret = dto->idp_id;
    if (dto->idp_id != NULL)
        return AZ_OK;
    enum az_status st = identity_providers_get(&req->op, true, &taken);
    if (st != AZ_OK)
        return st;
    *ret = identity_provider_make_id(req->op.mem, dto, taken);
    return *ret != NULL ? AZ_OK : op_fail(&req->op, AZ_SERVER_ERROR, NULL, "no memory");
}

enum az_status
identity_providers_create_handle(struct request *req)
{
    struct identity_provider_dto dto = {.secret = NULL};
    struct identity_provider_row row = {.sealed = NULL};
    const char *stored = NULL;
    enum az_status st = read_dto(req, NULL, &dto);
    row.columns = dto.columns;
    if (st == AZ_OK)
        st = name_provider(req, &dto, &row.idp_id);
    if (st == AZ_OK) {
        note_provider(req, row.idp_id);
        st = seal_secret(req, dto.secret, &row);
    }
    if (st == AZ_OK)
        st = identity_provider_insert(&req->op, &row, &stored);
    wipe_given_secret(req);
    return st == AZ_OK ? respond_json_text(req, 201, stored) : st;
}

enum az_status
identity_provider_put_handle(struct request *req)
{
    struct identity_provider_dto dto = {.secret = NULL};
    struct identity_provider_row row = {.idp_id = req->path_value[0]};
    const char *stored = NULL;
    note_provider(req, row.idp_id);
    enum az_status st = identity_provider_dto_fetch(&req->op, row.idp_id, &stored);
    if (st == AZ_OK && stored == NULL)
        st = no_such_provider(req);
    if (st == AZ_OK)
        st = read_dto(req, row.idp_id, &dto);
    row.columns = dto.columns;
    if (st == AZ_OK)
        st = seal_secret(req, dto.secret, &row);
    if (st == AZ_OK)
        st = identity_provider_replace(&req->op, &row, &stored);
    wipe_given_secret(req);
    if (st != AZ_OK)
        return st;
    return stored != NULL ? respond_json_text(req, 200, stored) : no_such_provider(req);
}

enum az_status
identity_provider_delete_handle(struct request *req)
{
    note_provider(req, req->path_value[0]);
    enum az_status st = identity_provider_delete(&req->op, req->path_value[0]);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}
