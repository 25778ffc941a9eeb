/* Parts of statements that counts.c and governance.c share. */
#ifndef AZ_STORE_AUDIT_READ_COUNTS_PRIVATE_H
#define AZ_STORE_AUDIT_READ_COUNTS_PRIVATE_H

/* True for rows `a` that are not in the table of counts yet. Without an upper bound the planner
 * would expect a third of all rows, and read all of them. */
#define AUDIT_UNCOUNTED                                                                            \
    "a.id > (SELECT up_to FROM audit_cut)"                                                         \
    " AND a.id <= (SELECT up_to + 1000000000000 FROM audit_cut)"

/* The counts read these columns of a row `a`. */
#define COUNTED_COLUMNS                                                                            \
    "a.client_id, (a.created_at AT TIME ZONE 'UTC')::date AS day, a.endpoint, a.outcome,"          \
    " a.policy_input IS NOT NULL AS decision,"                                                     \
    " CASE WHEN a.outcome = 'denied' THEN a.request_summary::json ->> 'denyCodes' END AS codes"
/* And this one: the managed resource that the decision is about, if it is about one. */
#define COUNTED_RESOURCE                                                                           \
    " CASE WHEN a.endpoint LIKE '/gateway/%' AND a.policy_input IS NOT NULL"                       \
    "  AND a.outcome <> 'rejected' THEN a.request_summary::json ->> 'resource' END AS resource"

/* The reasons of a row that COUNTED_COLUMNS made, one each, as words_join_texts joined them. */
#define DENIAL_CODES                                                                               \
    "LATERAL (SELECT replace(replace(word, '%20', ' '), '%25', '%') AS code"                       \
    " FROM regexp_split_to_table(codes, ' ') AS word) AS words"

#endif
