/* Partitions of access tokens (by hour of expiry), refresh tokens (by day of their family's end)
 * and audit rows (by day): numbers, the process's list, making and dropping. */
#ifndef AZ_STORE_DB_PARTITIONS_H
#define AZ_STORE_DB_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* 2026-01-01T00:00Z, from which token buckets (hours) and audit days are counted. Seconds since
 * 1970. */
#define PARTITION_EPOCH 1767225600LL

/* Number of the token bucket an expiry falls into, and of the audit day of a time. Seconds since
 * 1970. */
uint32_t partition_bucket(int64_t expires_at);
uint32_t partition_day(int64_t time);

/* Number of the refresh tokens' partition: the day of the hour that the token names. */
uint32_t partition_refresh(uint32_t bucket);

/*
 * True when the token bucket exists. The list is read once per connection and again when a bucket
 * that could hold a live token is missing from it, at most once a second: a forged bucket costs no
 * SQL.
 */
enum az_status partition_has_bucket(struct op *op, uint32_t bucket, bool *ret);
enum az_status partition_has_day(struct op *op, uint32_t day, bool *ret);
enum az_status partition_has_refresh(struct op *op, uint32_t number, bool *ret);
/* Makes the day unless it is there. */
enum az_status partition_need_day(struct op *op, uint32_t day);

/* Reads the lists again: a statement met a partition that is gone. */
enum az_status partition_reload(struct op *op);

/* Makes one partition on the spot (a writer found it missing). */
enum az_status partition_make_bucket(struct op *op, uint32_t bucket);
enum az_status partition_make_day(struct op *op, uint32_t day);
enum az_status partition_make_refresh(struct op *op, uint32_t number);

/* Housekeeping: makes what the next 48 hours need, drops what is past expiry or retention. Counts
 * what it did. */
enum az_status partition_maintain(struct op *op, int *ret_made, int *ret_dropped);

#endif
