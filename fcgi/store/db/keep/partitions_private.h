/* The lists of partitions, for partitions.c and schema/partitions_maintain.c. */
#ifndef AZ_STORE_DB_KEEP_PARTITIONS_PRIVATE_H
#define AZ_STORE_DB_KEEP_PARTITIONS_PRIVATE_H

#include "store/db/keep/partitions.h"

/* A token partition is dropped this long after its last expiry: an introspection that started
 * before the expiry has ended by then. */
#define GRACE_HOURS 1
/* Refresh tokens are kept for a day after the end of their family: the last access token can live
 * that long, and is revoked through them. */
#define FAMILY_GRACE_DAYS 1

/* Sorted partition numbers of one table. */
struct numbers {
    uint32_t *number; /* talloc array */
    size_t count;     /* entries */
};

/* The partitioned tables. */
enum table { TABLE_ACCESS, TABLE_AUDIT, TABLE_REFRESH, TABLES };
extern const char *const partition_tables[TABLES];

/* The partitions that this process knows to exist. */
struct partition_lists {
    struct numbers of[TABLES]; /* by table */
    unsigned generation;       /* of the connection the lists were read on */
    int64_t read_ms;           /* monotonic time of the reading */
    int64_t clock_ms;          /* time of day of the database then; milliseconds since 1970 */
    int64_t ahead_ms;          /* the clock of this host before that; milliseconds */
    bool apart;                /* the log has reported that the clock of this host differs */
};

/* partition_has_bucket() and so on, by table. */
enum az_status partition_has(struct op *op, enum table table, uint32_t number, bool *ret);

/* Make a partition if it is missing; *ret_made: this process made it. */
enum az_status partition_make(struct op *op, enum table table, uint32_t number, bool *ret_made);

#endif
