/* Verification of the log over all audit rows, against the rows of the database or a file of lines.
 */
#ifndef AZ_STORE_AUDIT_PROOF_VERIFY_VERIFY_H
#define AZ_STORE_AUDIT_PROOF_VERIFY_VERIFY_H

#include "crypto/jwk_set.h"
#include "crypto/signed_note.h"
#include "store/audit/proof/notes.h"

/* Faults that are listed; all are counted. */
#define AUDIT_FAULTS_LISTED 20

enum audit_fault_kind {
    AUDIT_ROW_CHANGED,       /* a row is not what was sealed */
    AUDIT_ROW_MISSING,       /* a sealed row is not there */
    AUDIT_ROW_ADDED,         /* a row that was not sealed is among sealed rows */
    AUDIT_ROWS_HIDDEN,       /* more rows are left out of a file than notes say were dropped */
    AUDIT_NOTE_CHANGED,      /* a note is missing or changed */
    AUDIT_TILE_FORGED,       /* a tile is missing, or does not follow from the one below */
    AUDIT_CHECKPOINT_GONE,   /* a note says that there was a checkpoint */
    AUDIT_CHECKPOINT_FORGED, /* a checkpoint is not of this log, or its signature is wrong */
    AUDIT_EPOCH_GONE,        /* an earlier epoch has no note that begins it */
    AUDIT_OTHER_LOG,         /* a checkpoint from elsewhere is of a log that is not here */
    AUDIT_ROLLED_BACK,       /* a checkpoint from elsewhere is of more leaves than the log has */
    AUDIT_FAULT_KINDS
};

struct audit_fault {
    enum audit_fault_kind kind;
    int64_t at; /* id of a row, number of a leaf or of an epoch, or size of a checkpoint */
};

/* The extent of a check. */
struct audit_check {
    const struct jwk_set *keys; /* that sign checkpoints */
    const struct checkpoint
        *foreign; /* checkpoints from elsewhere, whose signatures were checked */
    size_t foreigns;
    int64_t from_day,
        to_day; /* rows of these partitions are read; the others count as they were sealed */
};

/* The outcome for one epoch. */
struct audit_report {
    const char *origin;
    int64_t rows, notes, checkpoints; /* checked */
    int64_t dropped;                  /* rows of days that retention dropped, with a note of it */
    int64_t aged;                     /* leaves whose hashes are no longer kept */
    int64_t aged_checkpoints;         /* from elsewhere, of such leaves: not compared */
    int64_t faults;
    struct audit_fault fault[AUDIT_FAULTS_LISTED];
    int64_t size, unsealed; /* leaves; rows that no seal covers */
};

/* The outcome for all. */
struct audit_verified {
    struct audit_notes notes;    /* epochs, and days that were dropped */
    struct audit_report *report; /* of each epoch */
};

/* Runs of a check at most: one in which retention drops a day begins again. Retention drops one day
 * a day. */
#define AUDIT_VERIFY_RUNS 3

/* Check all epochs of the log of the database. A fault is in a report; AZ_OK then too.
 * AZ_NOT_FOUND: there is no log. If a day was dropped meanwhile, its rows are missing and the note
 * that says so was not read: the check begins again. */
enum az_status audit_verify(struct op *op, const struct audit_check *check,
                            struct audit_verified *ret);

/* Check one epoch. */
enum az_status audit_verify_epoch(struct op *op, const struct audit_check *check,
                                  const struct audit_epoch *epoch, struct audit_notes *notes,
                                  struct audit_report *ret);

/* Return the word of a kind: "changed row", "missing row", … */
const char *audit_fault_text(enum audit_fault_kind kind);

/* Count a fault, and list it if there is room. */
void audit_fault_add(struct audit_report *report, enum audit_fault_kind kind, int64_t at);

#endif
