#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "http/fetch/documents_private.h"
#include "http/fetch/fetch_head.h"
#include "http/fetch/fetch_places.h"

/* Seconds by which a lease outlives the fetch, for the writes to the database. */
#define LEASE_MORE 1
/* Time between two looks at a document that another worker fetches, in milliseconds: first and
 * longest. */
#define LOOK_FIRST_MS 10
#define LOOK_MOST_MS 160

static int64_t
lifetime(const struct limits *limits, int64_t max_age)
{
    if (max_age < 0 || max_age > limits->most)
        return limits->most;
    return max_age > limits->least ? max_age : limits->least;
}

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
        return wanted_fail(wanted, FETCH_FAULT_HTTP, why);
    }
    if (!fetch_type_is_json(ret->content_type))
        return wanted_fail(wanted, FETCH_FAULT_HTTP, "its media type is not JSON");
    return AZ_OK;
}

/* End our lease by storing the fetched document. */
static enum az_status
keep_wanted(struct wanted *wanted, const unsigned char *lease, const struct fetch_answer *answer,
            json_t *json, const json_t *old)
{
    struct op *op = wanted->op;
    wanted->document = (struct document){
        .json = json, .fetched_ms = op->now_ms, .changed = old != NULL && !json_equal(old, json)};
    const struct limits *limits = &wanted->limits;
    int64_t seconds = lifetime(limits, limits->refresh_hint != NULL ? limits->refresh_hint(json)
                                                                    : answer->max_age);
    enum az_status st = document_keep(op, &wanted->wish, lease, answer->body, seconds,
                                      &wanted->document.fetched_ms);
    if (st == AZ_OK)
        wanted_remember(wanted, seconds);
    return st;
}

/* End our lease of the host. If that fails, the lease ends by its time. */
static void
end_host(struct wanted *wanted, const unsigned char *lease)
{
    struct op after = op_beside(wanted->op, wanted->op->mem);
    document_host_end(&after, wanted->host, lease);
}

/* Refuse a document that is older than the kept one. Once the kept one may not serve any more, an
 * older one is taken: the other server may have lost its count. */
static enum az_status
refuse_older(struct wanted *wanted, const json_t *json, const json_t *old)
{
    return wanted->limits.is_older != NULL && wanted->look.kept && old != NULL
                   && wanted->limits.is_older(json, old)
               ? wanted_fail(wanted, FETCH_FAULT_HTTP, "it is older than the one that is kept")
               : AZ_OK;
}

/* Fetch under our leases, and end them in any case. */
static enum az_status
fetch_leased(struct wanted *wanted, const unsigned char *lease, const char *before)
{
    /* The results of `after` do not count: if it fails, the lease ends by its time. */
    struct op after = op_beside(wanted->op, wanted->op->mem);
    struct fetch_answer answer;
    json_t *json = NULL, *old = NULL;
    if (before != NULL)
        jsonx_parse(wanted->op->mem, before, strlen(before), DOCUMENT_DEPTH_MAX, &old, NULL);
    enum az_status st = fetch_wanted(wanted, &answer);
    if (st == AZ_OK)
        st = wanted_read(wanted, answer.body, answer.length, &json);
    if (st == AZ_OK)
        st = refuse_older(wanted, json, old);
    if (st == AZ_OK) {
        st = keep_wanted(wanted, lease, &answer, json, old);
    } else {
        bool away = wanted->fault == FETCH_FAULT_CONNECT || wanted->fault == FETCH_FAULT_TIMEOUT;
        bool refused = wanted->fault == FETCH_FAULT_ADDRESS || wanted->fault == FETCH_FAULT_URL;
        document_fail(&after, &wanted->wish, lease, wanted_failure_dump(wanted),
                      away ? wanted->limits.pause_away : wanted->limits.pause, refused);
    }
    if (wanted->limits.bounded) {
        document_evict(&after, wanted->limits.word, DOCUMENTS_MAX);
        end_host(wanted, lease);
    }
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

/* Take the leases of the host and of the document. *ret_turn false: another document of the host is
 * being fetched. *ret_ours: the caller fetches, and ends both. */
static enum az_status
take_leases(struct wanted *wanted, const unsigned char *lease, bool *ret_turn, bool *ret_ours,
            const char **ret_before)
{
    struct op *op = wanted->op;
    long seconds = wanted->limits.timeout + LEASE_MORE;
    enum az_status st = AZ_OK;
    *ret_turn = true;
    if (wanted->limits.bounded)
        st = document_host_lease(op, wanted->host, seconds, lease, ret_turn);
    if (st != AZ_OK || !*ret_turn)
        return st;
    st = document_lease(op, &wanted->wish, seconds, lease, ret_ours, ret_before);
    if (wanted->limits.bounded && !*ret_ours)
        end_host(wanted, lease);
    return st;
}

/* Take what another worker has fetched since the last look, or its failure. *ret_ended: there is
 * one of them. */
static enum az_status
take_others(struct wanted *wanted, bool *ret_ended)
{
    enum az_status st = look_again(wanted);
    *ret_ended = true;
    if (st != AZ_OK || (wanted->look.good && wanted_take_kept(wanted)))
        return st;
    if (wanted->look.good)
        wanted_newer(wanted);
    if (wanted->look.failed)
        return wanted_failure_take(wanted);
    *ret_ended = false;
    return AZ_OK;
}

enum az_status
wanted_fetch_or_wait(struct wanted *wanted)
{
    int64_t began = clock_monotonic_ms(), most = wanted->limits.timeout * 1000;
    unsigned char lease[DOCUMENT_LEASE_OCTETS];
    if (random_nonce(lease, sizeof(lease)) != AZ_OK)
        return op_fail(wanted->op, AZ_SERVER_ERROR, NULL, "the random number generator failed");
    for (int ms = LOOK_FIRST_MS;; ms = ms < LOOK_MOST_MS ? ms * 2 : ms) {
        bool ours = false, turn = true, ended;
        const char *before = NULL;
        enum az_status st = AZ_OK;
        if (!wanted->look.leased)
            st = take_leases(wanted, lease, &turn, &ours, &before);
        if (st != AZ_OK)
            return st;
        if (ours)
            return fetch_leased(wanted, lease, before);
        if (!turn && clock_monotonic_ms() - began >= FETCH_WAIT_MS)
            return wanted_fail(wanted, FETCH_FAULT_BUSY, "another document of its host is fetched");
        if (wanted->look.leased)
            wanted->wish.seen = wanted->look.lease;
        if (wanted->look.leased || !turn)
            wait_ms(ms);
        if ((st = take_others(wanted, &ended)) != AZ_OK || ended)
            return st;
        if (clock_monotonic_ms() - began >= most || *wanted->op->az->stopping)
            return wanted_fail(wanted, FETCH_FAULT_TIMEOUT,
                               "another worker did not fetch it in time");
    }
}
