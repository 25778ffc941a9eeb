/* A directory that holds a policy: the names of its files, and reading it as a whole. */
#ifndef AZ_CLI_POLICY_BUNDLE_DIR_H
#define AZ_CLI_POLICY_BUNDLE_DIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/save/deploy/deploy.h"

/* The file that lists disabled rules. */
#define BUNDLE_DIR_SWITCHES "bundle.json"

/*
 * Largest data file, in octets. An indented payload is several times longer than the compact text
 * that POLICY_DATA_PAYLOAD_MAX bounds.
 */
#define BUNDLE_DIR_FILE_MAX (32 << 20)

/* Kind of a file, by its path below the directory. */
enum bundle_file {
    BUNDLE_FILE_RULE,
    BUNDLE_FILE_TEST,
    BUNDLE_FILE_DATA,
    BUNDLE_FILE_SWITCHES,
    BUNDLE_FILE_README, /* any README* that is not one of these */
    BUNDLE_FILE_OTHER
};

/* Return the kind of a file. */
enum bundle_file bundle_file_kind(const char *path);

/* True if a segment of the path begins with a dot; a walk skips such a file. */
bool bundle_file_hidden(const char *path);

/* Return the path of the file of a data row, and the key of the row of a file. On mem. */
char *bundle_file_of_key(TALLOC_CTX *mem, const char *data_key);
char *bundle_key_of_file(TALLOC_CTX *mem, const char *path);

/* A directory that was read. Everything is on mem. */
struct bundle_dir {
    TALLOC_CTX *mem;
    const char *name;         /* as given, without slashes at its end */
    struct deploy_rule *rule; /* sorted by directory, then name */
    size_t rules;
    struct deploy_rule *test; /* files ending in _test.rego */
    size_t tests;
    struct deploy_data *data; /* payloads, without white space */
    size_t data_rows;
    json_t *switches; /* bundle.json, or NULL */
    bool lost;        /* a fault or an ignored path could not be kept: out of memory */
    json_t *ignored;  /* paths of all other files */
    json_t *faults;   /* texts `FILE: fault; remedy`; empty: everything was read */
    size_t octets;    /* total size of the texts */
};

/* Read a directory. False: ret->faults lists every fault, not only the first one. */
bool bundle_dir_read(TALLOC_CTX *mem, const char *dir, struct bundle_dir *ret);

/* True if a test file has a rule test_..., as the engine's program finds them. It succeeds when it
 * finds no test to run, so a misspelt name would go unnoticed. */
bool bundle_dir_has_tests(const struct bundle_dir *dir);

/* Return the number of the first line with an octet that is NUL or not UTF-8; 0 if there is none.
 */
size_t bundle_text_fault_line(const char *text, size_t length);

#endif
