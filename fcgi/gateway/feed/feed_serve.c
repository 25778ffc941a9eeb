#include "config.h"

#include "gateway/feed/feed_serve.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/log.h"
#include "gateway/feed/feed.h"
#include "gateway/process/gateway_process.h"
#include "gateway/relay/relay.h"
#include "gateway/upstream/upstream_call.h"
#include "store/db/db.h"
#include "store/gateway/resources.h"

/* Interval of the looks for URIs that are wanted, while there are some; what servers tell is
 * written as often. */
#define LOOK_MS 1000
/* Longest wait for the bell before the next look if the process is to stop: its signal may come
 * just before the wait. */
#define BELL_MS 1000

struct feeder {
    struct op *op;
    int bell;
    const unsigned char *name;
    struct feed *feed[FEEDS_MAX];
    size_t count;
    bool wanted; /* some URI is wanted, as far as is known */
};

static struct op
step_of(const struct feeder *feeder)
{
    struct op step = op_beside(feeder->op, talloc_new(feeder->op->mem));
    step.now_ms = clock_realtime_ms();
    return step;
}

/* ---- what is heard */

static const struct managed_resource *
find_resource(const struct managed_resources *all, int64_t id)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->item[i]->id == id && all->item[i]->subscriptions && all->item[i]->missing == NULL
            && all->item[i]->status != MANAGED_ERROR)
            return all->item[i];
    return NULL;
}

/* Return the feed of a resource, and make it if necessary; NULL: there is no room. */
static struct feed *
find_feed(struct feeder *feeder, int64_t resource)
{
    for (size_t i = 0; i < feeder->count; i++)
        if (feed_resource(feeder->feed[i]) == resource)
            return feeder->feed[i];
    struct feed *made = feeder->count < FEEDS_MAX ? feed_new(feeder->op->mem, resource) : NULL;
    if (made != NULL)
        feeder->feed[feeder->count++] = made;
    return made;
}

static void
tend_feed(const struct feeder *feeder, struct feed *feed, const struct managed_resource *resource,
          const struct feed_uri *uri, size_t count)
{
    struct op step = step_of(feeder);
    feed_tend(&step, feed, resource, uri, count);
    talloc_free(step.mem);
}

/* Let go of the feeds without work, once their servers know that nothing is wanted. */
static void
drop_feeds(struct feeder *feeder, const struct feed_work *work, const struct managed_resources *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < feeder->count; i++) {
        struct feed *feed = feeder->feed[i];
        const struct managed_resource *resource = find_resource(all, feed_resource(feed));
        bool has = false;
        for (size_t j = 0; j < work->count && !has; j++)
            has = work->uri[j].resource == feed_resource(feed);
        if (!has && resource != NULL)
            tend_feed(feeder, feed, resource, NULL, 0);
        if (resource != NULL && (has || !feed_is_idle(feed)))
            feeder->feed[kept++] = feed;
        else
            talloc_free(feed);
    }
    feeder->count = kept;
}

/* Let each feed do its work. */
static void
tend_feeds(struct feeder *feeder, const struct feed_work *work, const struct managed_resources *all)
{
    for (size_t from = 0, to; from < work->count && !*feeder->op->az->stopping; from = to) {
        int64_t id = work->uri[from].resource;
        const struct managed_resource *resource = find_resource(all, id);
        struct feed *feed = resource != NULL ? find_feed(feeder, id) : NULL;
        for (to = from; to < work->count && work->uri[to].resource == id; to++)
            continue;
        if (feed != NULL)
            tend_feed(feeder, feed, resource, &work->uri[from], to - from);
    }
}

/* Read which URIs are watched. A failure leaves everything as it is. */
static void
look(struct feeder *feeder)
{
    struct op step = step_of(feeder);
    struct feed_work work = {.count = 0};
    struct managed_resources all = {.count = 0};
    enum az_status st = feeds_take(&step, feeder->name, &work);
    if (st == AZ_OK && work.count + feeder->count > 0)
        st = resources_list(&step, &all);
    if (st == AZ_OK) {
        drop_feeds(feeder, &work, &all);
        tend_feeds(feeder, &work, &all);
        feeder->wanted = work.wanted || feeder->count > 0;
    } else {
        log_text(AZ_SEV_WARN, "gateway feeder", "not looked at: %s", step.fault.detail);
    }
    talloc_free(step.mem);
}

/* Write down what changed, for the relays of all hosts. What cannot be written is written later. */
static void
tell(struct feeder *feeder)
{
    struct op step = step_of(feeder);
    int64_t *id = talloc_array(step.mem, int64_t, FEEDS_MAX * FEED_URIS_MAX);
    size_t count = 0;
    for (size_t i = 0; id != NULL && i < feeder->count; i++)
        count += feed_changed(feeder->feed[i], id + count, FEED_URIS_MAX);
    if (count > 0 && feeds_tell(&step, id, count) == AZ_OK)
        for (size_t i = 0; i < feeder->count; i++)
            feed_settle(feeder->feed[i]);
    talloc_free(step.mem);
}

/* ---- the process */

/* Let servers tell, until the next look is due. */
static void
hear_all(const struct feeder *feeder)
{
    int64_t until = clock_monotonic_ms() + LOOK_MS;
    for (int64_t left = LOOK_MS; left > 0 && !*feeder->op->az->stopping;
         left = until - clock_monotonic_ms())
        if (!upstream_run(feeder->op->az, (int) left))
            poll(NULL, 0, (int) left);
}

/* Wait until something is wanted. */
static void
wait_for_bell(struct feeder *feeder)
{
    struct pollfd bell = {.fd = feeder->bell, .events = POLLIN};
    eventfd_t rings;
    if (feeder->op->az->db != NULL)
        db_close(feeder->op->az->db);
    while (!*feeder->op->az->stopping && poll(&bell, 1, BELL_MS) == 0)
        continue;
    feeder->wanted = eventfd_read(feeder->bell, &rings) == 0;
}

void
feed_serve(struct op *op)
{
    const struct relay_line *line = op->az->gateway->relay;
    struct feeder feeder = {
        .op = op, .bell = relay_bell(line), .name = relay_feeder(line), .wanted = true};
    prctl(PR_SET_NAME, "authz-feeder");
    while (!*op->az->stopping) {
        if (!feeder.wanted)
            wait_for_bell(&feeder);
        look(&feeder);
        if (feeder.wanted)
            hear_all(&feeder);
        tell(&feeder);
    }
    feeds_leave(op, feeder.name);
}
