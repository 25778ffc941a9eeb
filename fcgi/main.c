/* authz.fcgi: start-up checks, then one of its shapes: parent of pools, web-server-spawned FastCGI
 * worker, or plain CGI. */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "accept.h"
#include "base/log.h"
#include "pools.h"
#include "process.h"

/* The pools and how many processes each has unless an option says otherwise (architecture.md 3).
 * Half of the web workers may wait for servers of others: of 4, two people sign in at a moment
 * while two workers serve the rest. */
#define WEB_WORKERS 4
#define SIDE_WORKERS 2
static struct pool pools[] = {
    {.name = "core"          },
    { .name = "web",  .workers = WEB_WORKERS},
    { .name = "bundles", .workers = SIDE_WORKERS},
    { .name = "gateway", .workers = SIDE_WORKERS}
};
#define POOLS (sizeof(pools) / sizeof(pools[0]))

enum {
    OPT_WORKERS = 'w',
    OPT_LISTEN = 'l',
    OPT_GROUP = 'g',
    OPT_CHECK = 'c',
    OPT_HELP = 'h',
    OPT_VERSION = 'v',
    OPT_POOL = 256
};

static const struct option options[] = {
    {"workers",      required_argument, NULL, OPT_WORKERS },
    {"web",          required_argument, NULL, OPT_POOL + 1},
    {"bundles",      required_argument, NULL, OPT_POOL + 2},
    {"gateway",      required_argument, NULL, OPT_POOL + 3},
    {"listen",       required_argument, NULL, OPT_LISTEN  },
    {"socket-group", required_argument, NULL, OPT_GROUP   },
    {"check",        no_argument,       NULL, OPT_CHECK   },
    {"help",         no_argument,       NULL, OPT_HELP    },
    {"version",      no_argument,       NULL, OPT_VERSION },
    {NULL,           0,                 NULL, 0           },
};

static const char usage[] =
    "usage: authz.fcgi --workers N [--web N] [--bundles N] [--gateway N] --listen [POOL=]unix:PATH "
    "...\n"
    "       authz.fcgi            (spawned by a web server: FastCGI on descriptor 0, else one CGI "
    "request)\n"
    "       authz.fcgi --check    (start-up checks only; exit status 0 or 78)\n"
    "  --workers N          processes of the core pool; web has 4, bundles and gateway 2 each\n"
    "  --listen POOL=...    socket of a pool (core, web, bundles, gateway; core when POOL is left "
    "out);\n"
    "                       systemd socket activation with FileDescriptorName= works too\n"
    "  --socket-group NAME  group of the sockets, so that the web server may connect\n"
    "Settings come from SVC_ variables or the file SVC_CONFIG names (default " AUTHZ_CONF ").\n";

struct choices {
    bool check, parent; /* which shape */
    const char *group;  /* of the sockets */
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
    char *end;
    long count = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || count < 0 || count > POOL_WORKERS_MAX)
        return false;
    *ret = (int) count;
    return true;
}

/* POOL=unix:PATH, or unix:PATH for core. */
static bool
read_listen(const char *text)
{
    const char *address = strncmp(text, "unix:", 5) == 0 ? text : strchr(text, '=');
    size_t length = address == text ? 4 : address != NULL ? (size_t) (address - text) : 0;
    const char *name = address == text ? "core" : text;
    for (size_t i = 0; address != NULL && i < POOLS; i++)
        if (strlen(pools[i].name) == length && strncmp(pools[i].name, name, length) == 0) {
            pools[i].listen = address == text ? text : address + 1;
            return true;
        }
    return false;
}

/* 0 to go on, else the exit status plus one. */
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
            if (!read_count(optarg, &pools[option == OPT_WORKERS ? 0 : option - OPT_POOL].workers))
                return fail_usage("not a number of workers from 0 to 256", optarg) + 1;
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

/*
 * The database is looked at before anything is served. A database that is away is no reason to
 * refuse: requests get 503 until it is there. A schema that does not fit is.
 */
static int
check_database(struct az *az)
{
    struct op op = process_op(talloc_new(az), az);
    enum az_status st = process_check_database(&op);
    int status = 0;
    az->check_owed = st == AZ_UNAVAILABLE;
    if (st == AZ_UNAVAILABLE) {
        log_text(AZ_SEV_WARN, "database is away", "%s", op.fault.detail);
    } else if (st != AZ_OK) {
        fprintf(stderr, "authz.fcgi: %s\n", op.fault.detail);
        status = EXIT_CONFIG;
    }
    talloc_free(op.mem);
    return status;
}

static int
run_parent(struct az *az, const struct choices *choices)
{
    int inherited = pools_inherit(pools, POOLS);
    if (inherited == 0 && !pools_listen(pools, POOLS, choices->group))
        return EXIT_CONFIG;
    if (pools[0].socket == 0)
        return fail_usage("--workers needs --listen unix:PATH", NULL);
    log_text(AZ_SEV_INFO, "started",
             "%s, issuer %s, workers %d core, %d web, %d bundles, %d gateway", PACKAGE_STRING,
             az->cfg->oidc_issuer, pools[0].workers, pools[1].workers, pools[2].workers,
             pools[3].workers);
    return pools_run(az, pools, POOLS);
}

/* Everything that the process holds lies on mem. */
static int
serve(TALLOC_CTX *mem, const struct choices *choices)
{
    struct problems problems = {NULL, 0};
    struct az *az = process_new(mem, true, &problems);
    if (az == NULL || problems.count > 0)
        return report(&problems);
    if (az->cfg->allow_insecure_dev_key)
        log_text(AZ_SEV_WARN, "development mode",
                 "SVC_ALLOW_INSECURE_DEV_KEY opens the admin API and uses public keys");
    bool cgi = !choices->parent && !choices->check && accept_is_cgi();
    if (!choices->check)
        az->parent = choices->parent ? getpid() : getppid();
    int status = check_database(az);
    if (status != 0 || choices->check)
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
    /* RFC 3875 4.4: a query without = becomes arguments. They are the caller's, not the operator's
     * (CVE-2012-1823). */
    int done = read_options(getenv("GATEWAY_INTERFACE") != NULL ? 1 : argc, argv, &choices);
    if (done != 0)
        return done - 1;
    prctl(PR_SET_DUMPABLE, 0); /* no core dump holds a key (architecture.md 7) */
    TALLOC_CTX *mem = talloc_new(NULL);
    int status = serve(mem, &choices);
    talloc_free(mem); /* secrets are wiped by their destructors */
    return status;
}
