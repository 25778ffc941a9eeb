#include "config.h"

#include "http/fetch/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/settings.h"
#include "crypto/digest.h"
#include "crypto/random.h"
#include "http/fetch/document_memory.h"
#include "http/fetch/fetch_head.h"
#include "http/fetch/fetch_places.h"
#include "store/clients/documents.h"

/* Nesting of a document: metadata and key sets have 3 or 4 levels. */
#define DEPTH_MAX 16
/* Longest discovery document and key set, in octets; those of the largest providers are under 20
 * kB. */
#define KEYS_MAX 65536
#define DAY 86400
/* Shortest time between two fetches of the same document for callers that need a newer one, in
 * seconds: tokens with invented key ids must not become requests to the issuer (oauth.md J8). */
#define AGAIN_AFTER 60
/* A host that timed out or refused the connection is not asked again for so long, in seconds. */
#define FAILED_PAUSE 5
/* Seconds by which a lease outlives the fetch, for the writes to the database. */
#define LEASE_MORE 1
/* Shortest life of a client's metadata, in seconds. Without it, a client that says no-store would
 * cause a fetch with each request. */
#define METADATA_FLOOR 60
/* Time between two looks at a document that another worker fetches, in milliseconds: first and
 * longest. */
#define LOOK_FIRST_MS 10
#define LOOK_MOST_MS 160
#define FORGET_DAYS 7
#define DOCUMENTS_MAX 10000

/* Limits of one kind of document. */
struct limits {
    const char *word;       /* its name in the database */
    enum fetch_hosts hosts; /* the settings whose exceptions hold */
    size_t max_octets;      /* of a document */
    long timeout;           /* of a fetch, seconds */
    int64_t least, most;    /* shortest and longest life, in seconds */
    int64_t grace;          /* longer life while it cannot be fetched, in seconds */
    bool bounded;           /* any client can name one, so DOCUMENTS_MAX applies */
};

/* State of one document_get(). */
struct wanted {
    struct op *op;
    struct limits limits;
    const char *url;
    document_check_fn *check;
    int64_t began; /* clock_monotonic_ms() */
    struct document_wish wish;
    struct document_look look;
    enum fetch_fault fault;
    struct document document;
};

static struct limits
limits_of(const struct settings *cfg, enum document_kind kind)
{
    long ttl = cfg->cimd_cache_ttl;
    switch (kind) {
    case DOCUMENT_DISCOVERY:
        return (struct limits){
            "discovery", FETCH_SAFE_HTTP, KEYS_MAX, cfg->safe_http_timeout, DAY, DAY, DAY, false};
    case DOCUMENT_KEYS:
        return (struct limits){
            "keys", FETCH_SAFE_HTTP, KEYS_MAX, cfg->safe_http_timeout, 3600, 3600, DAY, false};
    case DOCUMENT_CLIENT_METADATA:
        break;
    }
    return (struct limits){"client_metadata",
                           FETCH_CIMD,
                           (size_t) cfg->cimd_max_document_size,
                           cfg->cimd_fetch_timeout,
                           ttl < METADATA_FLOOR ? ttl : METADATA_FLOOR,
                           ttl,
                           0,
                           true};
}

static int64_t
lifetime(const struct limits *limits, int64_t max_age)
{
    if (max_age < 0 || max_age > limits->most)
        return limits->most;
    return max_age > limits->least ? max_age : limits->least;
}

static enum az_status
wish_make(struct wanted *wanted, int64_t not_before)
{
    struct document_wish *wish = &wanted->wish;
    char *text = talloc_asprintf(wanted->op->mem, "%s %s", wanted->limits.word, wanted->url);
    if (text == NULL || sha256(text, strlen(text), wish->key) != AZ_OK)
        return op_fail(wanted->op, AZ_SERVER_ERROR, NULL, "out of memory for a document");
    wish->kind = wanted->limits.word;
    wish->url = wanted->url;
    wish->not_before = not_before;
    wish->again = AGAIN_AFTER;
    wish->grace = wanted->limits.grace;
    return AZ_OK;
}

/* ---- a document's text */

/* Parse and check a document. AZ_UNAVAILABLE: it is not a JSON object; another status: `check`
 * returned it. */
static enum az_status
read_wanted(struct wanted *wanted, const char *body, size_t length, json_t **ret)
{
    struct op *op = wanted->op;
    const char *why = "it is not a JSON object";
    json_t *json = NULL;
    enum az_status st = jsonx_parse(op->mem, body, length, DEPTH_MAX, &json, &why);
    if (st == AZ_SERVER_ERROR)
        return op_fail(op, st, NULL, "out of memory for a document");
    if (st != AZ_OK || !json_is_object(json)) {
        wanted->fault = FETCH_FAULT_HTTP;
        return op_fail(op, AZ_UNAVAILABLE, NULL, "%s document %.160s: %s", wanted->limits.word,
                       wanted->url, why);
    }
    st = wanted->check != NULL ? wanted->check(op, wanted->url, json) : AZ_OK;
    if (st == AZ_OK)
        *ret = json;
    return st;
}

/* Remember a document for `seconds`, counted from before the database was asked. */
static void
remember_wanted(const struct wanted *wanted, int64_t seconds)
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

/* Take the document that the database keeps; false: none, or it does not pass the check. */
static bool
take_kept(struct wanted *wanted)
{
    json_t *json = NULL;
    const struct document_look *look = &wanted->look;
    struct az_fault before = wanted->op->fault;
    if (look->body == NULL)
        return false;
    az_fault_clear(&wanted->op->fault);
    if (read_wanted(wanted, look->body, strlen(look->body), &json) != AZ_OK) {
        wanted->op->fault = before;
        return false;
    }
    wanted->document = (struct document){.json = json, .fetched_ms = look->fetched_ms};
    remember_wanted(wanted, look->lasts);
    return true;
}

/* ---- failures */

/* Return a failure as text for the workers that wait for it: status, fetch_fault and public text in
 * the first line, the operator's text below. In ASCII, because a detail may quote octets that the
 * database refuses. */
static const char *
failure_dump(const struct wanted *wanted)
{
    const struct az_fault *fault = &wanted->op->fault;
    char *text = talloc_asprintf(wanted->op->mem, "%d %d %s\n%s", (int) fault->status,
                                 (int) wanted->fault, fault->public_text, fault->detail);
    for (char *c = text; c != NULL && *c != '\0'; c++)
        *c = (*c >= ' ' && *c <= '~') || *c == '\n' ? *c : '?';
    return text;
}

/* Fail as the fetch that we waited for failed; to ask the host again would be in vain. */
static enum az_status
failure_take(struct wanted *wanted)
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
    if (!wanted->look.kept || !take_kept(wanted))
        return st;
    wanted->fault = FETCH_OK;
    return AZ_OK;
}

static enum az_status
fail_with(struct wanted *wanted, enum fetch_fault fault, const char *why)
{
    wanted->fault = fault;
    return op_fail(wanted->op, fault == FETCH_FAULT_BUSY ? AZ_BUSY : AZ_UNAVAILABLE, NULL,
                   "%s document %.160s: %s", wanted->limits.word, wanted->url, why);
}

/* ---- the fetch */

static enum az_status
fetch_wanted(struct wanted *wanted, struct fetch_answer *ret)
{
    struct fetch_request request = {.hosts = wanted->limits.hosts,
                                    .url = wanted->url,
                                    .max_octets = wanted->limits.max_octets,
                                    .timeout = wanted->limits.timeout};
    char why[64];
    enum az_status st = fetch_in_place(wanted->op, &request, ret);
    wanted->fault = ret->fault;
    if (st != AZ_OK)
        return st;
    if (ret->status != 200) {
        snprintf(why, sizeof(why), "HTTP status %d", ret->status);
        return fail_with(wanted, FETCH_FAULT_HTTP, why);
    }
    if (!fetch_type_is_json(ret->content_type))
        return fail_with(wanted, FETCH_FAULT_HTTP, "its media type is not JSON");
    return AZ_OK;
}

/* End our lease by storing the fetched document. */
static enum az_status
keep_wanted(struct wanted *wanted, const unsigned char *lease, const struct fetch_answer *answer,
            json_t *json, const char *before)
{
    struct op *op = wanted->op;
    json_t *old = NULL;
    if (before != NULL)
        jsonx_parse(op->mem, before, strlen(before), DEPTH_MAX, &old, NULL);
    wanted->document = (struct document){
        .json = json, .fetched_ms = op->now_ms, .changed = old != NULL && !json_equal(old, json)};
    int64_t seconds = lifetime(&wanted->limits, answer->max_age);
    enum az_status st = document_keep(op, &wanted->wish, lease, answer->body, seconds,
                                      &wanted->document.fetched_ms);
    if (st == AZ_OK)
        remember_wanted(wanted, seconds);
    return st;
}

/* Fetch under our lease, and end the lease in any case. */
static enum az_status
fetch_leased(struct wanted *wanted, const unsigned char *lease, const char *before)
{
    /* The results of `after` do not count: a failure ends the lease later, by its time. */
    struct op after = {.mem = wanted->op->mem, .az = wanted->op->az, .now_ms = wanted->op->now_ms};
    struct fetch_answer answer;
    json_t *json = NULL;
    enum az_status st = fetch_wanted(wanted, &answer);
    if (st == AZ_OK)
        st = read_wanted(wanted, answer.body, answer.length, &json);
    if (st == AZ_OK) {
        st = keep_wanted(wanted, lease, &answer, json, before);
    } else {
        bool away = wanted->fault == FETCH_FAULT_CONNECT || wanted->fault == FETCH_FAULT_TIMEOUT;
        document_fail(&after, &wanted->wish, lease, failure_dump(wanted), away ? FAILED_PAUSE : 0);
    }
    if (wanted->limits.bounded)
        document_evict(&after, wanted->limits.word, DOCUMENTS_MAX);
    return st;
}

static void
wait_ms(int ms)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = ms * 1000000L};
    nanosleep(&time, NULL);
}

/* Look again. The body is sent once per lease, because a waiting worker looks often. */
static enum az_status
look_again(struct wanted *wanted)
{
    const char *body = wanted->look.body;
    enum az_status st = document_look(wanted->op, &wanted->wish, &wanted->look);
    if (st == AZ_OK && wanted->look.leased && wanted->look.body == NULL)
        wanted->look.body = body;
    return st;
}

/* The kept document passed an earlier check, or another caller's, but not this one: accept only
 * what is fetched later. */
static void
want_newer(struct wanted *wanted)
{
    wanted->wish.not_before = wanted->look.now_ms + 1;
    wanted->wish.again = 0;
    wanted->look.kept = false;
}

/* With a place taken: fetch, or wait for the worker that does. */
static enum az_status
fetch_or_wait(struct wanted *wanted)
{
    struct op *op = wanted->op;
    int64_t deadline = clock_monotonic_ms() + wanted->limits.timeout * 1000;
    unsigned char lease[DOCUMENT_LEASE_OCTETS];
    if (random_nonce(lease, sizeof(lease)) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    for (int ms = LOOK_FIRST_MS;; ms = ms < LOOK_MOST_MS ? ms * 2 : ms) {
        bool ours = false;
        const char *before = NULL;
        enum az_status st = AZ_OK;
        if (!wanted->look.leased)
            st = document_lease(op, &wanted->wish, wanted->limits.timeout + LEASE_MORE, lease,
                                &ours, &before);
        if (st != AZ_OK)
            return st;
        if (ours)
            return fetch_leased(wanted, lease, before);
        if (wanted->look.leased) {
            wanted->wish.seen = wanted->look.lease;
            wait_ms(ms);
        }
        if ((st = look_again(wanted)) != AZ_OK)
            return st;
        if (wanted->look.good && take_kept(wanted))
            return AZ_OK;
        if (wanted->look.good)
            want_newer(wanted);
        if (wanted->look.failed)
            return failure_take(wanted);
        if (clock_monotonic_ms() >= deadline || *op->az->stopping)
            return fail_with(wanted, FETCH_FAULT_TIMEOUT,
                             "another worker did not fetch it in time");
    }
}

/* Get a newer document than the one that is kept. */
static enum az_status
get_new(struct wanted *wanted)
{
    FETCH_PLACE_AUTO place = {.fd = -1};
    if (wanted->look.failed)
        return failure_take(wanted);
    enum fetch_fault fault = fetch_place_take(wanted->op, wanted->limits.hosts, &place);
    return fault == FETCH_OK ? fetch_or_wait(wanted)
                             : fail_with(wanted, fault, fetch_place_why(fault));
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
    if (wanted->look.good && take_kept(wanted)) {
        if (wanted->look.idle)
            st = document_touch(wanted->op, &wanted->wish);
        return st;
    }
    if (wanted->look.good)
        want_newer(wanted);
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
documents_prune(struct op *op)
{
    enum az_status st = document_forget(op, FORGET_DAYS);
    return st == AZ_OK ? document_evict(op, limits_of(op->az->cfg, DOCUMENT_CLIENT_METADATA).word,
                                        DOCUMENTS_MAX)
                       : st;
}
