#include "config.h"

#include "policy/engine/shared_data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

/* The slot of the process that reads a revision; before it are those of the places. */
#define LOCK_READING SHARED_DATA_PLACES
/* The slot of the process that loads a plan. */
#define LOCK_TURN (LOCK_READING + 1)
/* Interval at which a process that waits looks again, in microseconds. */
#define LOOK_US 1000
/* Memory is taken from the system in pieces of this size, before it is written to: a process that
 * writes where none is left is killed. A multiple of the size of a page. */
#define PIECE (1 << 20)

/* The beginning of a place, written last by the process that reads the revision. A place without a
 * number is empty, or its process died. */
struct place_head {
    _Atomic uint64_t number; /* rises with each revision that is read */
    const struct rego_value *data;
    char revision[SHARED_DATA_NAME_MAX + 1];
};

/* A place that is being filled. The arena is first: its `grow` gets it. */
struct filling {
    struct rego_arena arena;
    struct shared_data *shared;
    size_t place;
};

static struct place_head *
head_of(const struct shared_data *shared, size_t place)
{
    return (struct place_head *) (void *) (shared->at + place * shared->place);
}

/* Use a place: no other process fills it then. False: one is filling it. */
static bool
use_place(struct shared_data *shared, size_t place)
{
    if (shared->uses[place] == 0 && !slot_share(shared->memory, (int64_t) place))
        return false;
    shared->uses[place]++;
    return true;
}

/* Give the memory of a place back, which is zero then. Only for the process that has it alone. */
static void
clear_place(struct shared_data *shared, size_t place)
{
    fallocate(shared->memory->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t) (place * shared->place), (off_t) shared->place);
}

/* Stop using a place. The last process that does so clears it. */
static void
leave_place(struct shared_data *shared, size_t place)
{
    if (--shared->uses[place] > 0)
        return;
    if (slot_take(shared->memory, (int64_t) place))
        clear_place(shared, place);
    slot_drop(shared->memory, (int64_t) place);
}

static void
clear_left(void *arg, int64_t number)
{
    clear_place(arg, (size_t) number);
}

/* Take an unused place for filling, and clear those of processes that died. -1: all are in use.
 * Only for the process that has LOCK_READING. */
static int64_t
take_unused(struct shared_data *shared)
{
    slots_clean(shared->memory, 0, SHARED_DATA_PLACES, clear_left, shared);
    return slot_take_one(shared->memory, 0, SHARED_DATA_PLACES, 0);
}

static int
destroy_tree(struct shared_tree *tree)
{
    leave_place(tree->shared, tree->place);
    return 0;
}

/* Return what a place holds if it is this revision (NULL: any), or NULL. */
static struct shared_tree *
tree_at(TALLOC_CTX *mem, struct shared_data *shared, size_t place, const char *revision)
{
    const struct place_head *head = head_of(shared, place);
    struct shared_tree *tree = NULL;
    if (atomic_load(&head->number) == 0 || !use_place(shared, place))
        return NULL;
    if (atomic_load(&head->number) > 0
        && (revision == NULL || strcmp(head->revision, revision) == 0))
        tree = talloc_zero(mem, struct shared_tree);
    if (tree == NULL) {
        leave_place(shared, place);
        return NULL;
    }
    *tree = (struct shared_tree){shared, place, head->revision, head->data};
    talloc_set_destructor(tree, destroy_tree);
    return tree;
}

static struct shared_tree *
find_tree(TALLOC_CTX *mem, struct shared_data *shared, const char *revision)
{
    struct shared_tree *tree = NULL;
    for (size_t i = 0; i < SHARED_DATA_PLACES && tree == NULL; i++)
        tree = tree_at(mem, shared, i, revision);
    return tree;
}

/* Return the place with the highest number, which is in *ret; 0: all are empty. */
static size_t
newest_place(const struct shared_data *shared, uint64_t *ret)
{
    size_t newest = 0;
    *ret = 0;
    for (size_t i = 0; i < SHARED_DATA_PLACES; i++) {
        uint64_t number = atomic_load(&head_of(shared, i)->number);
        if (number > *ret) {
            *ret = number;
            newest = i;
        }
    }
    return newest;
}

struct shared_tree *
shared_data_newest(TALLOC_CTX *mem, struct shared_data *shared)
{
    uint64_t number;
    size_t newest = newest_place(shared, &number);
    return number > 0 ? tree_at(mem, shared, newest, NULL) : NULL;
}

/* Take one more piece of the place for the arena. */
static bool
grow(struct rego_arena *arena, size_t octets)
{
    struct filling *filling = (struct filling *) (void *) arena;
    struct shared_data *shared = filling->shared;
    char *limit = shared->at + (filling->place + 1) * shared->place;
    size_t size = (octets + PIECE - 1) / PIECE * PIECE;
    if (size > (size_t) (limit - arena->end)
        || fallocate(shared->memory->fd, 0, (off_t) (arena->end - shared->at), (off_t) size) != 0)
        return false;
    arena->end += size;
    return true;
}

/* Read a revision into a place that this process has alone. False: it cannot be done. */
static bool
fill_place(struct shared_data *shared, size_t place, const char *revision, const char *text,
           size_t length)
{
    struct filling filling = {.shared = shared, .place = place};
    struct place_head *head = head_of(shared, place);
    uint64_t number;
    newest_place(shared, &number);
    rego_arena_init(&filling.arena, NULL, shared->place);
    filling.arena.grow = grow;
    filling.arena.at = filling.arena.end = (char *) head;
    if (mprotect(head, shared->place, PROT_READ | PROT_WRITE) != 0)
        return false;
    bool fits = rego_take(&filling.arena, sizeof(*head)) != NULL;
    const struct rego_value *data = fits ? rego_parse(&filling.arena, text, length) : NULL;
    bool read = data != NULL && data->type == REGO_OBJECT;
    if (read) {
        head->data = data;
        strcpy(head->revision, revision);
        atomic_store(&head->number, number + 1);
    }
    /* All others map a page when they first need it, and so does this process from now on. */
    madvise(head, shared->place, MADV_DONTNEED);
    return mprotect(head, shared->place, PROT_READ) == 0 && read;
}

/* Read a revision into an unused place. Only for the process that has LOCK_READING. */
static struct shared_tree *
make_tree(TALLOC_CTX *mem, struct shared_data *shared, const char *revision, const char *text,
          size_t length)
{
    int64_t unused = take_unused(shared);
    size_t place = (size_t) unused;
    if (unused < 0)
        return NULL;
    if (fill_place(shared, place, revision, text, length))
        return tree_at(mem, shared, place, revision); /* the slot becomes a shared one */
    clear_place(shared, place);
    slot_drop(shared->memory, unused);
    return NULL;
}

struct shared_tree *
shared_data_read(TALLOC_CTX *mem, struct shared_data *shared, const char *revision,
                 const char *text, size_t length)
{
    int64_t until = clock_monotonic_ms() + SHARED_DATA_WAIT_MS;
    if (strlen(revision) > SHARED_DATA_NAME_MAX)
        return NULL;
    for (;;) {
        struct shared_tree *tree = find_tree(mem, shared, revision);
        if (tree != NULL)
            return tree;
        if (slot_take(shared->memory, LOCK_READING))
            break;
        if (clock_monotonic_ms() > until)
            return NULL;
        usleep(LOOK_US);
    }
    struct shared_tree *tree = find_tree(mem, shared, revision);
    if (tree == NULL)
        tree = make_tree(mem, shared, revision, text, length);
    slot_drop(shared->memory, LOCK_READING);
    return tree;
}

struct shared_data *
shared_data_new(TALLOC_CTX *mem, size_t octets)
{
    struct shared_data *shared = talloc_zero(mem, struct shared_data);
    size_t place = (octets + PIECE - 1) / PIECE * PIECE, total = place * SHARED_DATA_PLACES;
    if (shared == NULL)
        return NULL;
    shared->place = place;
    shared->memory = host_file_memory(shared, "authz-policy", total);
    if (shared->memory == NULL || mprotect(shared->memory->at, total, PROT_READ) != 0) {
        int cause = errno;
        talloc_free(shared);
        errno = cause;
        return NULL;
    }
    shared->at = shared->memory->at;
    return shared;
}

bool
shared_data_begin_turn(const struct shared_data *shared)
{
    return slot_take(shared->memory, LOCK_TURN);
}

void
shared_data_end_turn(const struct shared_data *shared)
{
    slot_drop(shared->memory, LOCK_TURN);
}
