/* Notes of the log over all audit rows, as verification reads them. A text counts as a note if the
 * hash of a leaf that is a note covers it; what else the table of notes has counts for nothing. */
#ifndef AZ_STORE_AUDIT_PROOF_NOTES_H
#define AZ_STORE_AUDIT_PROOF_NOTES_H

#include "store/audit/proof/tiles.h"

/* The kind of a note in a statement, after the alias of its row, if it has one. */
#define NOTE_IS_SEAL "line LIKE '{\"v\":1,\"seal\":%'"
#define NOTE_IS_DROPPED "line LIKE '{\"v\":1,\"dropped\":%'"
#define NOTE_IS_AGED "line LIKE '{\"v\":1,\"aged\":%'"

enum audit_note_kind { NOTE_OTHER, NOTE_BEGIN, NOTE_KEY, NOTE_SEAL, NOTE_DROPPED, NOTE_AGED };

/* A day that retention dropped, as its note says. */
struct audit_dropped {
    int epoch;
    int64_t leaf;    /* number of the note */
    int64_t day;     /* number of the partition */
    int64_t rows;    /* leaves whose rows were in it */
    int64_t missing; /* leaves that verification let pass for it */
};

/* Rows of a day whose leaves have aged, while the note that the day was dropped has not: that note
 * lets as many rows less pass. */
struct audit_gone {
    int epoch;
    int64_t day, rows;
};

/* An epoch of the log. One that another followed reaches to its last checkpoint. */
struct audit_epoch {
    struct audit_log_state state;
    int previous;         /* number in its first note; a restore lost the epochs between */
    int64_t aged;         /* hashes of so many first leaves may be gone, as a note says */
    bool whole;           /* these are all: the epoch ended, and the note says where */
    int aged_in;          /* epoch of that note */
    int64_t aged_leaf;    /* number of that note, or -1 */
    int64_t covered;      /* leaves up to the last checkpoint; notes after it excuse nothing */
    int64_t begin_up_to;  /* rows up to this id were there before it began */
    const char *begin_at; /* when it began, ISO 8601; NULL: no note says so */
    int64_t next_up_to;   /* rows up to this id were there before the next one began */
};

struct audit_notes {
    struct audit_epoch *epoch; /* the present one is the last */
    size_t epochs;
    struct audit_dropped *dropped;
    size_t count; /* of days that were dropped */
    struct audit_gone *gone;
    size_t gones;
};

/* Return the kind of a line; NOTE_OTHER: not a note, but perhaps the line of a row. */
enum audit_note_kind audit_note_kind(const char *line);

/* True if a line is the note of this leaf: its hash fits, and it is the note that begins the log at
 * leaf 0 and no other. The line of a row is no note, whatever the leaf is said to be. */
bool audit_note_fits(int64_t leaf, const char *line, const unsigned char *hash);

/* Read what the notes of all epochs say. Their hashes are not looked at: the caller compares each
 * leaf that is said to be one with its line. AZ_NOT_FOUND: there is no log. */
enum az_status audit_notes_read(struct op *op, struct audit_notes *ret);

/* Read the line of a leaf that is a note; *ret is NULL if there is no note. */
enum az_status audit_note_line(struct op *op, int epoch, int64_t leaf, const char **ret);

/* True if the missing row of a day was dropped with that day; each note lets as many rows pass as
 * it says. Rows of an epoch may be dropped while a later one is the present one. */
bool audit_notes_drop(struct audit_notes *notes, int epoch, int64_t day);

/* True if a note of a dropped day, or of aged leaves, is said to be at this leaf. */
bool audit_notes_drop_at(const struct audit_notes *notes, int epoch, int64_t leaf);

/* Read the ids of rows that no leaf can have: that are said to be older than the log and are not,
 * or have an id that was never given out. */
enum az_status audit_notes_outside(struct op *op, const struct audit_epoch *epoch, PGresult **ret);

#endif
