/* The writes behind every operation on a data row. */
#ifndef AZ_ADMIN_POLICY_POLICY_DATA_WRITE_H
#define AZ_ADMIN_POLICY_POLICY_DATA_WRITE_H

#include "admin/policy/policy_payload.h"
#include "policy/save/deploy/save_data.h"

/* The result of a write. */
struct policy_data_written {
    const char *data_key;        /* key of the row */
    const char *warning;         /* warning of its schema, or NULL */
    struct save_outcome outcome; /* outcome of the save */
    bool created;                /* the row is new */
    bool again; /* the row changed since it was read, and the caller sent no If-Match: try again */
};

/* Save a change. With `as_read` the row must still be as it was read (change->if_match). */
enum az_status policy_data_save(struct request *req, const struct data_change *change, bool as_read,
                                struct policy_data_written *ret);

/* Write a whole PolicyDataDto. `must_be_new`: AZ_CONFLICT if the row exists. `read`: the row that
 * is replaced, which must still be as it was read; NULL: any row with the key. */
enum az_status policy_data_put(struct request *req, const struct policy_payload *payload,
                               bool must_be_new, const struct policy_row *read,
                               struct policy_data_written *ret);

/* Delete a row that was read. */
enum az_status policy_data_remove(struct request *req, const struct policy_row *row,
                                  struct policy_data_written *ret);

/* One try of a write that depends on the row that it reads. */
typedef enum az_status policy_data_try_fn(struct request *req, void *arg,
                                          struct policy_data_written *ret);

/* Run `attempt` again while the row changes between reading and writing: of two patches at a time
 * both must be in the result. AZ_SAVE_IN_PROGRESS: it changed each time. */
enum az_status policy_data_retry(struct request *req, policy_data_try_fn *attempt, void *arg,
                                 struct policy_data_written *ret);

/* Answer with the row as it is now, 200 or 201, or 204 if it was deleted (`removed`). */
enum az_status policy_data_respond(struct request *req, const struct policy_data_written *written,
                                   bool removed);

#endif
