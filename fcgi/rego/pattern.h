/*
 * Regular expressions of Go's package regexp (RE2's syntax), the part whose meaning is certain:
 * ASCII patterns without Unicode classes. Matching is leftmost-first as Go's, by a simulation of
 * all states at once, so that the time is bounded by states times octets for every pattern.
 */
#ifndef AZ_REGO_PATTERN_H
#define AZ_REGO_PATTERN_H

#include "rego/value.h"

/* Instructions of a pattern: a search costs that many steps for each character. */
#define PATTERN_INSTRUCTIONS_MAX 2000

/* Longest pattern, in octets; its reader may recurse once for each. */
#define PATTERN_LENGTH_MAX 2000

/* Most groups of a pattern, with the whole match. */
#define PATTERN_GROUPS_MAX 32

/* Steps of all searches of one call: some 0.1 s. */
#define PATTERN_STEPS_MAX 20000000

struct pattern;
struct pattern_search;

/* The places of a match: [2n, 2n+1) are the octets of group n; -1: it did not match. */
struct pattern_match {
    int64_t at[2 * PATTERN_GROUPS_MAX];
};

enum pattern_outcome {
    PATTERN_FOUND,
    PATTERN_NONE,
    PATTERN_DOUBTFUL, /* a limit was met, or letters beyond ASCII meet a case that is ignored */
};

/* Read a pattern. NULL: it is malformed, it is beyond the part above, or the arena is full. */
const struct pattern *pattern_read(struct rego_arena *arena, const char *text, size_t length);

/* Return the number of groups, with the whole match. */
unsigned pattern_groups(const struct pattern *pattern);

/* Return the number of a named group, or 0. */
unsigned pattern_group(const struct pattern *pattern, const char *name, size_t length);

/*
 * Start searches in a text, which both must outlive. The caller frees it with talloc. NULL: no
 * memory.
 */
struct pattern_search *pattern_search_new(TALLOC_CTX *mem, const struct pattern *pattern,
                                          const struct rego_value *text);

/* Return the steps that searches have taken. */
int64_t pattern_steps(const struct pattern_search *search);

/* Find the first match from an octet on. */
enum pattern_outcome pattern_find(struct pattern_search *search, size_t from,
                                  struct pattern_match *ret);

#endif
