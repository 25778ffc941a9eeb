/* Places of the gateway's workers for upstreams, which they count by locks on one file
 * (architecture.md 3). */
#include "config.h"

#include "gateway/upstream/room.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <talloc.h>
#include <unistd.h>

#include "base/clock.h"
#include "env.h"
#include "gateway/process/gateway_process.h"
#include "gateway/upstream/credential.h"
#include "http/shared.h"
#include "tap.h"

/* Workers of the pool of this test: four may wait, two for one client. */
#define WORKERS 5
/* Most milliseconds of a call that does not wait, on a busy machine. */
#define AT_ONCE_MS 500

static TALLOC_CTX *mem;
static struct az *az;
static volatile int stopping;

/* Return a caller: a client, and a person or NULL. */
static struct upstream_caller
caller_of(const char *client, const char *person)
{
    return (struct upstream_caller){.client_id = client, .subject = person, .idp = "idp"};
}

/* Return the status of one operation that asks for a place and gives it back. */
static enum az_status
ask_for(const char *resource, const char *client, const char *person, int64_t *ret_ms)
{
    struct op op = env_op(talloc_new(mem), az);
    int64_t began = clock_monotonic_ms();
    struct upstream_caller caller = caller_of(client, person);
    enum az_status st = upstream_room_keep(&op, resource, &caller);
    if (ret_ms != NULL)
        *ret_ms = clock_monotonic_ms() - began;
    talloc_free(op.mem);
    return st;
}

static enum az_status
ask(int64_t *ret_ms)
{
    return ask_for("r", "c", NULL, ret_ms);
}

/* Start another worker that takes a place and keeps it. Return its pid after it has answered. */
static pid_t
other_worker(const char *resource, const char *client, const char *person)
{
    int ready[2];
    char answer = 'n';
    if (pipe(ready) != 0)
        return -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        struct op op = env_op(talloc_new(mem), az);
        struct upstream_caller caller = caller_of(client, person);
        answer = upstream_room_keep(&op, resource, &caller) == AZ_OK ? 'y' : 'n';
        if (write(ready[1], &answer, 1) == 1)
            pause();
        _exit(0);
    }
    close(ready[1]);
    ok(read(ready[0], &answer, 1) == 1 && answer == 'y', "another worker waits for an upstream");
    close(ready[0]);
    return pid;
}

static void
end_worker(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static bool
has_file(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

/* ---- tests */

static void
test_count(void)
{
    static const int cases[][2] =
        {
            {1,   1  },
            {2,   1  },
            {3,   2  },
            {256, 255}
    },
                     shares[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 2}, {8, 3}, {256, 127}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        is_int(upstream_room(cases[i][0]), cases[i][1], "of %d workers %d may wait", cases[i][0],
               cases[i][1]);
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
        is_int(upstream_room_share(shares[i][0]), shares[i][1],
               "of %d workers %d may wait for one client", shares[i][0], shares[i][1]);
}

static void
test_other_pools(const char *path)
{
    az->pool = "core";
    is_int(ask(NULL), AZ_OK, "a worker of another pool needs no place");
    az->pool = "gateway";
    az->pool_workers = 1;
    is_int(ask(NULL), AZ_OK, "the only worker of the gateway needs none");
    az->pool_workers = WORKERS;
    az->shared = NULL;
    is_int(ask(NULL), AZ_OK, "a process that is no worker needs none");
    ok(!has_file(path), "... and none of them makes the file");
}

static void
test_limit(void)
{
    int64_t ms;
    pid_t first = other_worker("r1", "c1", NULL), more = other_worker("r2", "c2", NULL);
    pid_t third = other_worker("r1", "c1", NULL);
    struct op op = env_op(talloc_new(mem), az);
    struct upstream_caller caller = caller_of("c", NULL);
    is_int(upstream_room_keep(&op, "r", &caller), AZ_OK,
           "the last place but one, which is the limit, is given");
    is_int(upstream_room_keep(&op, "r", &caller), AZ_OK,
           "... and an operation that has it needs no other");
    talloc_free(op.mem);

    pid_t second = other_worker("r2", "c2", NULL);
    is_int(ask(&ms), AZ_BUSY, "one past the limit is refused");
    ok(ms >= UPSTREAM_ROOM_WAIT_MS && ms < 5 * UPSTREAM_ROOM_WAIT_MS,
       "... after the wait for another worker: %d ms", (int) ms);
    is_int(ask(&ms), AZ_BUSY, "the next one is refused");
    ok(ms < AT_ONCE_MS, "... at once: %d ms", (int) ms);

    end_worker(second);
    is_int(ask(&ms), AZ_OK, "a worker that dies gives its place back, also after a refusal");
    ok(ms < AT_ONCE_MS, "... at once: %d ms", (int) ms);

    second = other_worker("r2", "c2", NULL);
    stopping = 1;
    is_int(ask(&ms), AZ_BUSY, "a worker that stops is refused");
    ok(ms < AT_ONCE_MS, "... without a wait: %d ms", (int) ms);
    stopping = 0;
    end_worker(second);
    end_worker(first);
    end_worker(more);
    end_worker(third);
}

/* Of four places one client, one person and one resource hold two. */
static void
test_share(void)
{
    int64_t ms;
    pid_t one = other_worker("r1", "greedy", "p1"), two = other_worker("r2", "greedy", "p2");
    is_int(ask_for("r3", "greedy", "p3", &ms), AZ_BUSY,
           "one past the share of a client is refused");
    ok(ms >= UPSTREAM_ROOM_WAIT_MS && ms < 5 * UPSTREAM_ROOM_WAIT_MS, "... after a wait: %d ms",
       (int) ms);
    is_int(ask_for("r1", "other", "p1", &ms), AZ_OK, "... others are served");
    ok(ms < AT_ONCE_MS, "... at once: %d ms", (int) ms);
    end_worker(two);
    is_int(ask_for("r3", "greedy", "p3", &ms), AZ_OK,
           "... and it is, once a call of its has ended");

    two = other_worker("r1", "other", "p2");
    is_int(ask_for("r1", "third", "p3", NULL), AZ_BUSY, "one past the share of a resource");
    is_int(ask_for("r2", "third", "p3", NULL), AZ_OK, "... another resource is served");
    end_worker(two);

    two = other_worker("r2", "other", "p1");
    is_int(ask_for("r3", "third", "p1", NULL), AZ_BUSY, "one past the share of a person");
    is_int(ask_for("r3", "third", "p2", NULL), AZ_OK, "... another person is served");
    is_int(ask_for("r3", "third", NULL, NULL), AZ_OK, "... and a client of its own");
    is_int(ask_for("r3", "p1", NULL, NULL), AZ_OK, "a client is no person of the same name");
    end_worker(one);
    end_worker(two);
}

/* A greedy client must not hold the free workers while it waits. */
static void
test_greedy(void)
{
    int64_t ms;
    pid_t one = other_worker("r1", "greedy", NULL), two = other_worker("r2", "greedy", NULL);
    is_int(ask_for("r3", "greedy", NULL, NULL), AZ_BUSY,
           "a request past a share waits and is refused");
    is_int(ask_for("r3", "greedy", NULL, &ms), AZ_BUSY, "... the next one is");
    ok(ms < AT_ONCE_MS, "... at once: %d ms", (int) ms);
    is_int(ask_for("r3", "other", NULL, &ms), AZ_OK, "... and another client is served");
    is_int(ask_for("r4", "greedy", NULL, &ms), AZ_BUSY, "... which ends no refusal");
    ok(ms < AT_ONCE_MS, "... at once: %d ms", (int) ms);
    end_worker(one);
    is_int(ask_for("r3", "greedy", NULL, NULL), AZ_OK, "a share with room is given at once");
    end_worker(two);
}

/* Somebody else's link must not make us open, or create, another file. */
static void
test_link(const char *path)
{
    char *other = talloc_asprintf(mem, "%s/other", az->cfg->runtime_dir);
    unlink(path);
    az->gateway->room = NULL; /* as in a process that has not opened it */
    ok(symlink(other, path) == 0, "a symbolic link in place of the file");
    is_int(ask(NULL), AZ_SERVER_ERROR, "... is refused");
    ok(!has_file(other), "... and not followed");
}

int
main(void)
{
    mem = talloc_new(NULL);
    az = env_az(mem);
    env_settings(az)->runtime_dir = env_directory(mem);
    az->stopping = &stopping;
    az->shared = NULL;
    plan(0);
    char *path = talloc_asprintf(mem, "%s/gateway-room", az->cfg->runtime_dir);
    test_count();
    test_other_pools(path);
    const char *why = "";
    ok(shared_open(mem, az->cfg->runtime_dir, &az->shared, &why) == AZ_OK, "a key of hashes %s",
       why);
    test_limit();
    test_share();
    test_greedy();
    test_link(path);
    talloc_free(mem);
    return done();
}
