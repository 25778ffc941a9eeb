#include "config.h"

#include "http/fetch/documents_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "crypto/digest.h"
#include "crypto/trust_bundle.h"
#include "http/fetch/document_memory.h"
#include "http/fetch/fetch_places.h"

#define DAY 86400
/* Shortest time between two fetches of the same document for callers that need a newer one, in
 * seconds: tokens with invented key ids must not become requests to the issuer (oauth.md J8). */
#define AGAIN_AFTER 60
/* Shortest life of a client's metadata, in seconds. Without it, a client that says no-store would
 * cause a fetch with each request. */
#define METADATA_FLOOR 60
#define FORGET_DAYS 7
/* A host that timed out or refused the connection is not asked again for so long, in seconds. */
#define AWAY_PAUSE 5
/* Limits of a trust bundle (oauth.md J9): octets, which allow for hundreds of certificates;
 * seconds of a fetch; and shortest time between two fetches, however they end. */
#define TRUST_BUNDLE_MAX (1024 * 1024)
#define TRUST_BUNDLE_TIMEOUT 5
#define TRUST_BUNDLE_FLOOR 30

/* Set the limits of a trust bundle. */
static void
limits_trust_bundle(const struct settings *cfg, struct limits *ret)
{
    ret->word = "trust_bundle";
    ret->max_octets = TRUST_BUNDLE_MAX;
    ret->timeout = TRUST_BUNDLE_TIMEOUT;
    ret->least = TRUST_BUNDLE_FLOOR;
    ret->most = cfg->spiffe_refresh > ret->least ? cfg->spiffe_refresh : ret->least;
    ret->again = ret->pause = ret->pause_away = TRUST_BUNDLE_FLOOR;
    ret->refresh_hint = trust_bundle_refresh_hint;
    ret->is_older = trust_bundle_is_older;
}

/* Set the limits of a Client ID Metadata Document. */
static void
limits_client_metadata(const struct settings *cfg, struct limits *ret)
{
    ret->word = "client_metadata";
    ret->hosts = FETCH_CIMD;
    ret->max_octets = (size_t) cfg->cimd_max_document_size;
    ret->timeout = cfg->cimd_fetch_timeout;
    ret->most = cfg->cimd_cache_ttl;
    ret->least = ret->most < METADATA_FLOOR ? ret->most : METADATA_FLOOR;
    ret->grace = 0;
    ret->bounded = true;
}

/* Return the limits of a kind of documents. */
static struct limits
limits_of(const struct settings *cfg, enum document_kind kind)
{
    struct limits ret = {.word = "keys",
                         .hosts = FETCH_SAFE_HTTP,
                         .max_octets = DOCUMENT_KEYS_MAX,
                         .timeout = cfg->safe_http_timeout,
                         .least = 3600,
                         .most = 3600,
                         .grace = DAY,
                         .again = AGAIN_AFTER,
                         .pause_away = AWAY_PAUSE};
    switch (kind) {
    case DOCUMENT_DISCOVERY:
        ret.word = "discovery";
        ret.least = ret.most = DAY;
        break;
    case DOCUMENT_UPSTREAM:
        ret.word = "upstream";
        ret.hosts = FETCH_GATEWAY;
        ret.least = ret.most = DAY;
        break;
    case DOCUMENT_KEYS:
        break;
    case DOCUMENT_CLIENT_KEYS:
        ret.word = "client_keys";
        ret.hosts = FETCH_CLIENT_KEYS;
        ret.bounded = true;
        break;
    case DOCUMENT_TRUST_BUNDLE:
        limits_trust_bundle(cfg, &ret);
        break;
    case DOCUMENT_CLIENT_METADATA:
        limits_client_metadata(cfg, &ret);
        break;
    }
    return ret;
}

static enum az_status
wish_make(struct wanted *wanted, int64_t not_before)
{
    struct document_wish *wish = &wanted->wish;
    char *text = talloc_asprintf(wanted->op->mem, "%s %s", wanted->limits.word, wanted->url);
    if (text == NULL || sha256(text, strlen(text), wish->key) != AZ_OK)
        return op_no_memory(wanted->op);
    wish->kind = wanted->limits.word;
    wish->url = wanted->url;
    wish->not_before = not_before;
    wish->again = wanted->limits.again;
    wish->grace = wanted->limits.grace;
    return AZ_OK;
}

char *
document_discovery_url(TALLOC_CTX *mem, const char *issuer)
{
    size_t length = strlen(issuer);
    if (length > 0 && issuer[length - 1] == '/')
        length--;
    return talloc_asprintf(mem, "%.*s/.well-known/openid-configuration", (int) length, issuer);
}

/* ---- a document's text */

/* Drop what counts as absent (world.md U8): `null` and "" of the document, and of the keys of a key
 * set. A client's metadata is read as a registration is. */
static void
drop_empty(const struct wanted *wanted, json_t *document)
{
    size_t i;
    json_t *key;
    if (wanted->limits.hosts == FETCH_CIMD)
        return;
    jsonx_drop_empty(document);
    json_array_foreach (json_object_get(document, "keys"), i, key)
        jsonx_drop_empty(key);
}

enum az_status
wanted_read(struct wanted *wanted, const char *body, size_t length, json_t **ret)
{
    struct op *op = wanted->op;
    const char *why = "it is not a JSON object";
    json_t *json = NULL;
    enum az_status st = jsonx_parse(op->mem, body, length, DOCUMENT_DEPTH_MAX, &json, &why);
    if (st == AZ_SERVER_ERROR)
        return op_fail(op, st, NULL, "out of memory for a document");
    if (st != AZ_OK || !json_is_object(json)) {
        wanted->fault = FETCH_FAULT_HTTP;
        return op_fail(op, AZ_UNAVAILABLE, NULL, "%s document %.160s: %s", wanted->limits.word,
                       wanted->url, why);
    }
    drop_empty(wanted, json);
    st = wanted->check != NULL ? wanted->check(op, wanted->url, json) : AZ_OK;
    if (st == AZ_OK)
        *ret = json;
    return st;
}

void
wanted_remember(const struct wanted *wanted, int64_t seconds)
{
    const struct document *document = &wanted->document;
    const struct document_remembered it = {document->json, document->fetched_ms, wanted->check};
    if (!wanted->limits.bounded)
        document_remember(wanted->op, wanted->wish.key, wanted->began, seconds, &it);
}

/* Take the document from memory; false: not there, too old, or refused by this caller's check. */
static bool
take_remembered(struct wanted *wanted)
{
    struct document_remembered it;
    struct az_fault before = wanted->op->fault;
    if (wanted->limits.bounded || !document_recall(wanted->op, wanted->wish.key, wanted->began, &it)
        || it.fetched_ms < wanted->wish.not_before)
        return false;
    if (wanted->check != it.checked && wanted->check != NULL
        && wanted->check(wanted->op, wanted->url, it.json) != AZ_OK) {
        wanted->op->fault = before;
        return false;
    }
    wanted->document = (struct document){.json = it.json, .fetched_ms = it.fetched_ms};
    return true;
}

bool
wanted_take_kept(struct wanted *wanted)
{
    json_t *json = NULL;
    const struct document_look *look = &wanted->look;
    struct az_fault before = wanted->op->fault;
    if (look->body == NULL)
        return false;
    az_fault_clear(&wanted->op->fault);
    if (wanted_read(wanted, look->body, strlen(look->body), &json) != AZ_OK) {
        wanted->op->fault = before;
        return false;
    }
    wanted->document = (struct document){.json = json, .fetched_ms = look->fetched_ms};
    wanted_remember(wanted, look->lasts);
    return true;
}

/* ---- failures */

const char *
wanted_failure_dump(const struct wanted *wanted)
{
    const struct az_fault *fault = &wanted->op->fault;
    char *text = talloc_asprintf(wanted->op->mem, "%d %d %s\n%s", (int) fault->status,
                                 (int) wanted->fault, fault->public_text, fault->detail);
    for (char *c = text; c != NULL && *c != '\0'; c++)
        *c = (*c >= ' ' && *c <= '~') || *c == '\n' ? *c : '?';
    return text;
}

enum az_status
wanted_failure_take(struct wanted *wanted)
{
    const char *text = wanted->look.failure != NULL ? wanted->look.failure : "";
    char *at;
    long status = strtol(text, &at, 10), fault = strtol(at, &at, 10);
    const char *end = strchr(at, '\n');
    if (status <= AZ_OK || status >= AZ_STATUS_COUNT || fault < FETCH_OK || fault > FETCH_FAULT_OURS
        || *at != ' ' || end == NULL) {
        wanted->fault = FETCH_FAULT_CONNECT;
        return op_fail(wanted->op, AZ_UNAVAILABLE, NULL,
                       "document %.160s: the fetch by another worker failed", wanted->url);
    }
    char *public_text = talloc_strndup(wanted->op->mem, at + 1, (size_t) (end - at - 1));
    wanted->fault = (enum fetch_fault) fault;
    return op_fail(wanted->op, (enum az_status) status, public_text, "%s", end + 1);
}

/* Take the old document, if the failed fetch allows it. */
static enum az_status
do_without(struct wanted *wanted, enum az_status st)
{
    if (!wanted->look.kept || !wanted_take_kept(wanted))
        return st;
    wanted->fault = FETCH_OK;
    return AZ_OK;
}

enum az_status
wanted_fail(struct wanted *wanted, enum fetch_fault fault, const char *why)
{
    wanted->fault = fault;
    return op_fail(wanted->op, fault == FETCH_FAULT_BUSY ? AZ_BUSY : AZ_UNAVAILABLE, NULL,
                   "%s document %.160s: %s", wanted->limits.word, wanted->url, why);
}

void
wanted_newer(struct wanted *wanted)
{
    wanted->wish.not_before = wanted->look.now_ms + 1;
    wanted->wish.again = 0;
    wanted->look.kept = false;
}

/* Get a newer document than the one that is kept. A URL that is refused gets no place and no row.
 */
static enum az_status
get_new(struct wanted *wanted)
{
    FETCH_PLACE_AUTO place = {.hold = NULL};
    enum fetch_hosts hosts = wanted->limits.hosts;
    if (wanted->look.failed)
        return wanted_failure_take(wanted);
    enum fetch_fault fault = fetch_url_fault(wanted->op, hosts, wanted->url, &wanted->host);
    if (fault != FETCH_OK)
        return wanted_fail(wanted, fault, fetch_url_why(hosts, fault));
    fault = fetch_place_take(wanted->op, hosts, &place);
    return fault == FETCH_OK ? wanted_fetch_or_wait(wanted)
                             : wanted_fail(wanted, fault, fetch_place_why(fault));
}

static enum az_status
get(struct wanted *wanted, int64_t not_before)
{
    enum az_status st = wish_make(wanted, not_before);
    if (st == AZ_OK && take_remembered(wanted))
        return AZ_OK;
    if (st == AZ_OK)
        st = document_look(wanted->op, &wanted->wish, &wanted->look);
    if (st != AZ_OK)
        return st;
    wanted->wish.began = wanted->look.now;
    if (wanted->look.good && wanted_take_kept(wanted)) {
        if (wanted->look.idle)
            st = document_touch(wanted->op, &wanted->wish);
        return st;
    }
    if (wanted->look.good)
        wanted_newer(wanted);
    st = get_new(wanted);
    return st == AZ_OK ? st : do_without(wanted, st);
}

enum az_status
document_get(struct op *op, enum document_kind kind, const char *url, int64_t not_before,
             document_check_fn *check, struct document *ret, enum fetch_fault *ret_fault)
{
    struct wanted wanted = {.op = op,
                            .limits = limits_of(op->az->cfg, kind),
                            .url = url,
                            .check = check,
                            .began = clock_monotonic_ms()};
    enum az_status st = get(&wanted, not_before);
    if (ret_fault != NULL)
        *ret_fault = wanted.fault;
    if (st == AZ_OK)
        *ret = wanted.document;
    return st;
}

enum az_status
document_kept(struct op *op, enum document_kind kind, const char *url, document_check_fn *check,
              struct document *ret)
{
    struct wanted wanted = {.op = op,
                            .limits = limits_of(op->az->cfg, kind),
                            .url = url,
                            .check = check,
                            .began = clock_monotonic_ms()};
    enum az_status st = wish_make(&wanted, 0);
    if (st == AZ_OK && !take_remembered(&wanted)) {
        st = document_look(op, &wanted.wish, &wanted.look);
        if (st == AZ_OK && (wanted.look.good || wanted.look.kept))
            wanted_take_kept(&wanted);
    }
    *ret = wanted.document;
    return st;
}

enum az_status
documents_prune(struct op *op)
{
    static const enum document_kind bounded[] = {DOCUMENT_CLIENT_KEYS, DOCUMENT_CLIENT_METADATA};
    enum az_status st = document_forget(op, FORGET_DAYS);
    for (size_t i = 0; i < sizeof(bounded) / sizeof(bounded[0]) && st == AZ_OK; i++)
        st = document_evict(op, limits_of(op->az->cfg, bounded[i]).word, DOCUMENTS_MAX);
    return st;
}

enum az_status
document_check_fresh(struct op *op, enum document_kind kind, const char *url)
{
    struct wanted wanted = {.op = op, .limits = limits_of(op->az->cfg, kind), .url = url};
    const char *since = NULL, *failure = NULL;
    enum az_status st = wish_make(&wanted, 0);
    if (st == AZ_OK)
        st = document_failing(op, &wanted.wish, STALE_INTERVALS - 1, wanted.limits.most, &since,
                              &failure);
    if (st != AZ_OK || since == NULL)
        return st;
    const char *detail = failure != NULL ? strchr(failure, '\n') : NULL;
    return op_fail(op, AZ_UNAVAILABLE, NULL, "no fetch of %.160s has succeeded since %s: %s", url,
                   since, detail != NULL ? detail + 1 : "it is being fetched");
}
