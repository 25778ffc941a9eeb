/* Set-up for tests of the folders above base/: a struct az with settings as the program makes them,
 * and an operation. */
#ifndef AZ_T_ENV_H
#define AZ_T_ENV_H

#include "base/op.h"
#include "base/settings/settings.h"

/* 2026-11-21T11:00:00Z: the time of every operation made here. Seconds since 1970. */
#define ENV_NOW 1795258800LL

/*
 * Settings are the table's defaults with the four secrets set; change them in env_settings(). No
 * database, engine or shared memory: the test sets what it wants.
 */
struct az *env_az(TALLOC_CTX *mem);

/* The same settings, writable. */
struct settings *env_settings(struct az *az);

/* An operation on mem at ENV_NOW. */
struct op env_op(TALLOC_CTX *mem, struct az *az);

/* JSON of a text written with ' for ", owned by mem; exits when the test's own text is no JSON. */
struct json_t *env_json(TALLOC_CTX *mem, const char *text);

/* A new directory below TMPDIR that is removed with all it holds when mem is freed. */
const char *env_directory(TALLOC_CTX *mem);

#endif
