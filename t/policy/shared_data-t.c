/* Data of revisions that processes share (decisions.md "Decisions in process"): read once,
 * unchanged while they are in use, given back afterwards, and no process that dies leaves anything
 * behind. */
#include "config.h"

#include "policy/engine/shared_data.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

/* Octets of a place, and bindings that fill most of it. */
#define PLACE (8 << 20)
#define BINDINGS 20000
/* Processes that ask at the same time. */
#define ASKERS 8
/* Processes that are killed while they read. */
#define KILLS 30

static TALLOC_CTX *mem;
static struct shared_data *shared;

/* A child process of which a step is asked, in turn, through pipes. */
struct child {
    pid_t pid;
    int to, from;
};

/* Return {"b":{"s0":"REVISION",...}} with so many members. */
static char *
make_text(const char *revision, int members)
{
    size_t each = strlen(revision) + sizeof("\"s000000\":\"\",");
    char *text = talloc_array(mem, char, (unsigned) ((size_t) members * each + 16)), *at = text;
    at = stpcpy(at, "{\"b\":{");
    for (int i = 0; i < members; i++)
        at += sprintf(at, "%s\"s%06d\":\"%s\"", i > 0 ? "," : "", i, revision);
    strcpy(at, "}}");
    return text;
}

/* True if the tree has all members, and each is the revision's. */
static bool
tree_is(const struct shared_tree *tree, const char *revision, uint32_t members)
{
    const struct rego_value *all = tree != NULL ? rego_get_text(tree->data, "b") : NULL;
    bool right = all != NULL && all->count == members && strcmp(tree->revision, revision) == 0;
    for (uint32_t i = 0; right && i < members; i++)
        right = strcmp(all->member[i].value->text, revision) == 0;
    return right;
}

static struct shared_tree *
read_text(const char *revision, const char *text)
{
    return shared_data_read(mem, shared, revision, text, strlen(text));
}

/* Start a process that reads a revision and tells where the tree is. It leaves the revision and
 * ends when it is told to. */
static struct child
child_start(const char *revision, int members)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        abort();
    struct child child = {fork(), to[1], from[0]};
    if (child.pid != 0) {
        close(to[0]);
        close(from[1]);
        return child;
    }
    char told;
    close(to[1]);
    struct shared_tree *tree = read_text(revision, make_text(revision, members));
    const struct rego_value *data = tree_is(tree, revision, (uint32_t) members) ? tree->data : NULL;
    bool fine = write(from[1], &data, sizeof(data)) == sizeof(data) && read(to[0], &told, 1) == 1;
    fine = fine && (data == NULL || tree_is(tree, revision, (uint32_t) members));
    talloc_free(tree);
    _exit(fine ? 0 : 1);
}

/* Return where the child has its tree; NULL: it has none, or a wrong one. */
static const struct rego_value *
child_tree(const struct child *child)
{
    const struct rego_value *data;
    return read(child->from, &data, sizeof(data)) == sizeof(data) ? data : NULL;
}

/* Let the child end. True if its tree was right to the end. */
static bool
child_end(const struct child *child)
{
    int status;
    bool told =
        write(child->to, "", 1) == 1; /* its end of the pipe is open in later children too */
    close(child->to);
    close(child->from);
    return told && waitpid(child->pid, &status, 0) == child->pid && WIFEXITED(status)
           && WEXITSTATUS(status) == 0;
}

/* Octets that the shared memory takes. */
static int64_t
octets_taken(void)
{
    struct stat stat;
    return fstat(shared->memory->fd, &stat) == 0 ? (int64_t) stat.st_blocks * 512 : -1;
}

static void
test_once(void)
{
    struct child first = child_start("r1", BINDINGS);
    const struct rego_value *tree = child_tree(&first);
    ok(tree != NULL, "a process reads a revision");
    struct shared_tree *newest = shared_data_newest(mem, shared);
    ok(newest != NULL && newest->data == tree && tree_is(newest, "r1", BINDINGS),
       "another process has it at the same place, without the text");
    struct child other = child_start("r1", BINDINGS);
    ok(child_tree(&other) == tree, "a third that brings the text has it there too");
    ok(child_end(&first) && tree_is(newest, "r1", BINDINGS),
       "it stays when the process that read it has ended");
    ok(child_end(&other) && octets_taken() > BINDINGS * 8, "it takes memory");
    talloc_free(newest);
    struct child last = child_start("r2", 1);
    ok(child_tree(&last) != NULL && child_end(&last), "another revision is read and left");
    ok(shared_data_newest(mem, shared) == NULL, "a revision that no process uses is gone");
    ok(octets_taken() <= SHARED_DATA_PLACES * 4096, "... and its memory is given back");
}

static void
test_at_once(void)
{
    struct child child[ASKERS];
    const struct rego_value *tree = NULL;
    unsigned had = 0, same = 0, right = 0;
    for (size_t i = 0; i < ASKERS; i++)
        child[i] = child_start("at-once", BINDINGS);
    for (size_t i = 0; i < ASKERS; i++) {
        const struct rego_value *one = child_tree(&child[i]);
        tree = tree != NULL ? tree : one;
        had += one != NULL;
        same += one == NULL || one == tree;
    }
    for (size_t i = 0; i < ASKERS; i++)
        right += child_end(&child[i]);
    printf("# %u of %d waited long enough for the one that reads\n", had, ASKERS);
    ok(had > 0 && same == ASKERS, "of processes that ask at once one reads");
    is_int(right, ASKERS, "... and those that waited have the whole tree");
}

static void
test_read_only(void)
{
    const char *text = "{\"b\":{}}";
    struct shared_tree *tree = read_text("read-only", text);
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* not that of a sanitizer */
        ((struct rego_value *) (uintptr_t) tree->data)->count = 7;
        _exit(0);
    }
    ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
       "a process cannot write to what it shares, the one that read it neither");
    ok(ftruncate(shared->memory->fd, 0) != 0 && tree->data->count == 1,
       "the memory cannot be cut off");
    talloc_free(tree);
}

/* More revisions than places: those in use stay, and the next process reads for itself. */
static void
test_all_in_use(void)
{
    struct child child[SHARED_DATA_PLACES];
    unsigned there = 0, right = 0;
    char name[16];
    for (size_t i = 0; i < SHARED_DATA_PLACES; i++) {
        snprintf(name, sizeof(name), "held-%zu", i);
        child[i] = child_start(name, 100);
        there += child_tree(&child[i]) != NULL;
    }
    is_int(there, SHARED_DATA_PLACES, "%d revisions can be in use", SHARED_DATA_PLACES);
    ok(read_text("one-more", "{}") == NULL, "one more has no place");
    struct shared_tree *tree = read_text("held-3", "{}");
    ok(tree_is(tree, "held-3", 100), "those in use can be had all the same");
    talloc_free(tree);
    right += child_end(&child[0]);
    ok((tree = read_text("one-more", "{}")) != NULL, "a place that was left is used again");
    for (size_t i = 1; i < SHARED_DATA_PLACES; i++)
        right += child_end(&child[i]);
    is_int(right, SHARED_DATA_PLACES, "no revision in use was changed");
    talloc_free(tree);
}

static void
test_uses(void)
{
    struct shared_tree *one = read_text("twice", "{\"b\":{}}"), *two = read_text("twice", "{}");
    ok(one != NULL && two != NULL && one->data == two->data, "a process uses a revision twice");
    talloc_free(one);
    struct child child = child_start("other", 1);
    ok(child_tree(&child) != NULL && two->data->count == 1 && child_end(&child),
       "... and the end of one use does not end the other");
    talloc_free(two);
}

/* clang-format off */
static const struct {
    const char *rule, *revision, *text;
} refused[] = {
    {"a text that is no JSON", "bad", "{\"b\":"},
    {"a text that is no object", "bad", "[1]"},
    {"an empty text", "bad", ""},
    {"a name one past the longest", "0123456789012345678901234567890123456789012345678901234567890123", "{}"},
};
/* clang-format on */

static void
test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        ok(read_text(refused[i].revision, refused[i].text) == NULL,
           "%s is left to the process itself", refused[i].rule);
    struct shared_tree *tree = read_text(refused[3].revision + 1, "{}");
    ok(tree != NULL && strlen(tree->revision) == SHARED_DATA_NAME_MAX, "the longest name is taken");
    talloc_free(tree);
    char *large = make_text("large", PLACE / 64);
    ok(read_text("large", large) == NULL, "a tree larger than a place is left to the process");
    ok(octets_taken() <= SHARED_DATA_PLACES * 4096, "... and leaves no memory behind");
    ok((tree = read_text("bad", "{\"b\":{}}")) != NULL,
       "the same name is read again from a better text");
    talloc_free(tree);
}

/* A process that reads is killed at any moment: the next one reads the revision whole. */
static void
test_killed(void)
{
    unsigned whole = 0, unfinished = 0;
    char name[16];
    for (unsigned i = 0; i < KILLS; i++) {
        snprintf(name, sizeof(name), "killed-%u", i);
        const char *text = make_text(name, BINDINGS);
        pid_t pid = fork();
        if (pid == 0) {
            read_text(name, text);
            _exit(0);
        }
        usleep(i * 300);
        kill(pid, SIGKILL);
        int status;
        waitpid(pid, &status, 0);
        unfinished += WIFSIGNALED(status);
        struct shared_tree *tree = read_text(name, text);
        whole += tree_is(tree, name, BINDINGS);
        talloc_free(tree);
    }
    printf("# %u of %d were killed before they ended\n", unfinished, KILLS);
    is_int(whole, KILLS, "a process that is killed while it reads keeps no other from it");
    ok(octets_taken() <= SHARED_DATA_PLACES * 4096, "... and its memory is given back");
}

static void
test_waits_a_bounded_time(void)
{
    int ready[2];
    char octet = 0;
    if (pipe(ready) != 0)
        abort();
    pid_t pid = fork();
    if (pid == 0) {
        if (slot_take(shared->memory, SHARED_DATA_PLACES) && write(ready[1], &octet, 1) == 1)
            pause();
        _exit(1);
    }
    bool stuck = read(ready[0], &octet, 1) == 1;
    ok(stuck && read_text("late", "{}") == NULL,
       "a process that reads and does not end is waited for %d ms", SHARED_DATA_WAIT_MS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    struct shared_tree *tree = read_text("late", "{}");
    ok(tree != NULL, "... and not after its death");
    talloc_free(tree);
}

static void
test_file_limit(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {PLACE, PLACE};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(shared_data_new(mem, PLACE) == NULL ? 0 : 1);
    }
    int status;
    ok(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a limit of file sizes leaves each process to itself, without a signal");
}

int
main(void)
{
    plan(0);
    mem = talloc_new(NULL);
    shared = shared_data_new(mem, PLACE);
    if (!ok(shared != NULL, "the memory is made"))
        return done();
    test_once();
    test_at_once();
    test_read_only();
    test_all_in_use();
    test_uses();
    test_refused();
    test_killed();
    test_waits_a_bounded_time();
    test_file_limit();
    talloc_free(mem);
    return done();
}
