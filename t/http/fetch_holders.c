#include "config.h"

#include "http/fetch_holders.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "env.h"
#include "http/fetch/fetch_places.h"
#include "http/shared.h"
#include "tap.h"

struct az *
holder_pool(TALLOC_CTX *mem, const char *directory, const char *name, int workers)
{
    struct az *az = env_az(mem);
    const char *why = "";
    env_settings(az)->runtime_dir = directory;
    az->pool = name;
    az->pool_workers = workers;
    if (shared_open(az, directory, &az->shared, &why) != AZ_OK)
        fprintf(stderr, "%s\n", why);
    return az;
}

struct op
holder_op(TALLOC_CTX *mem, struct az *az, int address)
{
    struct op op = env_op(mem, az);
    op.address = talloc_asprintf(mem, "192.0.2.%d", address);
    op.now_ms = clock_realtime_ms();
    return op;
}

struct other
other_take(struct op *op, enum fetch_hosts hosts, const struct fetch_turn *turn)
{
    int told[2];
    struct other other = {.fault = FETCH_FAULT_OURS};
    other.pid = pipe(told) == 0 ? fork() : -1;
    if (other.pid == 0) {
        struct fetch_place place;
        enum fetch_fault fault = turn != NULL ? fetch_place_take_turn(op, turn, &place)
                                              : fetch_place_take(op, hosts, &place);
        if (write(told[1], &fault, sizeof(fault)) != sizeof(fault))
            _exit(1);
        pause();
        _exit(0);
    }
    if (read(told[0], &other.fault, sizeof(other.fault)) != sizeof(other.fault))
        ok(false, "another process asks for a place");
    close(told[0]);
    close(told[1]);
    if (other.fault != FETCH_OK)
        other_drop(&other);
    return other;
}

void
other_drop(struct other *other)
{
    if (other->pid > 0)
        holder_end(other->pid);
    other->pid = 0;
}

pid_t
hold_place(struct op *op, int ms)
{
    int told[2];
    char result = 0;
    pid_t pid = pipe(told) == 0 ? fork() : -1;
    if (pid == 0) {
        struct fetch_place place;
        result = fetch_place_take(op, FETCH_SAFE_HTTP, &place) == FETCH_OK ? 'y' : 'n';
        if (write(told[1], &result, 1) != 1)
            _exit(1);
        if (ms == HOLD_ON)
            pause();
        usleep((useconds_t) ms * 1000);
        _exit(0);
    }
    if (read(told[0], &result, 1) != 1 || result != 'y')
        ok(false, "a child takes a place");
    close(told[0]);
    close(told[1]);
    return pid;
}

void
holder_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
