/* Files of the log over all audit rows: checkpoints from elsewhere, and keys. */
#ifndef AZ_CLI_AUDIT_CHECKPOINTS_H
#define AZ_CLI_AUDIT_CHECKPOINTS_H

#include "cli/lib/cli.h"
#include "crypto/jwk_set.h"
#include "crypto/signed_note.h"

/* Octets of a file of checkpoints: a month of one a minute. */
#define CHECKPOINTS_FILE_MAX (32 << 20)

/* Octets of a file of keys. */
#define KEYS_FILE_MAX 65536

/* Nesting of a key set: set, keys and key are 3; the rest is for members that are not read. */
#define KEYS_DEPTH_MAX 8

/* Checkpoints of a file. */
struct checkpoint_file {
    struct checkpoint *at; /* talloc array */
    size_t count;
};

/* Read the key set of a file. CLI_FAILED after the error has been printed. */
int keys_file_read(struct cli *cli, const char *name, const struct jwk_set **ret);

/* Read a key set from JSON of ours. CLI_FAILED after the error has been printed. */
int keys_list_read(struct cli *cli, json_t *list, const struct jwk_set **ret);

/* Read the checkpoints in a file, one after the other as SVC_AUDIT_CHECKPOINT_FILE has them; each
 * must be signed by one of the keys under the name of its origin. CLI_FAILED after the error has
 * been printed. */
int checkpoint_file_read(struct cli *cli, const char *name, const struct jwk_set *keys,
                         struct checkpoint_file *ret);

#endif
