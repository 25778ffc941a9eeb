/* authz.fcgi: start-up checks, then one of three roles: parent of the pools, FastCGI worker that
 * the web server spawned, or plain CGI. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "accept.h"
#include "base/digits.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "gateway/calls.h"
#include "gateway/process/gateway_process.h"
#include "gateway/relay/relay.h"
#include "host/file.h"
#include "host/mailbox.h"
#include "http/page/page.h"
#include "policy/engine/shadow_tap.h"
#include "pools.h"
#include "process.h"
#include "store/db/db.h"
#include "store/db/db_board.h"
#include "trace/trace.h"

/* Seconds for which a service with a wrong setting keeps systemd's sockets: two starts in the 10
 * seconds in which systemd accepts five (DefaultStartLimitBurst). */
#define CONFIG_EXIT_SECONDS 5

/* The pools, with the number of processes that each has without an option (architecture.md 3). Half
 * of the web workers may wait for other servers, and half of those for one client address: of 8,
 * one address holds two, two are left for other addresses, and four serve the rest. A gateway
 * worker waits for one upstream at a time, all but one of them may
 * (gateway/upstream/room.h), and one of a gateway that is switched off waits for none. */
enum { CORE, WEB, BUNDLES, GATEWAY, POOLS };
static struct pool pools[POOLS] = {
    [CORE] = {.name = "core"},
    [WEB] = { .name = "web",  .workers = 8},
    [BUNDLES] = { .name = "bundles",  .workers = 2},
    [GATEWAY] = { .name = "gateway",  .workers = 8},
};

enum {
    OPT_WORKERS = 'w',
    OPT_LISTEN = 'l',
    OPT_GROUP = 'g',
    OPT_CHECK = 'c',
    OPT_HELP = 'h',
    OPT_VERSION = 'v',
    OPT_POOL = 256 /* plus the index of the pool */
};

static const struct option options[] = {
    {"workers",      required_argument, NULL, OPT_WORKERS       },
    {"web",          required_argument, NULL, OPT_POOL + WEB    },
    {"bundles",      required_argument, NULL, OPT_POOL + BUNDLES},
    {"gateway",      required_argument, NULL, OPT_POOL + GATEWAY},
    {"listen",       required_argument, NULL, OPT_LISTEN        },
    {"socket-group", required_argument, NULL, OPT_GROUP         },
    {"check",        no_argument,       NULL, OPT_CHECK         },
    {"help",         no_argument,       NULL, OPT_HELP          },
    {"version",      no_argument,       NULL, OPT_VERSION       },
    {NULL,           0,                 NULL, 0                 },
};

static const char usage[] =
    "usage: authz.fcgi --workers N [--web N] [--bundles N] [--gateway N]\n"
    "                  --listen [POOL=]unix:PATH ...\n"
    "       authz.fcgi\n"
    "       authz.fcgi --check\n"
    "Without options, serve FastCGI requests on descriptor 0, or one CGI request.\n"
    "  --workers N          serve with N processes in the core pool\n"
    "  --web N              processes in the web pool (default 8)\n"
    "  --bundles N          processes in the bundles pool (default 2)\n"
    "  --gateway N          processes in the gateway pool (default 8; 1 if the gateway is off)\n"
    "  --listen POOL=unix:PATH\n"
    "                       socket of a pool: core (the default), web, bundles or gateway; "
    "systemd\n"
    "                       socket activation with FileDescriptorName=POOL works too\n"
    "  --socket-group NAME  group of the sockets, so that the web server can connect\n"
    "  --check              run the start-up checks only and change nothing; exit with status 0 "
    "or\n"
    "                       78\n"
    "  --help, --version    print this text or the version\n"
    "Settings come from SVC_ variables and from the file that SVC_CONFIG names\n"
    "(default " AUTHZ_CONF ").\n";

struct choices {
    bool check;        /* --check */
    bool parent;       /* --workers: this process is the parent of the pools */
    const char *group; /* group of the sockets, or NULL */
};

static int
fail_usage(const char *what, const char *value)
{
    fprintf(stderr, "authz.fcgi: %s%s%s\n%s", what, value != NULL ? ": " : "",
            value != NULL ? value : "", usage);
    return 64;
}

static bool
read_count(const char *text, int *ret)
{
    int64_t count;
    if (!digits_read(text, POOL_WORKERS_MAX, &count))
        return false;
    *ret = (int) count;
    return true;
}

/* Read POOL=unix:PATH, or unix:PATH for the core pool. */
static bool
read_listen(const char *text)
{
    const char *address = strncmp(text, "unix:", 5) == 0 ? text : strchr(text, '=');
    size_t length = address == text ? 4 : address != NULL ? (size_t) (address - text) : 0;
    const char *name = address == text ? pools[CORE].name : text;
    for (size_t i = 0; address != NULL && i < POOLS; i++)
        if (strlen(pools[i].name) == length && strncmp(pools[i].name, name, length) == 0) {
            pools[i].listen = address == text ? text : address + 1;
            return true;
        }
    return false;
}

/* Return 0 to continue, or the exit status plus one. */
static int
read_options(int argc, char **argv, struct choices *choices)
{
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == OPT_HELP || option == OPT_VERSION) {
            fputs(option == OPT_HELP ? usage : PACKAGE_STRING "\n", stdout);
            return 1;
        }
        if (option == OPT_CHECK) {
            choices->check = true;
        } else if (option == OPT_GROUP) {
            choices->group = optarg;
        } else if (option == OPT_LISTEN) {
            if (!read_listen(optarg))
                return fail_usage("--listen", optarg) + 1;
        } else if (option == OPT_WORKERS || option >= OPT_POOL) {
            choices->parent = choices->parent || option == OPT_WORKERS;
            if (!read_count(optarg,
                            &pools[option == OPT_WORKERS ? CORE : option - OPT_POOL].workers))
                return fail_usage("the number of workers must be from 0 to 256", optarg) + 1;
        } else {
            return fail_usage("unknown option", NULL) + 1;
        }
    }
    return optind < argc ? fail_usage("unexpected argument", argv[optind]) + 1 : 0;
}

static int
report(const struct problems *problems)
{
    for (size_t i = 0; i < problems->count; i++)
        fprintf(stderr, "authz.fcgi: %s\n", problems->line[i]);
    return EXIT_CONFIG;
}

static void
warn_each(const char *what, const struct problems *warnings)
{
    for (size_t i = 0; i < warnings->count; i++)
        log_text(AZ_SEV_WARN, what, "%s", warnings->line[i]);
}

/* Log what is valid but probably a mistake. */
static void
warn(struct az *az)
{
    struct problems warnings = {NULL, 0};
    process_warn(az, az, &warnings);
    warn_each("settings", &warnings);
    warn_each("texts of the pages", pages_warnings(az->pages));
}

/*
 * Check or prepare the database before anything is served. A database that cannot be reached does
 * not stop the start: requests get 503 until it is back. A schema of another version does.
 */
static int
main_database(struct az *az, enum az_status (*step)(struct op *op))
{
    struct op op = process_op(talloc_new(az), az);
    enum az_status st = step(&op);
    int status = 0;
    az->check_owed = st == AZ_UNAVAILABLE;
    if (st == AZ_UNAVAILABLE && !db_is_misplaced(az->db)) {
        log_text(AZ_SEV_WARN, "database unavailable", "%s", op.fault.detail);
    } else if (st != AZ_OK) {
        fprintf(stderr, "authz.fcgi: %s\n", op.fault.detail);
        status = EXIT_CONFIG;
    }
    talloc_free(op.mem);
    return status;
}

/* Run the start-up checks of --check: read and connect, and change nothing. A running service with
 * other settings is not disturbed (decisions.md "Start-up check"). */
static int
main_check(TALLOC_CTX *mem)
{
    struct problems problems = {NULL, 0};
    const char *why;
    struct az *az = process_new(mem, false, &problems);
    if (az != NULL && host_file_check(mem, az->cfg->runtime_dir, &why) != AZ_OK)
        problems_add(mem, &problems, "%s", why);
    if (az == NULL || problems.count > 0)
        return report(&problems);
    warn(az);
    return main_database(az, process_check_database);
}

static int
run_parent(struct az *az, const struct choices *choices)
{
    int inherited = pools_inherit(pools, POOLS);
    if (inherited == 0 && !pools_listen(pools, POOLS, choices->group))
        return EXIT_CONFIG;
    if (pools[CORE].socket == 0)
        return fail_usage("--workers requires --listen unix:PATH", NULL);
    if (!az->cfg->gateway_enabled && pools[GATEWAY].workers > 1)
        pools[GATEWAY].workers = 1; /* it answers 404 */
    if (!az->check_owed)
        process_load_policy(az);
    process_share_policy(az);
    if ((az->shadow_tap = shadow_tap_new(az)) == NULL)
        log_text(AZ_SEV_WARN, "no shadow policies", "their socket cannot be made");
    if (!settings_is_blank(az->cfg->traces_url)
        && (az->tracer = tracer_new(az, az->cfg->traces_one_in)) == NULL)
        log_text(AZ_SEV_WARN, "no traces", "their socket cannot be made");
    bool streams = az->cfg->gateway_enabled && az->cfg->gateway_streams > 0;
    if (streams && (az->gateway->relay = relay_line_new(az)) == NULL)
        log_text(AZ_SEV_WARN, "no streams of MCP clients", "their socket cannot be made");
    if (az->cfg->gateway_enabled && (az->gateway->calls = calls_new(az)) == NULL)
        log_text(AZ_SEV_WARN, "calls of MCP clients cannot be cancelled", "no memory");
    mailbox_sweep(az->cfg->runtime_dir);
    log_text(AZ_SEV_INFO, "started",
             "%s, issuer %s, workers %d core, %d web, %d bundles, %d gateway", PACKAGE_STRING,
             az->cfg->oidc_issuer, pools[CORE].workers, pools[WEB].workers, pools[BUNDLES].workers,
             pools[GATEWAY].socket > 0 ? pools[GATEWAY].workers : 0);
    return pools_run(az, pools, POOLS);
}

/* Stay for a moment if a socket of systemd may have started this: each request in its backlog would
 * start the service again at once, until the start limit stops its sockets. SIGTERM ends it. */
static void
delay_exit(void)
{
    if (pools_inherit(pools, POOLS) > 0)
        sleep(CONFIG_EXIT_SECONDS);
}

/* Check and prepare, then serve. Everything that the process allocates hangs from mem. */
static int
main_serve(TALLOC_CTX *mem, const struct choices *choices)
{
    struct problems problems = {NULL, 0};
    struct az *az = process_new(mem, true, &problems);
    if (az == NULL || problems.count > 0)
        return report(&problems);
    bool cgi = !choices->parent && accept_is_cgi();
    /* A CGI process serves one request, and its warnings would fill the log. */
    if (!cgi || az->cfg->allow_insecure_dev_key)
        warn(az);
    az->parent = choices->parent ? getpid() : getppid();
    if (choices->parent)
        db_forget_line(az->db);
    int status = main_database(az, cgi ? process_prepare_database : process_start_database);
    if (status != 0)
        return status;
    if (choices->parent)
        return run_parent(az, choices);
    pools_worker_signals(az);
    if (cgi)
        accept_cgi(az);
    else
        accept_loop(az, STDIN_FILENO);
    return 0;
}

int
main(int argc, char **argv)
{
    struct choices choices = {.check = false};
    /* RFC 3875 4.4: a web server may pass a query without = as arguments. Those come from the
     * client, not from the operator, so they are not read as options (CVE-2012-1823). */
    int done = read_options(getenv("GATEWAY_INTERFACE") != NULL ? 1 : argc, argv, &choices);
    if (done != 0)
        return done - 1;
    prctl(PR_SET_DUMPABLE, 0); /* keys must not end up in a core dump (architecture.md 7) */
    TALLOC_CTX *mem = talloc_new(NULL);
    int status = choices.check ? main_check(mem) : main_serve(mem, &choices);
    talloc_free(mem); /* secrets are wiped by their destructors */
    if (status == EXIT_CONFIG && !choices.check)
        delay_exit();
    return status;
}
