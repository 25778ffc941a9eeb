/* Slots that processes have: one rule of who lives (host/slot.h; decisions.md "Processes that
 * share"). A process that is killed, a zombie and a process that gets the pid of a dead owner own
 * nothing. The last needs the right to choose a pid (clone3(2), set_tid). */
#include "config.h"

#include "host/slot.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "tap.h"

#define MAGIC 0x736c6f742d74ULL
#define FAR (1LL << 52)

static struct host_file *file;

/* Start a process that takes (or shares) a slot and waits. 0: it did not get it. */
static pid_t
start(int64_t number, bool (*take)(struct host_file *, int64_t))
{
    int channel[2];
    char got = 'n';
    if (pipe(channel) != 0)
        exit(99);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        got = take(file, number) ? 'y' : 'n';
        if (write(channel[1], &got, 1) == 1 && got == 'y')
            pause();
        _exit(0);
    }
    if (read(channel[0], &got, 1) != 1)
        exit(99);
    close(channel[0]);
    close(channel[1]);
    if (got != 'y')
        waitpid(pid, NULL, 0);
    return got == 'y' ? pid : 0;
}

static void
end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void
test_one(int64_t number)
{
    ok(!slot_lives(file, number), "slot %lld: nobody has it", (long long) number);
    ok(slot_take(file, number) && slot_take(file, number), "a process takes it, and has it then");
    ok(slot_is_ours(file, number) && slot_lives(file, number), "... which the process knows");
    is_int(start(number, slot_take), 0, "... and no other gets it");
    is_int(start(number, slot_share), 0, "... not even shared");
    slot_drop(file, number);
    ok(!slot_is_ours(file, number) && !slot_lives(file, number), "it is given back");
    pid_t other = start(number, slot_take);
    ok(other > 0 && slot_lives(file, number), "another process takes it");
    ok(!slot_is_ours(file, number) && !slot_take(file, number) && errno == EAGAIN, "... alone");
    slot_drop(file, number);
    ok(slot_lives(file, number), "... and no other process can give it back");
    end(other);
    ok(!slot_lives(file, number), "a process that is killed owns nothing");
}

static void
test_shared(void)
{
    pid_t reader = start(3, slot_share);
    ok(reader > 0 && slot_share(file, 3), "two processes share a slot");
    ok(!slot_take(file, 3) && slot_is_ours(file, 3), "... so none has it alone, and both keep it");
    end(reader);
    ok(slot_take(file, 3), "... until the other is gone");
    ok(slot_share(file, 3) && (reader = start(3, slot_share)) > 0, "one alone becomes shared");
    end(reader);
    slot_drop(file, 3);
}

static void
test_child(void)
{
    int status = 1;
    slot_take(file, 5);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        bool right = !slot_is_ours(file, 5) && slot_lives(file, 5) && !slot_take(file, 5);
        slot_drop(file, 5);
        _exit(right && slot_lives(file, 5) ? 0 : 1);
    }
    ok(waitpid(pid, &status, 0) == pid && status == 0, "a child has no slot of its parent");
    ok(slot_lives(file, 5), "... and ends none of them");
    slot_drop(file, 5);
}

static void
test_zombie(void)
{
    pid_t owner = start(7, slot_take);
    siginfo_t info;
    kill(owner, SIGKILL);
    waitid(P_PID, (id_t) owner, &info, WEXITED | WNOWAIT);
    ok(kill(owner, 0) == 0 && !slot_lives(file, 7), "a zombie owns nothing, although it has a pid");
    waitpid(owner, NULL, 0);
}

/* Kill an owner, and let another process have its pid. */
static void
test_pid_again(void)
{
    pid_t owner = start(8, slot_take);
    end(owner);
    struct clone_args how = {
        .exit_signal = SIGCHLD, .set_tid = (uint64_t) (uintptr_t) &owner, .set_tid_size = 1};
    long pid = syscall(SYS_clone3, &how, sizeof(how));
    if (pid == 0) {
        pause();
        _exit(0);
    }
    if (pid < 0) {
        ok(true, "a pid that is used again # SKIP no right to choose one: %s", strerror(errno));
        return;
    }
    ok(pid == owner && kill(owner, 0) == 0, "another process gets the pid of a dead owner");
    ok(!slot_lives(file, 8) && slot_take(file, 8), "... and nothing that the owner had");
    slot_drop(file, 8);
    end(owner);
}

static void
note(void *arg, int64_t number)
{
    *(uint64_t *) arg |= 1ULL << number;
}

static void
test_clean(void)
{
    uint64_t cleaned = 0;
    pid_t alive = start(1, slot_take), dead = start(2, slot_take);
    slot_take(file, 0);
    end(dead);
    slots_clean(file, 0, 4, note, &cleaned);
    ok(cleaned == (1 << 2 | 1 << 3), "slots that no process has are cleaned, and no other");
    ok(slot_is_ours(file, 0) && !slot_lives(file, 2), "... and are free then");
    is_int(slot_take_one(file, 0, 3, 0), 2, "of three slots the free one is taken");
    is_int(slot_take_one(file, 0, 3, 0), -1, "... and none then");
    is_int(errno, EAGAIN, "... because all are taken");
    is_int(slot_take_one(file, 10, 4, 0), 13, "the last one is taken first");
    is_int(slot_take_one(file, 10, 4, 3), 10, "the search begins where it is told");
    is_int(slot_take_one(file, 10, 4, 3), 12, "... and goes on at the last");
    end(alive);
    for (int i = 0; i < 14; i++)
        slot_drop(file, i);
}

static void
test_most(void)
{
    int had = 0;
    for (int i = 0; i < HOST_SLOTS_MAX; i++)
        had += slot_take(file, 100 + i);
    is_int(had, HOST_SLOTS_MAX, "a process has %d slots", HOST_SLOTS_MAX);
    ok(!slot_take(file, 99) && errno == ENOLCK && !slot_lives(file, 99), "... and not one more");
    ok(slot_take(file, 100), "... but those that it has");
    for (int i = 0; i < HOST_SLOTS_MAX; i++)
        slot_drop(file, 100 + i);
    ok(slot_take(file, 99), "... until it gives one back");
    slot_drop(file, 99);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    const char *why;
    plan(0);
    if (host_file_open(mem, env_directory(mem), "slots", MAGIC, sizeof(struct host_head), &file,
                       &why)
        != AZ_OK)
        return 99;
    test_one(0);
    test_one(FAR);
    struct host_file *named = file;
    file = host_file_memory(mem, "authz-test", 4096);
    test_one(1);
    test_shared();
    test_child();
    test_zombie();
    test_pid_again();
    file = named;
    test_clean();
    test_most();
    talloc_free(mem);
    return done();
}
