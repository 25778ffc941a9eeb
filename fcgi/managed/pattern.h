/* Path patterns of routes, and single path segments. */
#ifndef AZ_MANAGED_PATTERN_H
#define AZ_MANAGED_PATTERN_H

#include "managed/managed.h"

/* Limits of a pattern; an API has far fewer. */
#define MANAGED_PATTERN_MAX 1024 /* octets */
#define MANAGED_SEGMENTS_MAX 64
#define MANAGED_VARIABLES_MAX 16
#define MANAGED_VARIABLE_NAME_MAX 64

/*
 * Read a pattern: "/" or segments that each begin with a slash. A segment is a literal of the
 * characters of RFC 3986 3.3 without "%" and "*", a variable {name}, or at the end two asterisks;
 * the last one may be empty. AZ_INVALID with the fault in *ret_why.
 */
enum az_status managed_pattern_read(TALLOC_CTX *mem, const char *text, struct managed_pattern *ret,
                                    const char **ret_why);

/* True if the pattern has a variable of this name. */
bool managed_pattern_has(const struct managed_pattern *pattern, const char *name);

/* A segment of a request's path. */
struct managed_part {
    const char *raw;  /* as sent; not terminated */
    size_t length;    /* octets */
    const char *text; /* decoded once */
    bool slash;       /* the decoded text holds a slash */
};

/* Decode a segment. AZ_INVALID: it is not safe (choose.h). */
enum az_status managed_part_read(TALLOC_CTX *mem, const char *raw, size_t length,
                                 struct managed_part *ret);

/* Return a text encoded as one segment, on mem. AZ_INVALID: it cannot be one, or has a slash and
 * `slash` is false. */
enum az_status managed_part_encode(TALLOC_CTX *mem, const char *text, bool slash, char **ret);

/*
 * Return a path in the one form of those that are equal (RFC 3986 6.2.2), on mem: encodings of
 * unreserved characters are decoded, the digits of the others are in upper case. The result is NULL
 * if out of memory.
 */
char *managed_path_plain(TALLOC_CTX *mem, const char *path);

#endif
