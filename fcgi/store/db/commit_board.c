#include "config.h"

#include "store/db/commit_board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define STATE_MASK 0xffu
#define LEADER_SHIFT 8

static uint32_t
word_of(enum commit_state state, uint32_t leader)
{
    return (uint32_t) state | leader << LEADER_SHIFT;
}

/* Return the first row of a lane, or the one behind its last, among the slots in use. */
static uint32_t
lane_first(enum commit_lane lane)
{
    return lane == LANE_LATER ? COMMIT_SLOTS : 0;
}

static uint32_t
lane_rows(const struct commit_seat *seat, enum commit_lane lane)
{
    uint32_t used = atomic_load(&seat->board->used);
    return (used < COMMIT_SLOTS ? used : COMMIT_SLOTS) * (lane == LANE_LATER ? COMMIT_LATER : 1);
}

/* The mapped file belongs to the processes of one host, so its futexes are not private ones. */
static void
futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* `lock` has the type, and gets what fcntl(2) says. */
static bool
lock_slot(const struct commit_seat *seat, int command, uint32_t slot, struct flock *lock)
{
    off_t at = (seat->board - seat->boards) * COMMIT_SLOTS + (off_t) slot;
    *lock = (struct flock){.l_type = lock->l_type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    return fcntl(seat->fd, command, lock) == 0;
}

bool
commit_slot_lives(const struct commit_seat *seat, uint32_t slot)
{
    struct flock lock = {.l_type = F_WRLCK};
    if (slot == seat->slot) /* our own locks are not shown to us */
        return true;
    return slot < COMMIT_SLOTS
           && (!lock_slot(seat, F_GETLK, slot, &lock) || lock.l_type != F_UNLCK);
}

/* Wipe what a row holds. Only for whoever may change it. Its kind goes first: a leader that dies
 * here has written the row. */
static void
wipe_row(struct commit_seat *seat, uint32_t row)
{
    struct commit_row *at = &seat->board->row[row];
    at->kind = 0;
    atomic_signal_fence(memory_order_seq_cst);
    explicit_bzero(at->data, at->length < COMMIT_ROW_MAX ? at->length : COMMIT_ROW_MAX);
}

static void
free_row(struct commit_seat *seat, uint32_t row)
{
    wipe_row(seat, row);
    atomic_store(&seat->board->word[row], ROW_FREE);
}

static uint32_t
row_owner(uint32_t row)
{
    return row < COMMIT_SLOTS ? row : (row - COMMIT_SLOTS) / COMMIT_LATER;
}

/* Settle the rows that the last process of our slot took as a leader. */
static void
settle_left(struct commit_seat *seat, enum commit_lane lane)
{
    for (uint32_t i = 0; i < lane_rows(seat, lane); i++) {
        uint32_t row = lane_first(lane) + i, word = atomic_load(&seat->board->word[row]);
        if (word == word_of(ROW_ABANDONED, seat->slot))
            free_row(seat, row);
        else if (word == word_of(ROW_TAKEN, seat->slot)
                 && atomic_compare_exchange_strong(&seat->board->word[row], &word,
                                                   word_of(ROW_UNSURE, seat->slot)))
            futex_wake(&seat->board->word[row]);
    }
}

/* Clean up after the last process of our slot, which died. */
static void
take_over(struct commit_seat *seat)
{
    uint32_t row = seat->slot, word = atomic_load(&seat->board->word[row]);
    while ((word & STATE_MASK) != ROW_ABANDONED) {
        /* Nobody waits for that answer. A leader that has the row frees it. */
        bool taken = (word & STATE_MASK) == ROW_TAKEN && word >> LEADER_SHIFT != seat->slot;
        uint32_t next = taken ? word_of(ROW_ABANDONED, word >> LEADER_SHIFT) : ROW_ALONE;
        if (!atomic_compare_exchange_strong(&seat->board->word[row], &word, next))
            continue;
        if (!taken)
            free_row(seat, row);
        break;
    }
    for (enum commit_lane lane = 0; lane < LANES; lane++) {
        settle_left(seat, lane);
        if (atomic_load(&seat->board->leader[lane]) == seat->slot + 1)
            commit_release(seat, lane);
    }
}

/* Take the lock of the first slot that is free on the boards from `first` to before `end`. */
static bool
lock_free_slot(struct commit_seat *seat, uint32_t first, uint32_t end)
{
    struct flock lock = {.l_type = F_WRLCK};
    seat->pid = getpid();
    for (seat->slot = 0; seat->slot < COMMIT_SLOTS; seat->slot++)
        for (uint32_t i = first; i < end; i++) {
            seat->board = &seat->boards[i];
            if (lock_slot(seat, F_SETLK, seat->slot, &lock))
                return true;
        }
    return false;
}

/* Claim a slot on these boards, and clean up after its last process. */
static bool
take_slot(struct commit_seat *seat, uint32_t first, uint32_t end)
{
    if (!lock_free_slot(seat, first, end))
        return false;
    uint32_t used = atomic_load(&seat->board->used);
    while (used <= seat->slot
           && !atomic_compare_exchange_weak(&seat->board->used, &used, seat->slot + 1))
        continue;
    take_over(seat);
    return true;
}

bool
commit_claimed(const struct commit_seat *seat)
{
    return seat->pid == getpid() && seat->slot < COMMIT_SLOTS;
}

bool
commit_claim(struct commit_seat *seat)
{
    /* A process that found no free slot does not look again. */
    return seat->pid == getpid() ? seat->slot < COMMIT_SLOTS : take_slot(seat, 0, seat->count);
}

bool
commit_claim_on(struct commit_seat *seat, uint32_t board)
{
    return take_slot(seat, board, board + 1);
}

void
commit_leave(struct commit_seat *seat)
{
    struct flock lock = {.l_type = F_UNLCK};
    if (commit_claimed(seat))
        lock_slot(seat, F_SETLK, seat->slot, &lock);
    seat->pid = 0;
}

enum commit_state
commit_state_of(const struct commit_seat *seat, uint32_t row, uint32_t *ret_leader)
{
    uint32_t word = atomic_load(&seat->board->word[row]);
    *ret_leader = word >> LEADER_SHIFT;
    return (enum commit_state)(word & STATE_MASK);
}

uint32_t
commit_free_row(struct commit_seat *seat, enum commit_lane lane)
{
    uint32_t count = lane == LANE_LATER ? COMMIT_LATER : 1, leader;
    uint32_t first = lane_first(lane) + seat->slot * count;
    for (uint32_t row = first; row < first + count; row++) {
        enum commit_state state = commit_state_of(seat, row, &leader);
        if (state == ROW_ABANDONED && !commit_slot_lives(seat, leader)) {
            free_row(seat, row);
            state = ROW_FREE;
        }
        if (state == ROW_FREE)
            return row;
    }
    return COMMIT_BOARD_ROWS;
}

void
commit_publish(struct commit_seat *seat, uint32_t row)
{
    atomic_store(&seat->board->word[row], ROW_WAITING);
}

bool
commit_turn(struct commit_seat *seat, uint32_t row, enum commit_state from, enum commit_state to)
{
    uint32_t word = atomic_load(&seat->board->word[row]);
    uint32_t leader = to == ROW_TAKEN ? seat->slot : word >> LEADER_SHIFT;
    uint32_t next = to == ROW_FREE ? ROW_ALONE : word_of(to, leader);
    if ((word & STATE_MASK) != from
        || !atomic_compare_exchange_strong(&seat->board->word[row], &word, next))
        return false;
    if (to == ROW_FREE)
        free_row(seat, row);
    return true;
}

void
commit_wait(struct commit_seat *seat, uint32_t row, enum commit_state state, int ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    uint32_t word = atomic_load(&seat->board->word[row]);
    if ((word & STATE_MASK) == state)
        syscall(SYS_futex, &seat->board->word[row], FUTEX_WAIT, word, &time, NULL, 0);
}

bool
commit_lead(struct commit_seat *seat, enum commit_lane lane, bool dying)
{
    _Atomic uint32_t *leader = &seat->board->leader[lane];
    uint32_t now = atomic_load(leader);
    int64_t age = clock_monotonic_ms() - atomic_load(&seat->board->since_ms[lane]);
    bool late = lane != LANE_LATER && age > COMMIT_LEAD_MS;
    bool open = now == 0 || (dying && (late || !commit_slot_lives(seat, now - 1)));
    if (now != seat->slot + 1
        && (!open || !atomic_compare_exchange_strong(leader, &now, seat->slot + 1)))
        return false;
    atomic_store(&seat->board->since_ms[lane], clock_monotonic_ms());
    return true;
}

bool
commit_leads(const struct commit_seat *seat, enum commit_lane lane)
{
    return atomic_load(&seat->board->leader[lane]) == seat->slot + 1 && seat->pid == getpid();
}

bool
commit_lead_with(struct commit_seat *seat, uint32_t row, enum commit_state state, bool dying)
{
    if (state == ROW_CHOSEN ? !commit_leads(seat, LANE_NOW) : !commit_lead(seat, LANE_NOW, dying))
        return false;
    if (commit_turn(seat, row, state, ROW_TAKEN))
        return true;
    /* The other leader took the row, or chose this process. */
    commit_release(seat, LANE_NOW);
    return false;
}

/* Take a row if it is of this kind and in these partitions. */
static bool
take_row(struct commit_seat *seat, uint32_t row, const struct commit_row *like)
{
    const struct commit_row *at = &seat->board->row[row];
    uint32_t word = ROW_WAITING, taken = word_of(ROW_TAKEN, seat->slot);
    if (atomic_load(&seat->board->word[row]) != ROW_WAITING
        || !atomic_compare_exchange_strong(&seat->board->word[row], &word, taken))
        return false;
    if (like == NULL
        || (at->kind == like->kind && at->bucket == like->bucket && at->day == like->day))
        return true;
    atomic_compare_exchange_strong(&seat->board->word[row], &taken, ROW_WAITING);
    return false;
}

size_t
commit_take(struct commit_seat *seat, enum commit_lane lane, uint32_t first,
            uint32_t ret[COMMIT_BATCH_MAX])
{
    uint32_t rows = lane_rows(seat, lane), begin = lane_first(lane);
    uint32_t per = lane == LANE_LATER ? COMMIT_LATER : 1;
    size_t count = 0;
    if (first < COMMIT_BOARD_ROWS)
        ret[count++] = first;
    /* The rows behind our slot come first, so that no process waits for ever. */
    for (uint32_t i = 0; i < rows && count < COMMIT_BATCH_MAX; i++) {
        uint32_t row = begin + (seat->slot * per + i) % rows;
        if (take_row(seat, row, count > 0 ? &seat->board->row[ret[0]] : NULL))
            ret[count++] = row;
    }
    return count;
}

size_t
commit_take_left(struct commit_seat *seat, uint32_t ret[COMMIT_BATCH_MAX])
{
    size_t count = 0;
    for (uint32_t i = 0; i < lane_rows(seat, LANE_LATER) && count < COMMIT_BATCH_MAX; i++) {
        uint32_t row = lane_first(LANE_LATER) + i, word = atomic_load(&seat->board->word[row]);
        enum commit_state state = (enum commit_state)(word & STATE_MASK);
        /* We lead, so a leader that took a row and is not us has died. */
        if (state != ROW_UNSURE && (state != ROW_TAKEN || word == word_of(ROW_TAKEN, seat->slot)))
            continue;
        if (atomic_compare_exchange_strong(&seat->board->word[row], &word,
                                           word_of(ROW_TAKEN, seat->slot)))
            ret[count++] = row;
    }
    return count;
}

void
commit_settle_row(struct commit_seat *seat, uint32_t row, enum commit_state state)
{
    uint32_t word = word_of(ROW_TAKEN, seat->slot);
    if (row >= COMMIT_SLOTS
        || !atomic_compare_exchange_strong(&seat->board->word[row], &word,
                                           word_of(state, seat->slot)))
        free_row(seat, row);
    else if (row != seat->slot)
        futex_wake(&seat->board->word[row]);
}

/* Pass the lead to a process that waits. */
static bool
pass_lead(struct commit_seat *seat)
{
    uint32_t rows = lane_rows(seat, LANE_NOW);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t row = (seat->slot + 1 + i) % rows, word = ROW_WAITING;
        if (row == seat->slot || atomic_load(&seat->board->word[row]) != ROW_WAITING
            || !commit_slot_lives(seat, row_owner(row))
            || !atomic_compare_exchange_strong(&seat->board->word[row], &word, ROW_CHOSEN))
            continue;
        atomic_store(&seat->board->since_ms[LANE_NOW], clock_monotonic_ms());
        atomic_store(&seat->board->leader[LANE_NOW], row + 1);
        futex_wake(&seat->board->word[row]);
        return true;
    }
    return false;
}

/* True if a process that lives waits for its row: it may have seen our lead before we gave it
 * back. */
static bool
one_waits(const struct commit_seat *seat)
{
    for (uint32_t row = 0; row < lane_rows(seat, LANE_NOW); row++)
        if (row != seat->slot && atomic_load(&seat->board->word[row]) == ROW_WAITING
            && commit_slot_lives(seat, row))
            return true;
    return false;
}

void
commit_release(struct commit_seat *seat, enum commit_lane lane)
{
    bool passes = lane == LANE_NOW;
    do {
        uint32_t self = seat->slot + 1;
        if (passes && pass_lead(seat))
            return;
        atomic_compare_exchange_strong(&seat->board->leader[lane], &self, 0);
    } while (passes && one_waits(seat) && commit_lead(seat, lane, false));
}

bool
commit_later_waits(const struct commit_seat *seat)
{
    uint32_t leader;
    for (uint32_t i = 0; i < lane_rows(seat, LANE_LATER); i++)
        if (commit_state_of(seat, lane_first(LANE_LATER) + i, &leader) != ROW_FREE)
            return true;
    return false;
}
