/* The example that `bundle pull` adds to an empty directory. */
#ifndef AZ_CLI_POLICY_BUNDLE_EXAMPLE_H
#define AZ_CLI_POLICY_BUNDLE_EXAMPLE_H

/* A file of it. */
struct bundle_example {
    const char *path, *text;
};

/* The files: the rule and its test. Both are tests by their names, so that `policy test` runs them
 * and no deploy takes them. */
#define BUNDLE_EXAMPLE_FILES 2
extern const struct bundle_example bundle_example[BUNDLE_EXAMPLE_FILES];

#endif
