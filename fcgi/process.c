#include "config.h"

#include "process.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "crypto/keyring.h"
#include "crypto/random.h"
#include "gateway/process/gateway_process.h"
#include "host/file.h"
#include "http/counters.h"
#include "http/page/page.h"
#include "http/shared.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_plan.h"
#include "policy/engine/shared_data.h"
#include "policy/engine/witness.h"
#include "store/clients/clients.h"
#include "store/db/connect/db_standby.h"
#include "store/db/db.h"
#include "store/db/db_board.h"
#include "store/db/keep/locks.h"
#include "store/db/rows/audit.h"
#include "store/people/admin_keys.h"
#include "store/people/session_cleanup.h"
#include "store/schema/schema.h"
#include "store/tokens/signing_keys_turn.h"

static volatile int stopping;

/* Octets of a random number that a lock is made of. */
#define MARK_SIZE 16
#define APART                                                                                      \
    "SVC_DATABASE_DIRECT_URL leads to another database than SVC_DATABASE_URL, or to another "      \
    "server: let it name what the pooler leads to, see [databases] in pgbouncer.ini"

/* Looks at a database that cannot be used before the service does not start, or stops, and the
 * seconds between two of them. */
#define LOOKS 3
#define LOOK_AGAIN_SECONDS 5

/* The files of SVC_RUNTIME_DIR that only this page opens. */
struct witness_map {
    struct host_head head;
    struct witness_board board;
};
struct database_map {
    struct host_head head;
    struct db_board board;
};

static void
use_witness(struct az *az, const struct host_file *mapped)
{
    az->witness = witness_new(az, &((struct witness_map *) mapped->at)->board);
}

static void
use_database(struct az *az, const struct host_file *mapped)
{
    db_use_board(az->db, &((struct database_map *) mapped->at)->board);
}

/* A mapped file: MAGIC changes with the struct and with the meaning of its members. */
struct process_file {
    const char *name;
    uint64_t magic;
    size_t size; /* octets */
    void (*use)(struct az *az, const struct host_file *mapped);
};
static const struct process_file witness_file = {"witness", 0x617a7769746e6574ULL,
                                                 sizeof(struct witness_map), use_witness};
static const struct process_file database_file = {"database", 0x617a646174616232ULL,
                                                  sizeof(struct database_map), use_database};

static enum az_status
open_file(struct az *az, const struct process_file *file, const char **ret_why)
{
    struct host_file *mapped;
    enum az_status st = host_file_open(az, az->cfg->runtime_dir, file->name, file->magic,
                                       file->size, &mapped, ret_why);
    if (st == AZ_OK)
        file->use(az, mapped);
    return st;
}

/* Let the command line know the newest timeline that the host knows, without a change to the file.
 */
static bool
know_writer(struct az *az)
{
    struct database_map known;
    struct db_board *board = talloc_zero(az, struct db_board);
    if (board == NULL)
        return false;
    if (host_file_read(az, az->cfg->runtime_dir, database_file.name, database_file.magic, &known,
                       database_file.size))
        atomic_store(&board->line, atomic_load(&known.board.line));
    db_use_board(az->db, board);
    db_look_at_all(az->db);
    return true;
}

/* Check the address past a pooler. */
static void
check_direct_url(struct az *az, struct problems *problems)
{
    const char *fault = db_url_fault(az->cfg->database_direct_url);
    if (fault != NULL)
        problems_add(az, problems,
                     "SVC_DATABASE_DIRECT_URL: %s; write it as postgresql://USER@HOST/DATABASE",
                     fault);
}

/* Check the address of the standby: the one server of SVC_DATABASE_URL is none. */
static void
check_read_url(struct az *az, struct problems *problems)
{
    const char *url = az->cfg->database_read_url, *fault = db_url_fault(url);
    if (fault != NULL)
        problems_add(az, problems,
                     "SVC_DATABASE_READ_URL: %s; write it as postgresql://USER@HOST/DATABASE",
                     fault);
    else if (db_is_same_server(url, az->cfg->database_url))
        problems_add(az, problems,
                     "SVC_DATABASE_READ_URL: names the one server of SVC_DATABASE_URL, which takes "
                     "the writes; name a standby, or a list of servers with one, or delete it");
}

/* Only the keyring needs settings without a default; the CLI can run without a keyring. */
static bool
make_handles(struct az *az)
{
    const struct settings *cfg = az->cfg;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return false;
    az->db = db_new(az, cfg->database_url);
    if (az->db != NULL && !settings_is_blank(cfg->database_direct_url)
        && !db_use_pooler(az->db, cfg->database_direct_url))
        return false;
    if (!settings_is_blank(cfg->database_read_url))
        az->standby = db_standby_new(az, cfg->database_read_url);
    az->engine = engine_new(az, cfg->opa_url, cfg->policy_timeout_ms);
    az->clients = client_cache_new(az);
    if (cfg->credential_key != NULL && cfg->admin_pepper != NULL)
        az->keyring = keyring_new(az, cfg->credential_key, cfg->admin_pepper);
    if (az->keyring != NULL && cfg->credential_old != NULL && *cfg->credential_old != '\0'
        && keyring_add_previous(az->keyring, cfg->credential_old) != AZ_OK)
        TALLOC_FREE(az->keyring);
    return az->db != NULL && az->engine != NULL && az->clients != NULL
           && (az->standby != NULL || settings_is_blank(cfg->database_read_url));
}

struct az *
process_new(TALLOC_CTX *mem, bool with_shared, struct problems *problems)
{
    struct az *az = talloc_zero(mem, struct az);
    struct settings *cfg = az != NULL ? settings_load(az, AUTHZ_CONF, problems) : NULL;
    const char *why = NULL;
    if (cfg == NULL)
        return NULL;
    settings_check(az, cfg, problems);
    log_level_set(cfg->log_level);
    log_format_set(cfg->log_format);
    az->cfg = cfg;
    if (!settings_is_blank(cfg->database_direct_url))
        check_direct_url(az, problems);
    if (!settings_is_blank(cfg->database_read_url))
        check_read_url(az, problems);
    az->gateway = talloc_zero(az, struct gateway_process);
    if (az->gateway == NULL)
        return NULL;
    az->stopping = &stopping;
    az->pool = "single";
    if (with_shared && problems->count == 0
        && (shared_open(az, cfg->runtime_dir, &az->shared, &why) != AZ_OK
            || counters_open(az, cfg->runtime_dir, &az->counters, &why) != AZ_OK
            || open_file(az, &witness_file, &why) != AZ_OK))
        problems_add(az, problems, "%s", why);
    az->metrics = az->counters != NULL ? counters_metrics(az->counters) : NULL;
    az->dpop_algs = cfg->dpop_enabled ? cfg->dpop_signing_algs : NULL;
    az->pages = pages_load(az, cfg, problems);
    if (!make_handles(az) || (!with_shared && !know_writer(az)))
        return NULL;
    if (with_shared && problems->count == 0 && open_file(az, &database_file, &why) != AZ_OK)
        problems_add(az, problems, "%s", why);
    return az->keyring != NULL || problems->count > 0 ? az : NULL;
}

struct op
process_op(TALLOC_CTX *mem, struct az *az)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (struct op){.mem = mem,
                       .az = az,
                       .request_id = "none",
                       .now_ms = (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000};
}

/* Return the first line of a small file in /proc, "" if it cannot be read. */
static const char *
process_read_line(TALLOC_CTX *mem, const char *path)
{
    char line[1024] = "";
    FILE *file = fopen(path, "re");
    if (file != NULL) {
        if (fgets(line, sizeof(line), file) == NULL)
            line[0] = '\0';
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    return talloc_strdup(mem, line);
}

/*
 * Return a text that names this start of the parent process: boot id, pid, and start time (proc(5),
 * field 22 of stat; the command name before it may contain any character but ends at the last
 * parenthesis). Without /proc use our own pid and the present time: then the secrets are discarded
 * once too often, which does no harm.
 */
static const char *
name_start(struct op *op)
{
    const char *stat =
        process_read_line(op->mem, talloc_asprintf(op->mem, "/proc/%ld/stat", op->az->parent));
    const char *at = strrchr(stat, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at == NULL)
        return talloc_asprintf(op->mem, "%ld %lld", (long) getpid(), (long long) op->now_ms);
    return talloc_asprintf(op->mem, "%s %ld %.*s",
                           process_read_line(op->mem, "/proc/sys/kernel/random/boot_id"),
                           op->az->parent, (int) strcspn(at + 1, " "), at + 1);
}

/* Discard per-user secrets once per start if SVC_CREDENTIAL_KEY_DISCARD_PER_USER says so: the
 * response to a compromise (specification 8). */
static enum az_status
discard_per_user(struct op *op)
{
    struct session_discarded gone;
    if (!op->az->cfg->discard_per_user || op->az->parent == 0)
        return AZ_OK;
    enum az_status st = session_discard(op, name_start(op), &gone);
    if (st != AZ_OK || !gone.done)
        return st;
    log_text(AZ_SEV_WARN, "per-user secrets discarded",
             "SVC_CREDENTIAL_KEY_DISCARD_PER_USER: %lld browser sessions, %lld sign-ins, %lld "
             "connections, %lld links; unset it before the next start",
             (long long) gone.sessions, (long long) gone.sign_ins, (long long) gone.connections,
             (long long) gone.links);
    const struct audit_entry entry = {
        .request_id = op->request_id,
        .endpoint = "(start)",
        .operation = "discardPerUser",
        .method = "",
        .outcome = "allowed",
        .summary = talloc_asprintf(
            op->mem, "{\"sessions\":%lld,\"signIns\":%lld,\"connections\":%lld,\"links\":%lld}",
            (long long) gone.sessions, (long long) gone.sign_ins, (long long) gone.connections,
            (long long) gone.links),
    };
    return audit_insert(op, &entry);
}

/* Begin a transaction that holds the lock of a random number. */
static enum az_status
hold_mark(struct op *op, const unsigned char mark[MARK_SIZE])
{
    enum az_status st = db_begin(op);
    if (st != AZ_OK)
        return st;
    struct db_batch *batch = db_batch_new(op);
    lock_add(batch, LOCK_MARK, mark, MARK_SIZE);
    return db_run(op, batch, false);
}

/*
 * Check that both addresses lead to the same database of the same server: a lock that is taken past
 * the pooler is seen through it, which it is not in a copy of the database. AZ_UNAVAILABLE: the
 * connection of the lock was lost meanwhile, or is to a former primary.
 */
static enum az_status
check_direct(struct op *op)
{
    struct az *az = op->az;
    unsigned char mark[MARK_SIZE];
    bool seen = false;
    if (!db_is_pooled(az->db))
        return AZ_OK;
    if (random_octets(mark, sizeof(mark)) != AZ_OK || !db_enter_session(az, false))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no randomness, or no memory for a session");
    enum az_status st = hold_mark(op, mark);
    db_leave_session(az);
    if (st == AZ_OK)
        st = lock_is_held(op, LOCK_MARK, mark, sizeof(mark), &seen);
    db_enter_session(az, false);
    st = db_end(op, st);
    db_close(az->db);
    db_leave_session(az);
    return st == AZ_OK && !seen ? op_fail(op, AZ_CONFLICT, NULL, APART) : st;
}

enum az_status
process_check_database(struct op *op)
{
    enum az_status st = check_direct(op);
    if (st == AZ_OK)
        st = schema_check(op);
    return st == AZ_OK ? signing_keys_check_stored(op) : st;
}

enum az_status
process_look(struct op *op, enum az_status (*check)(struct op *op))
{
    const struct timespec pause = {LOOK_AGAIN_SECONDS, 0};
    enum az_status st = check(op);
    for (int look = 1; st == AZ_CONFLICT && look < LOOKS && !*op->az->stopping; look++) {
        log_text(AZ_SEV_WARN, "database checked again", "%s; in %d s once more", op->fault.detail,
                 LOOK_AGAIN_SECONDS);
        db_close(op->az->db); /* the next look is of where the addresses lead then */
        nanosleep(&pause, NULL);
        az_fault_clear(&op->fault); /* az_fail() returns the status of the first fault */
        st = check(op);
    }
    return st;
}

/* Check and make what is in the database, whose addresses have been checked. */
static enum az_status
prepare(struct op *op)
{
    bool made;
    enum az_status st = schema_check(op);
    if (st == AZ_OK)
        st = signing_keys_ensure(op, &made);
    if (st == AZ_OK)
        st = signing_keys_withdraw(op);
    if (st == AZ_OK)
        st = signing_keys_check(op);
    if (st == AZ_OK)
        st = admin_key_register_configured(op);
    if (st == AZ_OK)
        st = discard_per_user(op);
    return st;
}

enum az_status
process_prepare_database(struct op *op)
{
    enum az_status st = check_direct(op);
    return st == AZ_OK ? prepare(op) : st;
}

enum az_status
process_start_database(struct op *op)
{
    enum az_status st = process_look(op, check_direct);
    return st == AZ_OK ? prepare(op) : st;
}

void
process_load_policy(struct az *az)
{
    struct op op = process_op(talloc_new(az), az);
    engine_renew(&op);
    talloc_free(op.mem);
}

void
process_share_policy(struct az *az)
{
    if (!settings_engine_is_embedded(az->cfg))
        return;
    az->shared_data = shared_data_new(az, ENGINE_PLAN_OCTETS_MAX);
    if (az->shared_data == NULL)
        log_text(AZ_SEV_WARN, "policy data not shared",
                 "each worker keeps the data of a saved policy for itself: %s", strerror(errno));
}
