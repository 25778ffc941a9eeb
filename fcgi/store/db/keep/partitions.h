/* Partitions of access tokens (by hour of expiry), refresh tokens (by day of their family's end)
 * and audit rows (by day): numbers, the process's list, making and dropping. */
#ifndef AZ_STORE_DB_KEEP_PARTITIONS_H
#define AZ_STORE_DB_KEEP_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"

/* 2026-01-01T00:00Z, from which token buckets (hours) and audit days are counted. Seconds since
 * 1970. */
#define PARTITION_EPOCH 1767225600LL

/* Return the number of the token bucket that an expiry falls into, and of the audit day of a time.
 * Seconds since 1970. */
uint32_t partition_bucket(int64_t expires_at);
uint32_t partition_day(int64_t time);

/* Return the number of a refresh token's partition: the day of the hour that the token names. */
uint32_t partition_refresh(uint32_t bucket);

/* Return the time of day of the database, in seconds since 1970, reckoned from a reading within the
 * last minute: what is dropped and what can be live does not depend on the clock of this host. */
enum az_status partition_time(struct op *op, int64_t *ret);

/* *ret is true if the partition exists and can hold a live row. The list is read once per
 * connection; again if it lacks a number that is not of the past, for one that does not exist at
 * most once a second; and once a minute before a number is taken for one of the past. A forged
 * number costs no more than a look-up. */
enum az_status partition_has_bucket(struct op *op, uint32_t bucket, bool *ret);
enum az_status partition_has_day(struct op *op, uint32_t day, bool *ret);
enum az_status partition_has_refresh(struct op *op, uint32_t number, bool *ret);
/* Make the partition of the day if it is missing. */
enum az_status partition_need_day(struct op *op, uint32_t day);

/* Read the days that have an audit partition, in no order; *ret is on op->mem. */
enum az_status partition_days(struct op *op, uint32_t **ret, size_t *ret_count);

/* Find the first audit day that retention keeps; 0: retention keeps all days. */
enum az_status partition_first_kept_day(struct op *op, uint32_t *ret);

/* Read the lists again, because a statement named a partition that does not exist. */
enum az_status partition_reload(struct op *op);

/* Make one partition now, because a writer found it missing. */
enum az_status partition_make_bucket(struct op *op, uint32_t bucket);
enum az_status partition_make_day(struct op *op, uint32_t day);
enum az_status partition_make_refresh(struct op *op, uint32_t number);

#endif
