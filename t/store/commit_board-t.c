/* The board of shared commits: slots, leaders, and processes that die at any point (decisions.md
 * "Shared commits"). */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "env.h"
#include "store/db/commit_board.h"
#include "store/db/commit_row.h"
#include "tap.h"

static const struct commit_kind token = {.number = COMMIT_TOKEN, .types = "tbt"};
static const struct commit_kind audit = {.number = COMMIT_AUDIT, .types = "zu"};

struct command {
    enum { PUT, PUT_LATER, LEAD, TAKE, RELEASE, ABANDON } what;
    uint32_t bucket;
};

/* A process at the board that does what it is told, one octet of answer each. */
struct member {
    pid_t pid;
    int to, from;
    uint32_t slot;
};

static struct commit_seat
seat_new(TALLOC_CTX *mem)
{
    const char *path = talloc_asprintf(mem, "%s/commits", env_directory(mem));
    struct commit_seat seat = {.slot = COMMIT_SLOTS, .count = 1};
    seat.fd = open(path, O_RDWR | O_CREAT, 0600);
    seat.boards = mmap(NULL, COMMIT_BOARDS * sizeof(struct commit_board), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seat.fd < 0 || seat.boards == MAP_FAILED)
        exit(99);
    seat.board = seat.boards;
    return seat;
}

static uint32_t
put(struct commit_seat *seat, enum commit_lane lane, uint32_t bucket)
{
    struct db_params params = {.count = 0};
    uint32_t row = commit_free_row(seat, lane);
    if (row == COMMIT_BOARD_ROWS)
        return row;
    db_text(&params, "text");
    db_octets(&params, "ab", 2);
    db_text(&params, NULL);
    commit_row_write(&seat->board->row[row], &token, bucket, 1, &params);
    commit_publish(seat, row);
    return row;
}

/* Put a row as a leader does, which takes it before others. */
static uint32_t
put_taken(struct commit_seat *seat)
{
    uint32_t row = put(seat, LANE_NOW, 1);
    commit_turn(seat, row, ROW_WAITING, ROW_TAKEN);
    return row;
}

static bool
obey(struct commit_seat *seat, const struct command *command)
{
    uint32_t rows[COMMIT_BATCH_MAX];
    switch (command->what) {
    case PUT:
        return put(seat, LANE_NOW, command->bucket) < COMMIT_BOARD_ROWS;
    case PUT_LATER:
        return put(seat, LANE_LATER, command->bucket) < COMMIT_BOARD_ROWS;
    case LEAD:
        return commit_lead(seat, LANE_NOW, true) && commit_lead(seat, LANE_LATER, true);
    case TAKE:
        return commit_take(seat, LANE_NOW, COMMIT_BOARD_ROWS, rows)
                   + commit_take(seat, LANE_LATER, COMMIT_BOARD_ROWS, rows)
               > 0;
    case RELEASE:
        commit_release(seat, LANE_NOW);
        return true;
    case ABANDON:
        return commit_turn(seat, seat->slot, ROW_TAKEN, ROW_ABANDONED);
    }
    return false;
}

static struct member
member_new(struct commit_seat seat)
{
    int to[2], from[2];
    struct member member = {.slot = COMMIT_SLOTS};
    if (pipe(to) != 0 || pipe(from) != 0)
        exit(99);
    fflush(NULL);
    member.pid = fork();
    if (member.pid == 0) {
        struct command command;
        close(to[1]);
        close(from[0]);
        commit_claim(&seat);
        if (write(from[1], &seat.slot, sizeof(seat.slot)) != sizeof(seat.slot))
            _exit(1);
        while (read(to[0], &command, sizeof(command)) == sizeof(command)) {
            char did = obey(&seat, &command);
            if (write(from[1], &did, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(to[0]);
    close(from[1]);
    member.to = to[1];
    member.from = from[0];
    if (read(member.from, &member.slot, sizeof(member.slot)) != sizeof(member.slot))
        exit(99);
    return member;
}

static bool
tell(const struct member *member, int what, uint32_t bucket)
{
    const struct command command = {what, bucket};
    char did = 0;
    return write(member->to, &command, sizeof(command)) == sizeof(command)
           && read(member->from, &did, 1) == 1 && did;
}

static void
kill_member(struct member *member)
{
    kill(member->pid, SIGKILL);
    waitpid(member->pid, NULL, 0);
    close(member->to);
    close(member->from);
}

static enum commit_state
state_of(const struct commit_seat *seat, uint32_t row)
{
    uint32_t leader;
    return commit_state_of(seat, row, &leader);
}

static void
test_rows(void)
{
    static struct commit_row row, before;
    static char text[COMMIT_ROW_MAX];
    struct db_params params = {.count = 0}, read;
    db_text(&params, "a text");
    db_octets(&params, "\0\1", 2);
    db_text(&params, NULL);
    ok(commit_row_write(&row, &token, 7, 8, &params), "a row is written");
    ok(commit_row_read(&row, &token, &read) && read.count == 3, "... and read");
    is_str(read.value[0], "a text", "... its text");
    is_bin(read.value[1], (size_t) read.length[1], "\0\1", 2, "... its octets");
    ok(read.value[2] == NULL, "... and NULL");
    ok(!commit_row_read(&row, &audit, &read), "refused: a row of another kind");
    row.length--;
    ok(!commit_row_read(&row, &token, &read), "refused: a row that is cut short");
    row.length = COMMIT_ROW_MAX + 1;
    ok(!commit_row_read(&row, &token, &read), "refused: a length beyond the row");
    ok(!commit_row_write(&row, &audit, 7, 8, &params), "refused: parameters of another kind");
    /* Three lengths of 4 octets, a NUL, 2 octets. */
    memset(text, 'x', sizeof(text));
    text[COMMIT_ROW_MAX - 15] = '\0';
    params.value[0] = text;
    ok(commit_row_write(&row, &token, 7, 8, &params), "a row of %d octets fits", COMMIT_ROW_MAX);
    is_int(row.length, COMMIT_ROW_MAX, "... exactly");
    text[COMMIT_ROW_MAX - 15] = 'x';
    text[COMMIT_ROW_MAX - 14] = '\0';
    before = row;
    ok(!commit_row_write(&row, &token, 7, 8, &params), "refused: one octet more");
    ok(memcmp(&row, &before, sizeof(row)) == 0, "... and the row is as before");
    params.lost = true;
    params.value[0] = "";
    ok(!commit_row_write(&row, &token, 7, 8, &params), "refused: a parameter without memory");
}

static void
test_slots(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    struct member member[COMMIT_SLOTS];
    bool all = true;
    for (uint32_t i = 0; i < COMMIT_SLOTS; i++) {
        member[i] = member_new(seat);
        all = all && member[i].slot == i;
    }
    ok(all, "%d processes have a slot each", COMMIT_SLOTS);
    ok(!commit_claim(&seat), "refused: one process more, which writes alone");
    kill_member(&member[5]);
    seat.pid = 0;
    ok(commit_claim(&seat) && seat.slot == 5, "the slot of a killed process is free at once");
    ok(commit_slot_lives(&seat, 5) && commit_slot_lives(&seat, 6), "those of others are not");
    for (uint32_t i = 0; i < COMMIT_SLOTS; i++)
        if (i != 5)
            kill_member(&member[i]);
    ok(!commit_slot_lives(&seat, 6), "a slot whose process died is not in use");
    ok(!commit_slot_lives(&seat, COMMIT_SLOTS), "nor one that there is not");
}

static void
test_batches(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    uint32_t rows[COMMIT_BATCH_MAX], own;
    struct member member[COMMIT_BATCH_MAX];
    commit_claim(&seat);
    for (int i = 0; i < COMMIT_BATCH_MAX; i++) {
        member[i] = member_new(seat);
        tell(&member[i], PUT, 1);
    }
    ok(commit_lead(&seat, LANE_NOW, false), "a lane without a leader gets one at once");
    ok(!tell(&member[0], LEAD, 0), "... and no second one");
    own = put_taken(&seat);
    is_int((int64_t) commit_take(&seat, LANE_NOW, own, rows), COMMIT_BATCH_MAX,
           "a batch has %d rows of %d that wait", COMMIT_BATCH_MAX, COMMIT_BATCH_MAX + 1);
    is_int(rows[0], own, "... the leader's own first");
    uint32_t left = member[COMMIT_BATCH_MAX - 1].slot;
    is_int(state_of(&seat, left), ROW_WAITING, "... and one more waits");
    commit_settle_row(&seat, rows[1], ROW_NOTHING);
    commit_settle_row(&seat, rows[2], ROW_STORED);
    is_int(state_of(&seat, rows[1]), ROW_NOTHING, "each row ends for itself");
    is_int(state_of(&seat, rows[2]), ROW_STORED, "... the next one well");
    ok(tell(&member[2], ABANDON, 0), "a process stops waiting for a leader that has its row");
    commit_settle_row(&seat, rows[3], ROW_STORED);
    is_int(state_of(&seat, rows[3]), ROW_FREE, "... and the leader frees the row");
    commit_turn(&seat, own, ROW_TAKEN, ROW_FREE);
    is_int(seat.board->row[own].data[0], 0, "a row that is done is wiped");
    is_int(seat.board->row[own].kind, 0, "... and of no kind: nothing writes it again");
    commit_release(&seat, LANE_NOW);
    is_int(atomic_load(&seat.board->leader[LANE_NOW]), left + 1,
           "the lead goes to the process that waits");
    is_int(state_of(&seat, left), ROW_CHOSEN, "... which learns that");
    for (int i = 0; i < COMMIT_BATCH_MAX; i++)
        kill_member(&member[i]);
    ok(!commit_lead(&seat, LANE_NOW, false), "a lead is not taken without a look");
    ok(commit_lead(&seat, LANE_NOW, true), "the lead of a process that died is taken");
    commit_release(&seat, LANE_NOW);
    is_int(atomic_load(&seat.board->leader[LANE_NOW]), 0, "a lead without successor is given back");
}

static void
test_kinds(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    struct member same = member_new(seat), other = member_new(seat);
    uint32_t rows[COMMIT_BATCH_MAX];
    commit_claim(&seat);
    tell(&same, PUT, 1);
    tell(&other, PUT, 2);
    commit_lead(&seat, LANE_NOW, false);
    is_int((int64_t) commit_take(&seat, LANE_NOW, put_taken(&seat), rows), 2,
           "a batch has the rows of one partition");
    is_int(state_of(&seat, other.slot), ROW_WAITING, "... the others wait for their turn");
    commit_release(&seat, LANE_NOW);
    is_int(atomic_load(&seat.board->leader[LANE_NOW]), other.slot + 1, "... which is the next one");
    kill_member(&same);
    kill_member(&other);
}

/* One process leads with its own row, and one that was chosen takes no lead that is free. */
static void
test_chosen(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    struct member first = member_new(seat);
    uint32_t leader;
    commit_claim(&seat);
    tell(&first, LEAD, 0);
    uint32_t own = put(&seat, LANE_NOW, 1);
    ok(!commit_lead_with(&seat, own, ROW_WAITING, false),
       "refused: a second leader while one lives");
    commit_turn(&seat, own, ROW_WAITING, ROW_CHOSEN);
    atomic_store(&seat.board->leader[LANE_NOW], 0);
    ok(!commit_lead_with(&seat, own, ROW_CHOSEN, false),
       "a process that was chosen takes no lead that is free");
    ok(!commit_lead_with(&seat, own, ROW_WAITING, false)
           && atomic_load(&seat.board->leader[LANE_NOW]) == 0,
       "... also if it learns that after it has one, which it gives back");
    atomic_store(&seat.board->leader[LANE_NOW], seat.slot + 1);
    ok(commit_lead_with(&seat, own, ROW_CHOSEN, false), "... but the one that comes to it");
    is_int(commit_state_of(&seat, own, &leader) == ROW_TAKEN ? (int64_t) leader : -1, seat.slot,
           "... with its own row in its hands");
    ok(!commit_lead_with(&seat, own, ROW_WAITING, false) && !commit_leads(&seat, LANE_NOW),
       "a row that was taken is not led with, and the lead is given back");
    kill_member(&first);
}

/* A leader dies with rows in its hands; then a new process gets its slot. */
static void
test_dead_leader(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    struct member leader = member_new(seat);
    uint32_t rows[COMMIT_BATCH_MAX], later;
    commit_claim(&seat);
    uint32_t own = put(&seat, LANE_NOW, 1);
    later = put(&seat, LANE_LATER, 1);
    ok(tell(&leader, LEAD, 0) && tell(&leader, TAKE, 0), "a leader takes our rows");
    ok(!commit_turn(&seat, own, ROW_WAITING, ROW_FREE), "... which we cannot withdraw now");
    is_int(state_of(&seat, own), ROW_TAKEN, "... they are in its hands");
    kill(leader.pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t) leader.pid, &info, WEXITED | WNOWAIT);
    ok(!commit_slot_lives(&seat, leader.slot), "a zombie does not count as alive");
    kill_member(&leader);
    ok(commit_turn(&seat, own, ROW_TAKEN, ROW_UNSURE), "its rows are ours again");
    ok(commit_lead(&seat, LANE_LATER, true), "... and its lead");
    is_int((int64_t) commit_take_left(&seat, rows), 1, "a row for later is found");
    is_int(rows[0], later, "... the one that it had");
    commit_settle_row(&seat, later, ROW_STORED);
    ok(!commit_later_waits(&seat), "... and nothing is left");
    commit_turn(&seat, own, ROW_UNSURE, ROW_FREE);
    own = put(&seat, LANE_NOW, 1);
    put(&seat, LANE_LATER, 1);
    struct member second = member_new(seat);
    is_int(second.slot, leader.slot, "a new process gets the slot of the dead one");
    is_int(atomic_load(&seat.board->leader[LANE_NOW]), own + 1,
           "... and passes on the lead that was left there");
    commit_turn(&seat, own, ROW_CHOSEN, ROW_WAITING);
    commit_release(&seat, LANE_NOW);
    commit_release(&seat, LANE_LATER);
    ok(tell(&second, LEAD, 0) && tell(&second, TAKE, 0), "it leads in turn, and dies with rows");
    kill_member(&second);
    struct member third = member_new(seat);
    is_int(third.slot, second.slot, "the third process in that slot");
    is_int(state_of(&seat, own), ROW_UNSURE, "... has no part in the batch: its rows are unsure");
    commit_lead(&seat, LANE_LATER, true);
    is_int((int64_t) commit_take_left(&seat, rows), 1, "... those for later too");
    kill_member(&third);
}

/* A leader that lives and does not go on, as one that is stopped. */
static void
test_late_leader(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    struct member leader = member_new(seat);
    commit_claim(&seat);
    tell(&leader, LEAD, 0);
    ok(!commit_lead(&seat, LANE_NOW, true), "refused: the lead of a process that lives");
    for (enum commit_lane lane = 0; lane < LANES; lane++)
        atomic_fetch_sub(&seat.board->since_ms[lane], COMMIT_LEAD_MS + 1);
    ok(commit_lead(&seat, LANE_NOW, true), "... unless it has it for more than %d ms",
       COMMIT_LEAD_MS);
    ok(!commit_lead(&seat, LANE_LATER, true),
       "refused: the lead of rows that are written after their answers, for which nobody waits");
    kill_member(&leader);
}

/* A follower dies: its row stays or is dropped, and its slot can be used again. */
static void
test_dead_follower(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    uint32_t rows[COMMIT_BATCH_MAX];
    commit_claim(&seat);
    commit_lead(&seat, LANE_NOW, false);
    struct member member = member_new(seat);
    tell(&member, PUT, 1);
    is_int((int64_t) commit_take(&seat, LANE_NOW, put_taken(&seat), rows), 2, "two rows");
    kill_member(&member);
    member = member_new(seat);
    ok(!tell(&member, PUT, 1), "the next process in the slot writes alone while the leader has it");
    commit_settle_row(&seat, rows[1], ROW_STORED);
    ok(tell(&member, PUT, 1), "... and shares again afterwards");
    kill_member(&member);
    commit_release(&seat, LANE_NOW);
    is_int(atomic_load(&seat.board->leader[LANE_NOW]), 0, "no lead goes to a dead process");
    member = member_new(seat);
    ok(tell(&member, PUT, 1), "a row of which nobody awaits the answer is dropped");
    for (int i = 0; i < COMMIT_LATER; i++)
        ok(tell(&member, PUT_LATER, 1), "row %d for later", i + 1);
    ok(!tell(&member, PUT_LATER, 1), "refused: one more, which is sent alone");
    kill_member(&member);
    member = member_new(seat);
    commit_lead(&seat, LANE_LATER, true);
    is_int((int64_t) commit_take(&seat, LANE_LATER, COMMIT_BOARD_ROWS, rows), COMMIT_LATER,
           "rows for later outlive their process, and the next one in its slot");
    kill_member(&member);
}

/* A leader chooses a row and names its process in two steps. A process that withdraws its row
 * between them has the lead without a row, and gives it back. */
static void
test_withdrawn(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    commit_claim(&seat);
    ok(!commit_leads(&seat, LANE_NOW), "without a lead");
    struct member member = member_new(seat);
    tell(&member, LEAD, 0);
    uint32_t row = put(&seat, LANE_NOW, 1);
    ok(!commit_leads(&seat, LANE_NOW), "the lead of another process is not ours");
    tell(&member, RELEASE, 0);
    ok(commit_leads(&seat, LANE_NOW), "the lead that was passed to us is");
    ok(commit_turn(&seat, row, ROW_CHOSEN, ROW_WAITING)
           && commit_turn(&seat, row, ROW_WAITING, ROW_FREE),
       "the row is withdrawn");
    ok(commit_leads(&seat, LANE_NOW), "... and we still have the lead");
    commit_release(&seat, LANE_NOW);
    ok(!commit_leads(&seat, LANE_NOW) && tell(&member, LEAD, 0), "given back, another takes it");
    kill_member(&member);
}

/* The processes of a host are divided between its boards, and share with those of their own. */
static void
test_boards(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    uint32_t rows[COMMIT_BATCH_MAX];
    seat.count = COMMIT_BOARDS;
    commit_claim(&seat);
    struct member other = member_new(seat), same = member_new(seat);
    is_int(other.slot, 0, "the second process has the first slot of the next board");
    is_int(same.slot, 1, "... the one behind the boards' number shares ours");
    tell(&other, PUT, 1);
    tell(&same, PUT, 1);
    ok(tell(&other, LEAD, 0) && commit_lead(&seat, LANE_NOW, false), "each board has a leader");
    is_int((int64_t) commit_take(&seat, LANE_NOW, COMMIT_BOARD_ROWS, rows), 1,
           "a leader takes rows of its board alone");
    is_int(rows[0], same.slot, "... that of the process which shares it");
    kill_member(&other);
    struct member next = member_new(seat);
    is_int(next.slot, 0, "a process takes the slot of one that died on the other board");
    ok(commit_slot_lives(&seat, same.slot) && !commit_slot_lives(&seat, 2),
       "slots in use are those of one's own board");
    kill_member(&same);
    tell(&next, PUT_LATER, 1);
    kill_member(&next);
    seat.pid = 0; /* as a process that does not share */
    ok(!commit_claimed(&seat) && commit_claim_on(&seat, 0) && !commit_later_waits(&seat),
       "a process that does not share looks at each board: nothing waits on the first");
    commit_leave(&seat);
    ok(commit_claim_on(&seat, 1) && commit_later_waits(&seat),
       "... a row that was left on the next");
    commit_leave(&seat);
    ok(!commit_claimed(&seat), "... and it has no slot then");
    struct member first = member_new(seat), second = member_new(seat);
    ok(first.slot == 0 && second.slot == 0, "... so that both boards are free for others");
    ok(commit_claim(&seat) && seat.slot == 1 && seat.board == seat.boards,
       "... and it shares like any other later");
    kill_member(&first);
    kill_member(&second);
}

/* A process that sleeps on its row wakes when the leader is done with it. */
static void
test_wake(TALLOC_CTX *mem)
{
    struct commit_seat seat = seat_new(mem);
    commit_claim(&seat);
    uint32_t own = put(&seat, LANE_NOW, 1);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct commit_seat leader = seat;
        uint32_t rows[COMMIT_BATCH_MAX];
        commit_claim(&leader);
        commit_lead(&leader, LANE_NOW, false);
        commit_take(&leader, LANE_NOW, COMMIT_BOARD_ROWS, rows);
        usleep(50000);
        commit_settle_row(&leader, rows[0], ROW_STORED);
        _exit(0);
    }
    int64_t start = clock_monotonic_ms();
    for (enum commit_state state; (state = state_of(&seat, own)) != ROW_STORED;)
        commit_wait(&seat, own, state, 10000);
    ok(clock_monotonic_ms() - start < 5000, "a follower wakes when its row is done");
    start = clock_monotonic_ms();
    commit_wait(&seat, own, ROW_TAKEN, 10000);
    ok(clock_monotonic_ms() - start < 5000, "... and does not sleep if it is done already");
    start = clock_monotonic_ms();
    commit_wait(&seat, own, ROW_STORED, 30);
    ok(clock_monotonic_ms() - start >= 25, "... and for no longer than it wants");
    waitpid(pid, NULL, 0);
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_rows();
    test_slots(mem);
    test_batches(mem);
    test_kinds(mem);
    test_chosen(mem);
    test_dead_leader(mem);
    test_late_leader(mem);
    test_dead_follower(mem);
    test_withdrawn(mem);
    test_boards(mem);
    test_wake(mem);
    talloc_free(mem);
    return done();
}
