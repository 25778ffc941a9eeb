/* The file of checkpoints (SVC_AUDIT_CHECKPOINT_FILE), which the owner of the database may not be
 * able to write. */
#ifndef AZ_STORE_AUDIT_PROOF_SEAL_SEAL_FILE_H
#define AZ_STORE_AUDIT_PROOF_SEAL_SEAL_FILE_H

#include "base/op.h"

/* Checkpoints that one run appends at most; the next run goes on. */
#define AUDIT_FILE_CHECKPOINTS 100

/*
 * Append the checkpoints that are not in the file yet, the oldest first, and sync it. Nothing
 * without the setting. A process that is killed between both may append a checkpoint again.
 * AZ_SERVER_ERROR: the file cannot be written; the checkpoints wait for the next run.
 */
enum az_status audit_seal_file(struct op *op);

/* Read the end of the file, which has its newest checkpoints. *ret NULL: there is no such file, or
 * it is not ours to read. */
enum az_status audit_seal_file_end(struct op *op, char **ret);

/* Return the last checkpoint of a text of checkpoints, or what is left of it, or NULL. */
char *audit_last_note(char *text);

/* Write all octets to a file and sync them. */
bool audit_write_all(int file, const char *text, size_t length);

#endif
