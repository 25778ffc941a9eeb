/* The places of the rules in Rego that give reasons, so that a reason names its file
 * (policy.md 6.5).
 */
#ifndef AZ_POLICY_ROWS_RULE_PLACES_H
#define AZ_POLICY_ROWS_RULE_PLACES_H

#include "policy/rows/rule_unread.h"

/* Key under which the bundle has the places (svc.lib.hooks). */
#define RULE_PLACES_KEY "svc.rule_places"

/*
 * Return the places of the hooks `deny`, owned by mem:
 *
 *   {"custom.issue.deny": {"texts": {"closed": {"path": "custom/a.rego", "line": 3}},
 *                          "rest": {"path": "custom/b.rego", "line": 5}}}
 *
 * `texts` has the strings of each rule: a reason that is one of them is that rule's. A string
 * behind `contains`, or that is a code, counts more than others; one that several rules have has no
 * place. `rest` is the rule that makes its reasons otherwise, if there is one alone. An empty
 * object: there are no such rules. NULL: out of memory.
 */
json_t *rule_places_find(TALLOC_CTX *mem, const struct rule_text *rules, size_t count);

#endif
