/* Parameters, batches and connection strings of store/db/db.h, as far as they need no database. */
#include "config.h"

#include <string.h>

#include "env.h"
#include "store/db/db.h"
#include "tap.h"

static void
test_numbers(void)
{
    static const struct {
        int64_t number;
        const char *text;
    } rows[] = {
        {0,             "0"                   },
        {7,             "7"                   },
        {-7,            "-7"                  },
        {10,            "10"                  },
        {1795258800000, "1795258800000"       },
        {INT64_MAX,     "9223372036854775807" },
        {INT64_MIN,     "-9223372036854775808"},
    };
    struct db_params params = {.count = 0};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        db_number(&params, rows[i].number);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        is_str(params.value[i], rows[i].text, "a number is a decimal text: %s", rows[i].text);
    is_int(params.count, sizeof(rows) / sizeof(rows[0]), "each is one parameter");
}

static void
test_batch(TALLOC_CTX *mem)
{
    static const struct db_stmt stmt = {"nothing", "SELECT 1", 0};
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    az->db = db_new(az, "host=/nonexistent");
    struct db_batch *batch = db_batch_new(&op);
    struct db_step *step = NULL;
    for (int i = 0; i < DB_BATCH_MAX; i++)
        step = db_batch_add_in(batch, &stmt, 5, 6);
    ok(step != NULL && step->stmt == &stmt && step->bucket == 5 && step->day == 6,
       "a batch takes %d statements", DB_BATCH_MAX);
    ok(step->params.count == 0 && step->result == NULL && step->sqlstate[0] == '\0',
       "a new step has no parameters and no result");
    ok(!db_batch_failed_with(batch, "42P01"), "a new batch has not failed");
    struct db_step *more = db_batch_add(batch, &stmt);
    db_number(&more->params, 1);
    ok(more != step && db_batch_add(batch, &stmt) == more, "one more gets the spare step");
    is_int(db_run(&op, batch, true), AZ_SERVER_ERROR, "... and the batch does not run");
    is_str(op.fault.detail, "database: a batch has too many statements", "... and says why");
    az_fault_clear(&op.fault);
    batch = db_batch_new(&op);
    db_batch_add(batch, &stmt)->params.lost = true;
    is_int(db_run(&op, batch, true), AZ_SERVER_ERROR, "nor one with a value that got no memory");
    is_str(op.fault.detail, "database: out of memory", "... with another text");
}

/* Each text says what is wrong; SECRET stands where a password would. */
static void
test_url(void)
{
    static const char *const good[] = {
        "",
        "host=/run/postgresql dbname=authz",
        "postgresql:///authz",
        "postgresql://u:SECRET@h/d",
        "postgresql://u:a%40SECRET%2Fb@h:5432/d?sslmode=verify-full",
        "postgresql://[::1]:5432/d",
        "password='two SECRET words' host=h",
    };
    static const struct {
        const char *url, *word;
    } bad[] = {
        {"authz",                              "without ="    },
        {"host=h password=two SECRET",         "without ="    },
        {"host=h password='SECRET",            "quote"        },
        {"host=h passwort=SECRET",             "keyword"      },
        {"postgresql://u:SECRET%zz@h/d",       "% "           },
        {"postgresql://u:SECRET%00@h/d",       "%00"          },
        {"postgresql://h/d?passwort=SECRET",   "parameter"    },
        {"postgresql://h/d?SECRET",            "without ="    },
        {"postgresql://h/d?password=SECRET=x", "more than one"},
        {"postgresql://[SECRET/d",             "[ without"    },
        {"postgresql://[]/d",                  "empty"        },
        {"postgresql://[::1]SECRET/d",         "after the ]"  },
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        ok(db_url_fault(good[i]) == NULL, "libpq understands `%s`", good[i]);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *fault = db_url_fault(bad[i].url);
        ok(fault != NULL && strstr(fault, bad[i].word) != NULL, "`%s` is refused: %s", bad[i].url,
           fault != NULL ? fault : "(it is not)");
        ok(fault != NULL && strstr(fault, "SECRET") == NULL, "... and no part of it is told");
    }
}

/* The log line for a connection that cannot be made. */
static void
test_connect(TALLOC_CTX *mem)
{
    static const struct {
        const char *url;
        enum az_status status;
        const char *word; /* in the detail */
    } rows[] = {
        {"postgresql:///d?host=/nonexistent",             AZ_UNAVAILABLE, "/nonexistent"    },
        {"postgresql://u:SECRET@127.0.0.1:1/d",           AZ_UNAVAILABLE, "127.0.0.1"       },
        {"postgresql://u:x@SECRET@127.0.0.1:1/d",         AZ_UNAVAILABLE, "%40"             },
        {"postgresql://u:SECRET/x@127.0.0.1:1/d",         AZ_UNAVAILABLE, "%40"             },
        {"postgres://u:SECRET/x?y=@127.0.0.1:1/d",        AZ_CONFLICT,    "SVC_DATABASE_URL"},
        {"host=127.0.0.1 port=1 password=a@SECRET://b/c", AZ_UNAVAILABLE, "127.0.0.1"       },
        {"host=127.0.0.1 port=1 password=two SECRET",     AZ_CONFLICT,    "SVC_DATABASE_URL"},
        {"postgresql://u:SECRET%zz@127.0.0.1:1/d",        AZ_CONFLICT,    "SVC_DATABASE_URL"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct az *az = env_az(mem);
        struct op op = env_op(mem, az);
        az->db = db_new(az, rows[i].url);
        is_int(db_connect(&op), rows[i].status, "nothing is connected by `%s`", rows[i].url);
        ok(strstr(op.fault.detail, rows[i].word) != NULL
               && strstr(op.fault.detail, "SECRET") == NULL,
           "... and the detail says why, without a part of the password");
        talloc_free(az);
    }
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    test_numbers();
    test_batch(mem);
    test_url();
    test_connect(mem);
    talloc_free(mem);
    return done();
}
