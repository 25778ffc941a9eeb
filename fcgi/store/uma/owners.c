#include "config.h"

#include "store/uma/owners.h"

#include <string.h>

#include "store/db/keep/locks.h"
#include "store/db/keep/partitions.h"

enum az_status
uma_write_begin(struct op *op, const struct db_stmt *stmt, bool alone,
                const unsigned char id[UUID7_OCTETS], const struct uma_owner *owner,
                const struct audit_entry *audit, struct uma_write *ret)
{
    uint32_t day = partition_day(op_now(op));
    enum az_status st = partition_need_day(op, day);
    *ret = (struct uma_write){.batch = db_batch_new(op), .alone = alone};
    if (alone) {
        const char *name =
            talloc_asprintf(op->mem, "%lld/%s", (long long) owner->client, owner->subject);
        if (name == NULL)
            return op_no_memory(op);
        db_batch_begin(ret->batch);
        lock_add(ret->batch, LOCK_OWNER, name, strlen(name));
    }
    ret->step = db_batch_add_in(ret->batch, stmt, DB_NO_PARTITION, day);
    if (st != AZ_OK)
        return st;
    db_time(&ret->step->params, op->now_ms);
    audit_bind(&ret->step->params, audit);
    db_octets(&ret->step->params, id, UUID7_OCTETS);
    db_number(&ret->step->params, owner->client);
    db_text(&ret->step->params, owner->subject);
    return AZ_OK;
}

enum az_status
uma_write_run(struct op *op, struct uma_write *write)
{
    if (write->alone)
        db_batch_commit(write->batch);
    return db_run(op, write->batch, false);
}

enum az_status
uma_write_object(struct op *op, const struct db_stmt *stmt, const unsigned char id[UUID7_OCTETS],
                 const struct uma_owner *owner, const struct audit_entry *audit, bool *ret_found)
{
    struct uma_write write;
    enum az_status st = uma_write_begin(op, stmt, false, id, owner, audit, &write);
    if (st == AZ_OK)
        st = uma_write_run(op, &write);
    if (st == AZ_OK)
        *ret_found = db_get_bool(write.step->result, 0, 0);
    return st;
}

enum az_status
uma_fetch_object(struct op *op, const struct db_stmt *stmt, const unsigned char id[UUID7_OCTETS],
                 const struct uma_owner *owner, const char **ret)
{
    struct db_params params = {.count = 0};
    db_octets(&params, id, UUID7_OCTETS);
    db_number(&params, owner->client);
    db_text(&params, owner->subject);
    return db_fetch_text(op, stmt, &params, ret);
}

enum az_status
uma_fetch_list(struct op *op, const struct db_stmt *stmt, const struct uma_owner *owner,
               const char **ret)
{
    struct db_params params = {.count = 0};
    db_number(&params, owner->client);
    db_text(&params, owner->subject);
    return db_fetch_list(op, stmt, &params, ret);
}
