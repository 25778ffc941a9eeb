/* TAP (Test Anything Protocol) for C tests. One test program per module; the name of a test is the
 * rule. */
#ifndef AZ_T_TAP_H
#define AZ_T_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Number of tests to come; 0 when done() shall count them. */
void plan(unsigned count);

/* Each prints one line and returns whether the test passed; a failure also says what was seen. */
bool ok(bool passed, const char *name, ...) __attribute__((format(printf, 2, 3)));
bool is_int(int64_t seen, int64_t wanted, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
bool is_str(const char *seen, const char *wanted, const char *name, ...)
    __attribute__((format(printf, 3, 4)));
bool is_bin(const void *seen, size_t seen_len, const void *wanted, size_t wanted_len,
            const char *name, ...) __attribute__((format(printf, 5, 6)));

/* Ends the program's output; what main() returns: 0 when all planned tests ran and passed. */
int done(void);

#endif
