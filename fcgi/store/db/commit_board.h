/*
 * The board of shared commits: rows that the processes of one host write in one commit, in memory
 * that they share (decisions.md "Shared commits"). No SQL here. Each process has a slot, with one
 * row that its request waits for and a few that are written after their answers. In each lane one
 * process leads at a time: it takes rows, writes them and says how that ended.
 */
#ifndef AZ_STORE_DB_COMMIT_BOARD_H
#define AZ_STORE_DB_COMMIT_BOARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "store/db/db.h"

/* Boards of a host, between which its processes are divided. One board leaves processors idle while
 * its batch is written: with two /token is 12 % faster, at the same processor time. */
#define COMMIT_BOARDS 2

/* Processes that share a board at a time; one more than all boards have writes alone. More than the
 * core pool of any host that was measured. */
#define COMMIT_SLOTS 128
/* Rows of one process that may wait to be written after their answers; one more is sent alone. A
 * process makes one or two while one batch is written. */
#define COMMIT_LATER 8
#define COMMIT_BOARD_ROWS (COMMIT_SLOTS * (1 + COMMIT_LATER))
/* Octets of the parameters of a row, of which a usual one has about 1,000; a larger one is written
 * alone, so that it keeps no other waiting. */
#define COMMIT_ROW_MAX 8160
/* Rows of one batch, each a statement of the same trip. */
#define COMMIT_BATCH_MAX DB_BATCH_MAX

/* Time after which the lead of LANE_NOW is taken from a process that lives and does not go on, as
 * one that is stopped: more than a batch may take. Two leaders take different rows. Milliseconds.
 */
#define COMMIT_LEAD_MS 15000

/* Rows that a request waits for, and rows that are written after their answers. */
enum commit_lane { LANE_NOW, LANE_LATER, LANES };

/* State of a row; the low octet of its word. */
enum commit_state {
    ROW_FREE,      /* its process may fill it */
    ROW_WAITING,   /* filled: a leader may take it */
    ROW_CHOSEN,    /* filled, and its process is the next leader */
    ROW_TAKEN,     /* in the hands of the leader that the word names */
    ROW_STORED,    /* durable */
    ROW_NOTHING,   /* its conditions did not hold: nothing was written */
    ROW_ALONE,     /* nothing was written: its process is to write it alone */
    ROW_BUSY,      /* nothing was written: the database gave up waiting for a lock */
    ROW_UNPROVED,  /* written on the primary alone: its standby did not confirm the commit */
    ROW_UNSURE,    /* the leader or its connection was lost */
    ROW_ABANDONED, /* in the hands of a leader, and its process does not wait for it */
};

/* Parameters of one statement, as octets. Written by the process of the slot while it is
 * ROW_FREE, read by the leader while it is ROW_TAKEN. */
struct commit_row {
    uint32_t kind, bucket, day;         /* which statement, in which partitions */
    uint32_t length;                    /* octets of data */
    int32_t tag;                        /* session that may have written it; 0: none */
    unsigned char data[COMMIT_ROW_MAX]; /* see commit_row.c */
};

/* In a mapped file, which is zero when it is made. */
struct commit_board {
    _Atomic uint32_t used; /* slots below this number were claimed since the file was made */
    _Atomic uint32_t leader[LANES];           /* slot of the leader plus one; 0: no commit */
    _Atomic int64_t since_ms[LANES];          /* when it began its batch; monotonic */
    _Atomic uint32_t word[COMMIT_BOARD_ROWS]; /* state | slot of the leader << 8; a futex */
    struct commit_row row[COMMIT_BOARD_ROWS]; /* of LANE_NOW first, then of LANE_LATER by slot */
};

/* A process at a board. */
struct commit_seat {
    struct commit_board *boards; /* all, in the mapped file */
    uint32_t count;              /* how many */
    struct commit_board *board;  /* the one of the slot */
    int fd;                      /* of that file, for the locks that say which slots are in use */
    pid_t pid;                   /* process that has the slot; after a fork the child claims anew */
    uint32_t slot;               /* its number on its board, COMMIT_SLOTS: there was none */
};

/*
 * Claim a slot for this process, if it has none yet; false if all are in use. The lowest number is
 * taken, on each board in turn, so that the boards have the same number of processes. A slot ends
 * with the process, however that dies: it is a record lock of fcntl(2). A row that an earlier
 * process left unanswered is dropped, and a lead that it left is passed on.
 */
bool commit_claim(struct commit_seat *seat);

/* Claim a slot of one board, for a process that shares on none and leaves it with commit_leave().
 */
bool commit_claim_on(struct commit_seat *seat, uint32_t board);

/* Give the slot of a process back that leads no lane and has no rows. It may claim one again. */
void commit_leave(struct commit_seat *seat);

/* True if this process has a slot. */
bool commit_claimed(const struct commit_seat *seat);

/* True if the process of the slot lives. */
bool commit_slot_lives(const struct commit_seat *seat, uint32_t slot);

/* Return the row of this process in LANE_NOW, or a free one of it in LANE_LATER;
 * COMMIT_BOARD_ROWS if there is none that is free. */
uint32_t commit_free_row(struct commit_seat *seat, enum commit_lane lane);

/* Publish a row that was filled. */
void commit_publish(struct commit_seat *seat, uint32_t row);

/* Return the state of a row, and the slot of the leader that has it. */
enum commit_state commit_state_of(const struct commit_seat *seat, uint32_t row,
                                  uint32_t *ret_leader);

/* Change the state of a row of this process from `from`; false if it has another one now. To
 * ROW_FREE: the octets are wiped first. */
bool commit_turn(struct commit_seat *seat, uint32_t row, enum commit_state from,
                 enum commit_state to);

/* Wait until the row's word changes from the state, at most `ms`. */
void commit_wait(struct commit_seat *seat, uint32_t row, enum commit_state state, int ms);

/* Try to lead a lane: if there is no leader, or the leader has died, or the lead was passed to this
 * process. `dying`: look if the leader lives, which costs a system call. */
bool commit_lead(struct commit_seat *seat, enum commit_lane lane, bool dying);

/* True if this process has the lead of a lane: also one that was passed to it while it withdrew its
 * row. */
bool commit_leads(const struct commit_seat *seat, enum commit_lane lane);

/* Try to lead LANE_NOW with a row of this process that waits or was chosen (`state`), and take that
 * row. A process that was chosen waits for the lead that comes to it. */
bool commit_lead_with(struct commit_seat *seat, uint32_t row, enum commit_state state, bool dying);

/*
 * Take rows that wait, behind `first`, which this process took (COMMIT_BOARD_ROWS: there is none),
 * and only rows of the same kind and partitions as the first. Return their number, at most
 * COMMIT_BATCH_MAX. Only for the leader.
 */
size_t commit_take(struct commit_seat *seat, enum commit_lane lane, uint32_t first,
                   uint32_t ret[COMMIT_BATCH_MAX]);

/* Return the number of rows that a leader took and left when it died; each is ours now. */
size_t commit_take_left(struct commit_seat *seat, uint32_t ret[COMMIT_BATCH_MAX]);

/* Tell the process of a row that we took how that ended, and wake it. A row of LANE_LATER, and one
 * that was abandoned, becomes free. */
void commit_settle_row(struct commit_seat *seat, uint32_t row, enum commit_state state);

/* Give the lead back, in LANE_NOW to a process whose row waits. */
void commit_release(struct commit_seat *seat, enum commit_lane lane);

/* True if a row of LANE_LATER is not free. */
bool commit_later_waits(const struct commit_seat *seat);

#endif
