/* Cases of Cedar's integration tests: policies, entities, requests and the answers to them. */
#ifndef AZ_CLI_CEDAR_CEDAR_CASE_H
#define AZ_CLI_CEDAR_CEDAR_CASE_H

#include "cedar/json.h"
#include "cli/cedar/authorize.h"

/* Largest file of a case besides the policies, in octets; the largest of the corpus has 200 KiB. */
#define CEDAR_JSON_MAX (32 << 20)

/* One request, and what its answer must be. */
struct cedar_trial {
    struct cedar_request request;
    struct cedar_text description;
    struct cedar_answer expected; /* ids are sorted */
    struct cedar_answer seen;     /* the same, from an engine */
};

struct cedar_case {
    const char *name; /* path of the file */
    struct cedar_text policies;
    struct cedar_file *file;
    struct cedar_entities entities;
    struct cedar_trial *trial;
    size_t trials;
    bool is_case;        /* false: the file is another JSON document */
    const char *refused; /* reason, or NULL */
};

/* Read a case below the open directory `root`. Paths in it are relative to that directory. All on
 * mem. */
void cedar_case_read(TALLOC_CTX *mem, int root, const char *path, struct cedar_case *ret);

/* Sort the ids of an answer, and compare answers. */
void cedar_answer_sort(struct cedar_answer *answer);
bool cedar_answer_equal(const struct cedar_answer *a, const struct cedar_answer *b);

/* Return an answer as JSON: {"decision", "reason", "errors"}. NULL: no memory. */
char *cedar_answer_text(TALLOC_CTX *mem, const struct cedar_answer *answer);

#endif
