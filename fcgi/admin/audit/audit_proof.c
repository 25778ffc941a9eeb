#include "config.h"

#include "admin/audit/audit_proof.h"

#include <string.h>

#include "admin/resource/resource_body.h"
#include "base/digits.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "store/audit/proof/proof.h"
#include "store/audit/proof/tiles.h"

#define TEXT_TYPE "text/plain; charset=utf-8"

/* Largest number of a tile: that of its last leaf fits into 63 bits. */
#define TILE_NUMBER_MAX (INT64_MAX / MERKLE_TILE_WIDTH)

/* Largest value of an element of the path of a tile, and its digits (c2sp.org/tlog-tiles). */
#define ELEMENT_MAX 999
#define ELEMENT_DIGITS 3

bool
audit_proof_is_public(const struct settings *cfg)
{
    return cfg->audit_public;
}

enum az_status
audit_checkpoint_handle(struct request *req)
{
    const char *note;
    enum az_status st = audit_checkpoint_read(&req->op, &note);
    if (st == AZ_OK && note == NULL)
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "there is no checkpoint yet");
    return st == AZ_OK ? respond_octets(req, 200, TEXT_TYPE, note, strlen(note)) : st;
}

enum az_status
audit_keys_handle(struct request *req)
{
    json_t *keys;
    enum az_status st = audit_log_keys(&req->op, &keys);
    return st == AZ_OK
               ? respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:O}", "keys", keys)))
               : st;
}

/* ---- tiles ---- */

/* A tile as a path names it. */
struct tile_name {
    int64_t level, n;
    int64_t width; /* hashes that are asked for */
};

/* Read a decimal number without superfluous zeros up to `end` and move *at behind it. */
static bool
take_number(const char **at, char end, int64_t max, int64_t *ret)
{
    size_t length = strcspn(*at, (const char[]){end, '\0'});
    const char *text = *at;
    if (digits_take(text, length, max + 1, ret) != length || length == 0 || *ret > max
        || (text[0] == '0' && length > 1))
        return false;
    *at += length;
    return true;
}

/* Read the elements of a number of a tile: x001/x234/067 is 1234067. The first one is not x000, so
 * that each tile has one name. */
static bool
take_elements(const char **at, int64_t *ret)
{
    bool more = true;
    *ret = 0;
    while (more) {
        int64_t element;
        more = **at == 'x';
        *at += more;
        if (digits_take(*at, strspn(*at, "0123456789"), ELEMENT_MAX, &element) != ELEMENT_DIGITS
            || *ret > TILE_NUMBER_MAX / (ELEMENT_MAX + 1) - 1
            || (more && *ret == 0 && element == 0))
            return false;
        *ret = *ret * (ELEMENT_MAX + 1) + element;
        *at += ELEMENT_DIGITS;
        if (more && *(*at)++ != '/')
            return false;
    }
    return true;
}

/* Read LEVEL/N or LEVEL/N.p/WIDTH with a width below that of a full tile. */
static bool
read_name(const char *path, struct tile_name *ret)
{
    ret->width = MERKLE_TILE_WIDTH;
    if (*path++ != '/' || !take_number(&path, '/', MERKLE_LEVELS - 1, &ret->level) || *path++ != '/'
        || !take_elements(&path, &ret->n))
        return false;
    if (*path == '\0')
        return true;
    if (strncmp(path, ".p/", 3) != 0)
        return false;
    path += 3;
    return take_number(&path, '\0', MERKLE_TILE_WIDTH - 1, &ret->width) && ret->width > 0;
}

enum az_status
audit_tile_handle(struct request *req)
{
    struct tile_name name;
    struct audit_log_state state;
    struct audit_tiles tiles;
    const struct audit_tile *tile = NULL;
    const char *path = req->path_value[0];
    enum az_status st = AZ_NOT_FOUND;
    if (path != NULL && read_name(path, &name))
        st = audit_log_state_read(&req->op, &state);
    if (st == AZ_OK) {
        audit_tiles_init(&tiles, &req->op, state.epoch);
        st = audit_tile_read(&tiles, (unsigned) name.level, (uint64_t) name.n, &tile);
    }
    if (st == AZ_NOT_FOUND || (st == AZ_OK && tile->width < (size_t) name.width))
        return op_fail(&req->op, AZ_NOT_FOUND, NULL, "there is no such tile of the audit log");
    return st == AZ_OK ? respond_octets(req, 200, "application/octet-stream", tile->hash[0],
                                        (size_t) name.width * SHA256_OCTETS)
                       : st;
}

enum az_status
audit_proof_handle(struct request *req)
{
    int64_t id;
    const char *proof;
    enum az_status st = path_id_read(req, &id);
    if (st == AZ_OK)
        st = audit_prove(&req->op, id, &proof);
    return st == AZ_OK ? respond_octets(req, 200, TEXT_TYPE, proof, strlen(proof)) : st;
}
