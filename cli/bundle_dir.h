/* The directory that is the unit of policy: what its files are called, and reading it whole. */
#ifndef AZ_CLI_BUNDLE_DIR_H
#define AZ_CLI_BUNDLE_DIR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/save/deploy.h"

/* The layout, for the help of the verbs that read or write it. */
#define BUNDLE_DIR_LAYOUT                                                                          \
    "Files of DIR ending in .rego or .cedar are rules, named by their path below DIR; those "      \
    "ending in _test.rego are tests and stay there. data/KEY.json is the payload of the data row " \
    "KEY. bundle.json may say {\"disabled\": [PATH...]}: rules kept out of the bundle. Hidden "    \
    "files are passed over, others are named and ignored; symbolic links are refused."

/* The file of the switches. */
#define BUNDLE_DIR_SWITCHES "bundle.json"

/*
 * Octets of a data file. A payload laid out for reading is some times longer than the compact text
 * that POLICY_DATA_PAYLOAD_MAX bounds.
 */
#define BUNDLE_DIR_FILE_MAX (32 << 20)

/* What a file is, by its path below the directory. */
enum bundle_file {
    BUNDLE_FILE_RULE,
    BUNDLE_FILE_TEST,
    BUNDLE_FILE_DATA,
    BUNDLE_FILE_SWITCHES,
    BUNDLE_FILE_README, /* any README* that is none of these */
    BUNDLE_FILE_OTHER
};
enum bundle_file bundle_file_kind(const char *path);

/* Whether any segment of a path begins with a dot: such a file is not seen when it is read. */
bool bundle_file_hidden(const char *path);

/* Path of the file of a data row, and the row of a file. On mem. */
char *bundle_file_of_key(TALLOC_CTX *mem, const char *data_key);
char *bundle_key_of_file(TALLOC_CTX *mem, const char *path);

/* A directory that was read. Everything lives on mem. */
struct bundle_dir {
    TALLOC_CTX *mem;
    const char *name;         /* as given, without slashes at its end */
    struct deploy_rule *rule; /* sorted by directory, then name */
    size_t rules;
    struct deploy_rule *test; /* files ending in _test.rego */
    size_t tests;
    struct deploy_data *data; /* payloads without white space */
    size_t data_rows;
    json_t *switches; /* bundle.json, NULL without one */
    json_t *ignored;  /* paths of files that are none of these */
    json_t *faults;   /* texts `FILE: what is wrong; what to do`; empty: all was read */
    size_t octets;    /* of the texts */
};

/* Reads it. False: ret->faults says why. What is there is told as a whole, not one fault a run. */
bool bundle_dir_read(TALLOC_CTX *mem, const char *dir, struct bundle_dir *ret);

/* Whether a rule test_... stands at the begin of a line of a test. The engine is content when it
 * finds nothing to run, so a misspelt name would pass for ever. */
bool bundle_dir_has_tests(const struct bundle_dir *dir);

/* Adds a fault of a file; path "" is the directory itself. */
void bundle_dir_fault(struct bundle_dir *dir, const char *path, const char *why);

/* Line number of the first octet that is not UTF-8 or is NUL, 0 when the text is clean. */
size_t bundle_text_fault_line(const char *text, size_t length);

#endif
