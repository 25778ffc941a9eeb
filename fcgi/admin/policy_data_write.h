/* The writes behind every operation on a data row. */
#ifndef AZ_ADMIN_POLICY_DATA_WRITE_H
#define AZ_ADMIN_POLICY_DATA_WRITE_H

#include "admin/policy_payload.h"
#include "policy/save/save.h"

/* What became of a write. */
struct policy_data_written {
    const char *data_key;        /* row */
    const char *warning;         /* of its schema, or NULL */
    struct save_outcome outcome; /* of the save */
    bool created;                /* the row is new */
    bool again; /* it changed since it was read, which the caller did not forbid: try again */
};

/* Saves a change. With `as_read` the row must still be the one that was read (change->if_match). */
enum az_status policy_data_save(struct request *req, const struct data_change *change, bool as_read,
                                struct policy_data_written *ret);

/* Writes a whole PolicyDataDto. `must_be_new`: AZ_CONFLICT when there is such a row. `read`: the
 * row that it replaces, which must still be as it was read; NULL for whatever row has the key. */
enum az_status policy_data_put(struct request *req, const struct policy_payload *payload,
                               bool must_be_new, const struct policy_row *read,
                               struct policy_data_written *ret);

/* Deletes a row that was read. */
enum az_status policy_data_remove(struct request *req, const struct policy_row *row,
                                  struct policy_data_written *ret);

/* One try of a write that relies on what it reads. */
typedef enum az_status policy_data_try_fn(struct request *req, void *arg,
                                          struct policy_data_written *ret);

/* Tries again while the row changes between reading and writing: two patches at a time must both
 * be in the result. AZ_SAVE_IN_PROGRESS: it changes all the time. */
enum az_status policy_data_retry(struct request *req, policy_data_try_fn *attempt, void *arg,
                                 struct policy_data_written *ret);

/* Answers with the row as it is now, 200 or 201, or 204 when it was deleted (`removed`). */
enum az_status policy_data_respond(struct request *req, const struct policy_data_written *written,
                                   bool removed);

/* The audit row says which row. */
void policy_data_note(struct request *req, const char *key);

#endif
