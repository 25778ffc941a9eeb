/* Parts that the files of this folder share. */
#ifndef AZ_STORE_AUDIT_PROOF_PRUNE_PRUNE_PRIVATE_H
#define AZ_STORE_AUDIT_PROOF_PRUNE_PRUNE_PRIVATE_H

#include "store/audit/proof/notes.h"
#include "store/audit/proof/seal/seal_private.h"

/* The leaves of one epoch that age. */
struct prune_epoch {
    const struct audit_epoch *epoch;
    bool whole;     /* all its leaves: a later epoch has a seal that is old enough */
    int64_t aged;   /* leaves that will have aged */
    int64_t sealed; /* size of the checkpoint that proves them */
    int64_t first;  /* id of the first row that is kept */
    json_t *gone;   /* array {day, rows} */
};

/* A run. */
struct prune {
    struct seal seal; /* of the present epoch, to which the note is appended */
    struct audit_notes notes;
    struct jwk *key;
    struct prune_epoch *at; /* of each epoch of the notes */
};

/*
 * Choose the leaves that age. Epochs age in their order: a note of a dropped day excuses missing
 * rows of its epoch and of earlier ones, so it must stay as long as any of these. An epoch that is
 * not the last one ages as a whole when a later epoch has a seal that is old enough. AZ_CONFLICT:
 * the log differs from what was signed.
 */
enum az_status prune_choose(struct prune *prune);

/* Check the tiles of an epoch that age, and count the rows of days whose notes stay. AZ_CONFLICT:
 * they are not what the notes say. AZ_RETRY: the program is ending. */
enum az_status prune_count(struct prune *prune, struct prune_epoch *at);

/* True if leaves of an epoch age in this run. */
bool prune_is_new(const struct prune_epoch *at);

#endif
