/* The counts of a run: by class, by client, endpoint, subject, scope and reason, with examples
 * (policy.md I9, I12). */
#ifndef AZ_POLICY_IMPACT_TALLY_H
#define AZ_POLICY_IMPACT_TALLY_H

#include <jansson.h>
#include <stdint.h>

#include "policy/impact/classes.h"

/* Keys of a group that are counted one by one, and those that are shown. */
#define IMPACT_KEYS_MAX 10000
#define IMPACT_KEYS_SHOWN 50
/* Distinct clients and people that are counted. */
#define IMPACT_DISTINCT_MAX 100000
/* Octets of what an example shows of one side: long lists make no example clearer. */
#define IMPACT_EXAMPLE_OCTETS 4096

/* One decision, and the audit row that recorded it. */
struct impact_decision {
    int64_t audit_id;
    const char
        *request_id; /* in place of the audit id, which a live decision has not yet; or NULL */
    size_t index;    /* within a batch */
    const char *created_at, *endpoint, *client, *subject;
    int64_t at_ms; /* created_at, milliseconds since 1970 */
    const json_t *input;
    const struct effect *base, *candidate;
};

/* Return the scopes that one side gives, or that the operation needs. NULL: the side allows
 * nothing, or there are no scopes. */
const json_t *impact_scopes(const struct impact_decision *decision, const struct effect *effect);

/* Ways in which a decision is not known (I10). */
enum impact_unknown {
    IMPACT_GIVES_UP,      /* a rule calls a builtin that the machine lacks */
    IMPACT_DAMAGED,       /* the stored question cannot be read */
    IMPACT_NO_ENTRYPOINT, /* the question names none */
    IMPACT_HIDDEN,        /* values that the row does not have */
    IMPACT_UNKNOWNS
};

struct tally;

/* Return an empty tally on mem, which also counts against these watches (watch.h; may be NULL).
 * NULL: no memory. */
struct tally *tally_new(TALLOC_CTX *mem, int64_t examples, const json_t *watches);

/* Count a decision; its values are copied. */
void tally_add(struct tally *tally, const struct impact_decision *decision);

/* Count `count` decisions of one question that the change does not reach (I7). */
void tally_unreached(struct tally *tally, const struct impact_decision *decision, size_t count);

/* Count that the base does not give the recorded answer any more. */
void tally_drift(struct tally *tally);

/* Count `count` decisions that are not known; `builtin` names what the machine lacks, or is NULL.
 */
void tally_unknown(struct tally *tally, const struct impact_decision *decision,
                   enum impact_unknown why, const char *builtin, size_t count);

/* Return the number of decisions that were counted. */
int64_t tally_looked(const struct tally *tally);

/* Note that the decisions are a sample of the audit rows: the answer then has bounds. */
void tally_sampled(struct tally *tally, int64_t rows, int64_t taken);

/* Return the decisions of one row, at most; 1 if there was none. */
int64_t tally_widest(const struct tally *tally);

/* Return the counts as members of the answer, with so many keys of each group, on mem; NULL: no
 * memory, then or before. */
json_t *tally_json(TALLOC_CTX *mem, const struct tally *tally, size_t keys);

#endif
