#include "config.h"

#include "store/db/keep/jobs.h"

#include "store/db/db.h"

/* A job whose due time is later than today's settings give runs now: the settings were changed. */
static const struct db_stmt job_claim_stmt = {
    "job_claim",
    "INSERT INTO job (name, due_at, ran_at) VALUES ($1, now() + make_interval(secs => $2::double "
    "precision), now())"
    " ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at, ran_at = now() WHERE job.due_at "
    "<= now() OR job.due_at > excluded.due_at + interval '1 minute' OR $3::boolean",
    3};
static const struct db_stmt job_outcome_stmt = {"job_outcome",
                                                "UPDATE job SET outcome = $2 WHERE name = $1", 2};

enum az_status
job_claim(struct op *op, const char *name, int64_t seconds, bool only_if_due, bool *ret_ours)
{
    struct db_params params = {.count = 0};
    PGresult *result;
    db_text(&params, name);
    db_number(&params, seconds);
    db_bool(&params, !only_if_due);
    enum az_status st = db_exec(op, &job_claim_stmt, &params, false, &result);
    *ret_ours = st == AZ_OK && db_written(result) > 0;
    return st;
}

enum az_status
job_note(struct op *op, const char *name, const char *outcome)
{
    struct db_params params = {.count = 0};
    db_text(&params, name);
    db_text(&params, outcome);
    return db_exec(op, &job_outcome_stmt, &params, false, NULL);
}
