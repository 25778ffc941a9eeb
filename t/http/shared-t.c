#include "config.h"

#include "http/shared.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "tap.h"

/* A moment at which both a window of 60 s and one of 3600 s begin. */
#define START 1795258800L
#define WINDOW 60L

static struct shared *
open_at(TALLOC_CTX *mem, const char *dir)
{
    struct shared *shared = NULL;
    const char *why = "";
    if (shared_open(mem, dir, &shared, &why) != AZ_OK) {
        fprintf(stderr, "%s\n", why);
        exit(99);
    }
    return shared;
}

static bool
admit(struct shared *shared, const char *address, int64_t now, long limit)
{
    long after;
    return shared_rate_admit(shared, address, now, WINDOW, limit, &after);
}

/* Return how many of `count` requests are let in. */
static int
admitted(struct shared *shared, const char *address, int64_t now, long limit, int count)
{
    int in = 0;
    for (int i = 0; i < count; i++)
        in += admit(shared, address, now, limit);
    return in;
}

static void
refused_dir(TALLOC_CTX *mem, const char *dir, const char *name)
{
    struct shared *shared = NULL;
    const char *why = "";
    is_int(shared_open(mem, dir, &shared, &why), AZ_SERVER_ERROR, "refused: %s", name);
    ok(shared == NULL && strstr(why, "SVC_RUNTIME_DIR") != NULL && strstr(why, dir) != NULL,
       "... the reason names the setting and the directory");
}

static void
test_directory(TALLOC_CTX *mem)
{
    const char *base = env_directory(mem);
    const char *dir = talloc_asprintf(mem, "%s/run", base);
    const char *link = talloc_asprintf(mem, "%s/link", base);
    const char *file = talloc_asprintf(mem, "%s/file", base);
    struct stat info;
    open_at(mem, dir);
    ok(stat(dir, &info) == 0 && (info.st_mode & 07777) == 0700, "a missing directory is made 0700");
    const char *inner = talloc_asprintf(mem, "%s/shared", dir);
    ok(stat(inner, &info) == 0 && (info.st_mode & 07777) == 0600, "... and the file in it 0600");
    static const mode_t modes[] = {0701, 0704, 0710, 0740, 0750, 0755, 0777, 01777};
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        chmod(dir, modes[i]);
        refused_dir(mem, dir,
                    talloc_asprintf(mem, "a directory of mode 0%o (shared.h: closed to others)",
                                    (unsigned) modes[i]));
    }
    chmod(dir, 0700);
    ok(symlink(dir, link) == 0, "a link to a good directory");
    refused_dir(mem, link, "it: the owner of the link decides where it leads");
    close(open(file, O_CREAT | O_WRONLY, 0600));
    refused_dir(mem, file, "a file");
    refused_dir(mem, talloc_asprintf(mem, "%s/a/b", base), "a directory whose parent is missing");
    if (geteuid() == 0) {
        const char *other = talloc_asprintf(mem, "%s/other", base);
        ok(mkdir(other, 0700) == 0 && chown(other, 65534, 65534) == 0,
           "a directory of another user");
        refused_dir(mem, other, "it");
    }
    const char *trap = talloc_asprintf(mem, "%s/trap", base);
    mkdir(trap, 0700);
    ok(symlink(file, talloc_asprintf(mem, "%s/shared", trap)) == 0, "a link in place of the file");
    refused_dir(mem, trap, "it: nothing is written through a link");
    ok(stat(file, &info) == 0 && info.st_size == 0, "... and the file behind it is untouched");
}

static void
write_at(const char *path, const void *octets, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, octets, length) != (ssize_t) length || close(fd) != 0)
        exit(99);
}

/* A file that a crash or another version left behind is replaced, not read. */
static void
test_old_files(TALLOC_CTX *mem)
{
    const char *dir = env_directory(mem), *path = talloc_asprintf(mem, "%s/shared", dir);
    struct stat info;
    chmod(dir, 0700);
    struct shared *shared = open_at(mem, dir);
    is_int(admitted(shared, "192.0.2.1", START, 3, 4), 3, "three of four get in");
    talloc_free(shared);
    shared = open_at(mem, dir);
    is_int(admitted(shared, "192.0.2.1", START, 3, 1), 0, "the counters outlive a restart");
    talloc_free(shared);
    write_at(path, "garbage!", 8);
    shared = open_at(mem, dir);
    is_int(admitted(shared, "192.0.2.1", START, 3, 4), 3, "a file of another layout is replaced");
    talloc_free(shared);
    ok(stat(path, &info) == 0 && truncate(path, info.st_size - 1) == 0, "a file cut short");
    shared = open_at(mem, dir);
    is_int(admitted(shared, "192.0.2.1", START, 3, 4), 3,
           "... is replaced, not mapped past its end");
    talloc_free(shared);
    ok(unlink(path) == 0, "an empty file");
    write_at(path, "", 0);
    shared = open_at(mem, dir);
    is_int(admitted(shared, "192.0.2.1", START, 3, 4), 3, "... is replaced");
    talloc_free(shared);
}

static void
test_window(TALLOC_CTX *mem, struct shared *shared)
{
    static const long limits[] = {1, 2, 7, 1000};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        const char *address = talloc_asprintf(mem, "192.0.2.%zu", i + 1);
        is_int(admitted(shared, address, START, limits[i], (int) limits[i]), limits[i],
               "a limit of %ld: so many get in (specification 8)", limits[i]);
        is_int(admitted(shared, address, START, limits[i], 1), 0, "... one more does not");
        is_int(admitted(shared, address, START + WINDOW - 1, limits[i], 5), 0,
               "... up to the window's last second");
        is_int(admitted(shared, address, START + WINDOW, limits[i], (int) limits[i] + 1), limits[i],
               "... the next window is open, whatever was refused before (decisions.md \"Rate "
               "limit\")");
    }
    long after = 0;
    shared_rate_admit(shared, "192.0.2.9", START, WINDOW, 1, &after);
    is_int(after, WINDOW, "Retry-After at the window's beginning");
    shared_rate_admit(shared, "192.0.2.9", START + WINDOW - 1, WINDOW, 1, &after);
    is_int(after, 1, "... and in its last second: never 0");
    is_int(admitted(shared, "192.0.2.10", START + WINDOW, 2, 1)
               + admitted(shared, "192.0.2.10", START, 2, 2),
           2, "a clock a second behind counts in the same window");
    is_int(admitted(shared, "192.0.2.11", START + 1000 * WINDOW, 2, 2), 2,
           "a clock that ran ahead");
    is_int(admitted(shared, "192.0.2.11", START, 2, 3), 2, "... leaves no counter that never ends");
    is_int(admitted(shared, "192.0.2.12", START, 2, 3), 2, "two of three in a window of 60 s");
    int in = 0;
    for (int i = 0; i < 3; i++)
        in += shared_rate_admit(shared, "192.0.2.12", START, 3600, 2, &after);
    is_int(in, 2, "... another window length counts anew");
    is_int(admitted(shared, "192.0.2.13", START + ((int64_t) 1 << 20) * WINDOW, 1, 1), 1,
           "a window 2^20 windows ahead");
    is_int(admitted(shared, "192.0.2.13", START, 1, 1), 0,
           "... is the same number (20 bits): refused, never open");
}

/* clang-format off */
static const struct { const char *first, *second; bool same; const char *name; } pairs[] = {
    {"198.51.100.1", "198.51.100.1", true, "one IPv4 address"},
    {"198.51.100.3", "198.51.100.4", false, "two IPv4 addresses"},
    {"2001:db8:1:1::1", "2001:db8:1:1:ffff::1", true, "one IPv6 /64 (shared.h)"},
    {"2001:db8:1:2::1", "2001:db8:1:3::1", false, "two IPv6 /64"},
    {"2001:db8:2::1", "2001:db8:2:0:1::", true, "the same /64 in other words"},
    {"0.0.0.1", "::1", false, "IPv4 and IPv6 whose octets begin alike"},
    {NULL, NULL, true, "no address: all share one counter"},
    {"unix:", "nonsense", true, "what is no address is counted too, together"},
};
/* clang-format on */

static void
test_addresses(TALLOC_CTX *mem)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const char *dir = env_directory(mem);
        struct shared *shared = open_at(mem, dir);
        int in = admitted(shared, pairs[i].first, START, 1, 1)
                 + admitted(shared, pairs[i].second, START, 1, 1);
        is_int(in, pairs[i].same ? 1 : 2, "%s", pairs[i].name);
    }
}

/* The counter has 20 bits; a carry would change the window beside it and open the limit. */
static void
test_largest_limit(struct shared *shared)
{
    const long most = 1048575;
    long in = 0;
    for (long i = 0; i < most; i++)
        in += admit(shared, "203.0.113.1", START, most);
    is_int(in, most, "the largest SVC_RATE_LIMIT_REQUESTS: %ld get in", most);
    is_int(admitted(shared, "203.0.113.1", START, most, 3), 0, "... one more does not");
    is_int(admitted(shared, "203.0.113.1", START, most * 2, 3), 0,
           "... nor with a limit beyond the counter: it does not wrap");
}

/* More addresses than there are counters: the limit never fails open. */
static void
test_full(TALLOC_CTX *mem)
{
    enum { ADDRESSES = 200000, SLOTS = 65536 };
    struct shared *shared = open_at(mem, env_directory(mem));
    char address[32];
    int in = 0, again = 0;
    for (unsigned i = 0; i < ADDRESSES; i++) {
        snprintf(address, sizeof(address), "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
        in += admit(shared, address, START, 1);
    }
    ok(in > SLOTS * 9 / 10 && in <= SLOTS + 1,
       "%d addresses, one request each: %d get in, no more than there are counters and one for all "
       "the others",
       ADDRESSES, in);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(address, sizeof(address), "10.0.%u.%u", i >> 8 & 255, i & 255);
        again += admit(shared, address, START, 1);
    }
    is_int(again, 0, "... and an address that had a counter keeps it");
    in = 0;
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(address, sizeof(address), "11.0.%u.%u", i >> 8 & 255, i & 255);
        in += admit(shared, address, START + 2 * WINDOW, 1);
    }
    is_int(in, 1000, "the counters of an old window are free for newcomers");
    talloc_free(shared);
}

/* Exact across processes: together they admit as many as one would. */
static void
test_processes(TALLOC_CTX *mem)
{
    enum { PROCESSES = 8, EACH = 5000, LIMIT = 12345 };
    const char *dir = env_directory(mem);
    struct shared *shared = open_at(mem, dir);
    int channel[2], in = 0, part;
    if (pipe(channel) != 0)
        exit(99);
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            /* Each has its own mapping, as processes of different parents have. */
            part = admitted(open_at(NULL, dir), "192.0.2.1", START, LIMIT, EACH);
            _exit(write(channel[1], &part, sizeof(part)) != sizeof(part));
        }
    for (int i = 0; i < PROCESSES; i++) {
        if (read(channel[0], &part, sizeof(part)) != sizeof(part))
            exit(99);
        in += part;
        wait(NULL);
    }
    close(channel[0]);
    close(channel[1]);
    is_int(in, LIMIT, "%d processes at once: exactly the limit gets in (shared.h)", PROCESSES);
    is_int(admitted(shared, "192.0.2.1", START, LIMIT, 1), 0, "... and no request after them");
}

/* Start a process that takes a place and waits. Returns its id, or 0 if it got no place. */
static pid_t
start_holder(struct shared *shared, int limit)
{
    int channel[2];
    char took = 0;
    if (pipe(channel) != 0)
        exit(99);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        took = shared_place_take(shared, SHARED_LONG_POLL, limit) ? 'y' : 'n';
        if (write(channel[1], &took, 1) == 1 && took == 'y')
            pause();
        _exit(0);
    }
    if (read(channel[0], &took, 1) != 1)
        exit(99);
    close(channel[0]);
    close(channel[1]);
    if (took != 'y')
        waitpid(pid, NULL, 0);
    return took == 'y' ? pid : 0;
}

static void
test_holds(TALLOC_CTX *mem)
{
    struct shared *shared = open_at(mem, env_directory(mem));
    pid_t holders[3];
    ok(!shared_place_take(shared, SHARED_LONG_POLL, 0), "refused: no place at all");
    for (int i = 0; i < 3; i++)
        holders[i] = start_holder(shared, 3);
    ok(holders[0] > 0 && holders[1] > 0 && holders[2] > 0, "three places, three holders");
    ok(!shared_place_take(shared, SHARED_LONG_POLL, 3), "refused: a fourth (policy.md 2.2)");
    ok(start_holder(shared, 3) == 0, "... from another process too");
    kill(holders[1], SIGKILL);
    waitpid(holders[1], NULL, 0);
    ok(shared_place_take(shared, SHARED_LONG_POLL, 3),
       "the place of a killed holder is free again");
    ok(shared_place_take(shared, SHARED_LONG_POLL, 3), "a process that holds one has it already");
    pid_t fourth = start_holder(shared, 4);
    ok(fourth > 0, "... and takes no second: of four places one is free");
    ok(start_holder(shared, 4) == 0, "... and no more than one");
    shared_place_drop(shared, SHARED_LONG_POLL);
    shared_place_drop(shared, SHARED_LONG_POLL);
    holders[1] = start_holder(shared, 4);
    ok(holders[1] > 0, "a place that is dropped is free");
    ok(start_holder(shared, 4) == 0, "... dropping twice frees no other's");
    kill(fourth, SIGKILL);
    waitpid(fourth, NULL, 0);
    for (int i = 0; i < 3; i++) {
        kill(holders[i], SIGKILL);
        waitpid(holders[i], NULL, 0);
    }
    ok(shared_place_take(shared, SHARED_LONG_POLL, 1000000),
       "a limit beyond the table is no fault");
    shared_place_drop(shared, SHARED_LONG_POLL);
}

/* Browsers that pause after a failed redemption, and providers that were slow (fetch_places.h). */
static void
test_pauses(TALLOC_CTX *mem)
{
    struct shared *shared = open_at(mem, env_directory(mem));
    const uint64_t first = shared_name_number(shared, "first");
    int64_t now = START * 1000;
    shared_pause(shared, first, now, 1000);
    ok(shared_is_paused(shared, first, now + 999, 60000), "a number pauses");
    ok(!shared_is_paused(shared, first, now + 1000, 60000), "... until its time is over");
    ok(!shared_is_paused(shared, shared_name_number(shared, "other"), now, 60000),
       "... and no other one does");
    ok(!shared_is_paused(shared, first, now - 60000, 60000),
       "a pause that is longer than any can be does not count: the clock was set back");
    shared_pause(shared, first, now, 5000);
    ok(shared_is_paused(shared, first, now + 4000, 60000), "a later failure counts anew");
    for (int i = 0; i < 5000; i++)
        shared_pause(shared, shared_name_number(shared, talloc_asprintf(mem, "%d", i)), now, 5000);
    ok(shared_is_paused(shared, shared_name_number(shared, "4999"), now, 60000),
       "a table that is full takes new numbers");
    ok(shared_address_number(shared, "192.0.2.1") != shared_address_number(shared, "192.0.2.2"),
       "addresses have numbers of their own");
    ok(shared_address_number(shared, "2001:db8::1") == shared_address_number(shared, "2001:db8::2"),
       "... a /64 has one");
}

static bool
sign_in(struct shared *shared, const char *address, int64_t now)
{
    long after;
    return shared_sign_in_begin(shared, address, now, &after);
}

/* Sign-ins to the console (gateway-admin.md 3.9). */
static void
test_sign_ins(TALLOC_CTX *mem)
{
    struct shared *shared = open_at(mem, env_directory(mem));
    const int64_t now = 6000;
    long after = 0;
    int in = 0;
    for (int i = 0; i < SHARED_SIGN_INS_MAX; i++)
        in += sign_in(shared, "192.0.2.1", now);
    is_int(in, SHARED_SIGN_INS_MAX, "sign-ins: %d of an address may fail", SHARED_SIGN_INS_MAX);
    ok(!shared_sign_in_begin(shared, "192.0.2.1", now + 50, &after), "... one more is refused");
    is_int(after, 10, "... until the minute ends");
    ok(sign_in(shared, "192.0.2.2", now), "... another address is not");
    ok(sign_in(shared, "192.0.2.1", now + 60), "... nor is the same in the next minute");
    is_int(admitted(shared, "192.0.2.1", now, 3, 3), 3, "... requests are counted apart from them");
    for (int i = 0; i < 3 * SHARED_SIGN_INS_MAX; i++) {
        in = sign_in(shared, "192.0.2.3", now);
        shared_sign_in_good(shared, "192.0.2.3", now);
    }
    ok(in == 1, "sign-ins: those that did not fail are not counted");
    shared_sign_in_good(shared, "192.0.2.4", now);
    in = 0;
    for (int i = 0; i <= SHARED_SIGN_INS_MAX; i++)
        in += sign_in(shared, "192.0.2.4", now);
    is_int(in, SHARED_SIGN_INS_MAX, "... and no counter goes below zero");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    struct shared *shared = open_at(mem, env_directory(mem));
    test_directory(mem);
    test_old_files(mem);
    test_window(mem, shared);
    test_addresses(mem);
    test_largest_limit(shared);
    test_full(mem);
    test_processes(mem);
    test_holds(mem);
    test_pauses(mem);
    test_sign_ins(mem);
    talloc_free(mem);
    return done();
}
