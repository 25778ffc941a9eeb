/*
 * The instance as files (doc/design/instance.md): what a directory says, what the service has, and
 * the steps that make the service have it. Objects of every kind are JSON objects by kind and key:
 * {"client": {"shop": {...}}}. A rule is {"content", "enabled"}, a row or entry {"payload"}.
 */
#ifndef AZ_CLI_INSTANCE_INSTANCE_H
#define AZ_CLI_INSTANCE_INSTANCE_H

#include <jansson.h>
#include <talloc.h>

#include "cli/lib/call.h"
#include "cli/lib/output.h"

/* The file that names the owner, the folder of the policy, and their texts. */
#define INSTANCE_FILE "instance.json"
#define INSTANCE_POLICY "policy"
#define INSTANCE_FORMAT 1

/* Largest file of an object, in octets: a body of the admin API, indented. */
#define INSTANCE_FILE_MAX (8 << 20)
/* Longest owner, in octets. */
#define INSTANCE_OWNER_MAX 200

/* Member of a step whose object was marked with the save of the policy. */
#define INSTANCE_MARKED "marked"

/* Member of a connector with its settings, which are no secrets. */
#define INSTANCE_SETTINGS "settings"

/* Most secrets of one object: those of upstreamAuth. */
#define INSTANCE_SECRETS_MAX 4

/* A secret member: `inner` of it, if that is not NULL. */
struct instance_secret {
    const char *outer, *member, *inner;
};

/* A kind of objects that has files of its own. */
struct instance_kind {
    const char *name;           /* in marks and steps */
    const char *folder;         /* of the files; NULL: below policy/ */
    const char *path;           /* of the list in the admin API */
    const char *key;            /* member with the name */
    const char *const *omitted; /* members that the service sets, ended by NULL */
    struct instance_secret secret[INSTANCE_SECRETS_MAX]; /* up to a row without member */
};

/* The kinds in the order in which they are applied (F7), ended by a row without name. */
extern const struct instance_kind instance_kinds[];

/* One run. Everything is on cli->mem. */
struct instance {
    struct cli *cli;
    const char *dir;      /* the directory */
    const char *owner;    /* of instance.json */
    const char *issuer;   /* the same, or NULL */
    const char *service;  /* issuer of the service, or NULL */
    const char *revision; /* of the policy that was read, or NULL */
    const char *home;     /* idpId of the home issuer, or NULL */
    json_t *files;        /* objects of the directory, by kind and key */
    json_t *stored;       /* objects of the service, the same */
    json_t *marks;        /* their owners, by kind and key: {owner, digest, hasSecret} */
    json_t *tools;        /* tools of resources with all that syncs found, by kind and key */
    json_t *fixed;        /* shipped rules and rows, by kind and key: true */
    json_t *steps;        /* the plan: [{action, kind, key, ...}] */
    json_t *impact;       /* what its rules and rows would change in recorded decisions, or NULL */
    bool refused;         /* an error was printed */
};

/* Return the kind of this name, or NULL. */
const struct instance_kind *instance_kind_named(const char *name);

/* Return {KIND: {}} for all kinds, on mem; NULL: no memory. */
json_t *instance_table(TALLOC_CTX *mem);

/* Return the object of a kind and key in such a table, or NULL. */
json_t *instance_object(const json_t *table, const char *kind, const char *key);

/* Put an object into a table; takes the reference. False: no memory. */
bool instance_put(json_t *table, const char *kind, const char *key, json_t *object);

/* Return an object of the admin API without the members that the service sets, without nulls and
 * without secrets; on mem, NULL: no memory. */
json_t *instance_normal(TALLOC_CTX *mem, const struct instance_kind *kind, const json_t *object);

/* Compute the digest of an object for its mark. False: no memory. */
bool instance_digest(const struct instance *run, const json_t *object, char *ret);

/* Return the path of an object in the admin API, on cli->mem. */
const char *instance_path(struct cli *cli, const struct instance_kind *kind, const char *key);

/* Print an error of this run. */
void instance_refuse(struct instance *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- entries of rows that several owners share (F3) */

/* Put the entries of a payload into a table, or the row as a whole. False: no memory. */
bool instance_split(TALLOC_CTX *mem, json_t *table, const char *data_key, json_t *payload);

/* Return the data key of an entry, on mem. */
char *instance_row_of(TALLOC_CTX *mem, const char *entry);

/* Set an entry in a payload, or with NULL delete it. False: no memory. */
bool instance_merge(TALLOC_CTX *mem, json_t *payload, const char *entry, json_t *value);

/* ---- both sides */

/* Read all objects of the service and their owners. Returns the exit status. */
int instance_read_stored(struct instance *run);

/* Read the directory. Returns the exit status after printing every fault. */
int instance_read_files(struct instance *run);

/* ---- secrets (F4) */

/* True if an object of the files names a secret. */
bool instance_has_secret(const struct instance_kind *kind, const json_t *object);

/* Refuse secrets that are not {"env": NAME} or {"file": PATH}. */
void instance_check_secrets(struct instance *run, const struct instance_kind *kind,
                            const char *file, const json_t *object);

/* Refuse settings of a connector that are secrets, as its manifest says. Returns the exit status.
 */
int instance_check_settings(struct instance *run, const struct instance_kind *kind, const char *key,
                            const json_t *file);

/* Put the secrets into an object in place of their names, and give them as one text. CLI_OK, with
 * NULL in *ret_text if the object names none; else the error was printed. */
int instance_fill_secrets(struct instance *run, const struct instance_kind *kind, json_t *object,
                          const char **ret_text);

/* Wipe the secrets of an object. */
void instance_wipe_secrets(const struct instance_kind *kind, const json_t *object);

/* ---- the plan (F6) */

/* Make run->steps from both sides. Returns the exit status. */
int instance_plan(struct instance *run);

/* Read the issuer of the service, and refuse another one than run->issuer. Returns the exit
 * status. */
int instance_check_issuer(struct instance *run);

/* Read the steps of a plan that `plan --out` wrote. Returns the exit status. */
int instance_plan_read(struct instance *run, const char *file);

/* Write the plan to a file. Returns the exit status. */
int instance_plan_write(struct instance *run, const char *file);

/* Print the plan; returns the number of steps that change something. */
size_t instance_plan_print(struct instance *run);

/* ---- comparing */

/* Return the names of the members of `file` that `stored` has otherwise, an array on mem; NULL: no
 * memory. Members that the file does not name are left alone, null and absent are the same, and
 * secrets and pins are not compared. */
json_t *instance_changes(TALLOC_CTX *mem, const struct instance_kind *kind, const json_t *file,
                         const json_t *stored);

/* ---- names of files and keys (F2): octets of a key beyond A-Z a-z 0-9 . _ - are escaped as %XX */

/* End of the names of files of objects. */
#define INSTANCE_SUFFIX ".json"

/* Return the path of the file of an object, on mem; NULL: no memory. */
char *instance_file_of(TALLOC_CTX *mem, const char *folder, const char *key);

/* Return the key of the object of a file below `folder` that ends in .json, on mem. NULL: the name
 * is none that instance_file_of() gives. */
char *instance_key_of(TALLOC_CTX *mem, const char *folder, const char *path);

/* ---- rules, rows and entries of a plan: one deploy saves all of them or none */

/* Have the service check the deploy of the plan, without saving it. Returns the exit status. */
int policy_rehearse(struct instance *run);

/* Save the rules, rows and entries of the plan, if it changes any. Returns the exit status. */
int policy_save(struct instance *run, bool *ret_saved);

/* Find the path of a rule in the admin API. Returns the exit status. */
int policy_rule_place(struct instance *run, const char *path, const char **ret);

#endif
