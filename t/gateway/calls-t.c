/* Calls that can be cancelled: by the key of the call alone, and no call after it (gateway-admin.md
 * 1.13). */
#include "config.h"

#include "gateway/calls.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <talloc.h>
#include <unistd.h>

#include "tap.h"

static const unsigned char first[SHA256_OCTETS] = "first", second[SHA256_OCTETS] = "second";

static void
test_one(struct calls *calls)
{
    ok(!calls_cancel(calls, first), "no call, no cancellation");
    calls_begin(calls, first);
    ok(!calls_is_cancelled(calls), "a call begins");
    ok(!calls_cancel(calls, second), "another key is that of no call");
    ok(!calls_is_cancelled(calls), "... and does nothing");
    ok(calls_cancel(calls, first), "its own key is");
    ok(calls_is_cancelled(calls), "... and cancels it");
    calls_end(calls);
    ok(!calls_is_cancelled(calls), "a call that ended is not cancelled");
    ok(!calls_cancel(calls, first), "... and cannot be");
    calls_begin(calls, first);
    ok(!calls_is_cancelled(calls), "the next one of the same key is another call");
    calls_end(calls);
    calls_end(calls);
    calls_begin(calls, second);
    ok(calls_cancel(calls, second) && calls_is_cancelled(calls), "... and so is one of another");
    calls_end(calls);
}

/* Begin a call in a child, and return how it ends: 0 if it was cancelled. */
static void
test_other_process(struct calls *calls)
{
    int begun[2], status = 1;
    char octet = 0;
    if (pipe(begun) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        calls_begin(calls, first);
        (void) !write(begun[1], "b", 1);
        for (int i = 0; i < 1000 && !calls_is_cancelled(calls); i++)
            usleep(10000);
        _exit(calls_is_cancelled(calls) ? 0 : 2); /* in its call: the place is free all the same */
    }
    ok(read(begun[0], &octet, 1) == 1, "a call of another process");
    calls_begin(calls, second);
    ok(calls_cancel(calls, first), "is found by its key");
    ok(waitpid(pid, &status, 0) == pid && status == 0, "... and learns of it");
    ok(!calls_is_cancelled(calls), "... and no other process does");
    calls_end(calls);
}

/* As many processes as there are places, one after the other, which die in their calls and are not
 * waited for until the end: a zombie has a pid, and no place. */
static void
test_places(struct calls *calls)
{
    int failed = 0;
    for (int i = 0; i <= CALLS_MAX; i++) {
        siginfo_t info;
        pid_t pid = fork();
        if (pid == 0) {
            calls_begin(calls, first);
            _exit(calls_cancel(calls, first) && calls_is_cancelled(calls) ? 0 : 1);
        }
        failed += waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT) != 0 || info.si_status != 0;
    }
    is_int(failed, 0, "the places of %d processes that died are taken again", CALLS_MAX);
    while (wait(NULL) > 0)
        ;
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct calls *calls = calls_new(mem);
    ok(calls != NULL, "memory for calls");
    test_one(calls);
    test_other_process(calls);
    test_places(calls);
    calls_begin(NULL, first);
    calls_end(NULL);
    ok(!calls_cancel(NULL, first) && !calls_is_cancelled(NULL), "without memory nothing is done");
    talloc_free(mem);
    return done();
}
