#include "config.h"

#include "gateway/credential/kept_token.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/settings/settings.h"
#include "managed/managed.h"
#include "store/gateway/upstream_tokens.h"

/* Interval at which a token that another process fetches is read again, in milliseconds. */
#define POLL_MS 20

/* Fill the credential with a token; upstreamAuth says where it goes. */
static enum az_status
fill_token(struct op *op, const struct managed_auth *auth, const char *token,
           struct upstream_credential *ret)
{
    *ret = (struct upstream_credential){
        .header = auth->header != NULL ? auth->header : "Authorization",
        .value =
            upstream_credential_value(op, auth->scheme != NULL ? auth->scheme : "Bearer", token),
        .renewable = true};
    return ret->value != NULL ? AZ_OK : op_no_memory(op);
}

/* Read the stored token if it may be used; otherwise *ret_found is false. */
static enum az_status
find_token(struct op *op, const struct upstream_wish *wish, const unsigned char *owner,
           struct upstream_credential *ret, bool *ret_found)
{
    struct upstream_token token = {.token = NULL};
    *ret_found = false;
    enum az_status st = upstream_token_find(op, wish->resource, owner, TOKEN_EARLY_SECONDS, &token);
    if (st != AZ_OK || token.token == NULL)
        return st;
    if ((st = fill_token(op, &wish->resource->auth, token.token, ret)) != AZ_OK)
        return st;
    *ret_found = wish->refused == NULL || strcmp(ret->value, wish->refused) != 0;
    if (!*ret_found)
        upstream_credential_done(ret);
    return AZ_OK;
}

/* Fetch a token and store it; this process holds the lease and gives it back. Another process may
 * have stored a token between our read and our lease. */
static enum az_status
fetch_token(struct op *op, const struct upstream_wish *wish, const unsigned char *owner,
            kept_token_fetch_fn *fetch, void *arg, struct upstream_credential *ret)
{
    struct upstream_token token = {.token = NULL};
    bool found = false;
    enum az_status st = find_token(op, wish, owner, ret, &found);
    if (st == AZ_OK && !found)
        st = fetch(arg, &token);
    if (st == AZ_OK && !found && token.seconds > TOKEN_EARLY_SECONDS)
        st = upstream_token_store(op, wish->resource, owner, &token);
    else {
        const struct az_fault before = op->fault;
        az_fault_clear(&op->fault);
        enum az_status released = upstream_token_release(op, wish->resource, owner);
        if (st != AZ_OK || released == AZ_OK)
            op->fault = before;
        else
            st = released;
    }
    return st == AZ_OK && !found ? fill_token(op, &wish->resource->auth, token.token, ret) : st;
}

enum az_status
kept_token_get(struct op *op, const struct upstream_wish *wish, const unsigned char *owner,
               kept_token_fetch_fn *fetch, void *arg, struct upstream_credential *ret)
{
    const struct upstream_caller *caller = wish->caller;
    int64_t lease = op->az->cfg->safe_http_timeout + UPSTREAM_LEASE_MARGIN;
    int64_t end = clock_monotonic_ms() + lease * 1000;
    for (;;) {
        bool found = false, taken = false;
        enum az_status st = find_token(op, wish, owner, ret, &found);
        if (st != AZ_OK || found)
            return st;
        st = upstream_token_lease(op, wish->resource, owner, lease, &taken);
        if (st != AZ_OK || taken)
            return st == AZ_OK ? fetch_token(op, wish, owner, fetch, arg, ret) : st;
        if (clock_monotonic_ms() >= end
            || (caller != NULL && caller->gone != NULL && caller->gone(caller->arg)))
            return op_fail(op, AZ_BUSY, NULL, "another request fetches the token of resource %s",
                           wish->resource->name);
        nanosleep(&(struct timespec){0, POLL_MS * 1000000L}, NULL);
    }
}
