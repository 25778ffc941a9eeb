/* Stored policy as the verbs read it: by the store on the database, or over the admin API with
 * --server, which answers with the same texts. Each function returns the exit status after printing
 * the error; texts are on cli->mem. */
#ifndef AZ_CLI_POLICY_STORED_H
#define AZ_CLI_POLICY_STORED_H

#include <jansson.h>

#include "cli/lib/call.h"
#include "cli/lib/limits.h"
#include "cli/policy/refusal.h"
#include "store/policy/policy_rows.h"
#include "store/policy/policy_rules.h"

/* Read all rules or data rows, or the newest bundles, as a JSON array. */
int stored_rules(struct cli *cli, const char **ret_list);
int stored_rows(struct cli *cli, const char **ret_list);
int stored_bundles(struct cli *cli, int64_t count, const char **ret_list);

/* Read the newest bundle as JSON, or NULL if there is none. */
int stored_latest(struct cli *cli, const char **ret_bundle);

/* Read the rules and rows of a bundle; NULL: it does not exist, or they were not kept. */
int stored_content(struct cli *cli, int64_t id, json_t **ret);

/* Read a rule or a data row; content or payload stays NULL if there is none. */
int stored_rule(struct cli *cli, const char *path, struct policy_rule *ret);
int stored_row(struct cli *cli, const char *key, struct policy_row *ret);

/* Send a save over the admin API. *ret_missing: the answer was 404, which is not printed. A refusal
 * is printed as that of a save on the database. */
int stored_save(struct cli *cli, const struct call *call, const struct refusal_source *source,
                struct answer *ret, bool *ret_missing);

/* Read the measurement of a save that was asked for by the options, from the head of the answer;
 * *ret stays NULL if nothing was measured. */
int stored_impact(struct cli *cli, const struct answer *answer, json_t **ret);

/* Return the revision and the activation of a save from the head of the answer. */
const char *stored_revision(const struct cli *cli, const struct answer *answer);
const char *stored_activation(const struct cli *cli, const struct answer *answer);

/* Parameters of a save over the admin API: the limits, the message, and one of the caller. */
#define STORED_QUERY_MAX (LIMITS_QUERY_MAX + 2)

/* Fill the parameters: `first`, the limits that were given, and the message; returns their number.
 */
size_t stored_query(const struct cli *cli, struct query_pair first, struct query_pair *ret);

/* True if a save is a request of the admin API: with --server, and with limits, which that
 * measures. */
bool stored_asks(const struct cli *cli);

#endif
