/* Results that are not whole: the server counts rows in the end of a command, and libpq may have
 * dropped one for lack of memory; and answers that were not read (performance.md R7). A server of
 * this test says what it is told. */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env.h"
#include "store/db/db_private.h"
#include "tap.h"

/* clang-format off */
static const struct {
    bool described; /* the command has columns */
    int rows;       /* that arrive */
    const char *tag; /* end of the command */
    bool whole;
    const char *name;
} cases[] = {
    {true, 2, "SELECT 2", true, "all rows of a SELECT"},
    {true, 0, "SELECT 0", true, "a SELECT that found nothing"},
    {true, 0, "SELECT 2", false, "none of two rows"},
    {true, 1, "SELECT 2", false, "one of two rows"},
    {false, 0, "SELECT 2", false, "a SELECT without its columns"},
    {false, 0, "SELECT 0", false, "... that found nothing"},
    {true, 1, "INSERT 0 1", true, "the row of INSERT ... RETURNING"},
    {true, 0, "INSERT 0 1", false, "INSERT ... RETURNING without it"},
    {false, 0, "INSERT 0 1", true, "INSERT without RETURNING"},
    {true, 0, "UPDATE 1", false, "UPDATE ... RETURNING without its row"},
    {false, 0, "UPDATE 0", true, "UPDATE of no row"},
    {true, 1, "SHOW", true, "a command that counts nothing"},
    {false, 0, "COMMIT", true, "COMMIT"},
};
/* clang-format on */

#define COUNT (sizeof(cases) / sizeof(cases[0]))

/* Connections of test_script, which have the numbers behind those of the cases. */
enum { UNREAD = COUNT, READ, REFUSED, CONNECTIONS };

/* Messages of the protocol of PostgreSQL (its manual, 55.7). */
#define AUTHENTICATED "R\0\0\0\x08\0\0\0\0"
#define READY "Z\0\0\0\x05I"
#define DESCRIPTION "T\0\0\0\x1a\0\x01n\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0"
#define ROW "D\0\0\0\x0b\0\x01\0\0\0\x01x"
#define ERROR "E\0\0\0\x17SERROR\0C42P01\0Mno\0"

static void
say(FILE *to, const char *octets, size_t size)
{
    if (fwrite(octets, 1, size, to) != size)
        _exit(1);
}

static void
answer(FILE *to, size_t which)
{
    size_t length = strlen(cases[which].tag) + 1;
    if (cases[which].described)
        say(to, DESCRIPTION, sizeof(DESCRIPTION) - 1);
    for (int i = 0; i < cases[which].rows; i++)
        say(to, ROW, sizeof(ROW) - 1);
    say(to, (const char[]){'C', 0, 0, 0, (char) (4 + length)}, 5);
    say(to, cases[which].tag, length);
    say(to, READY, sizeof(READY) - 1);
    fflush(to);
}

static void
refuse(FILE *to)
{
    say(to, ERROR, sizeof(ERROR));
    say(to, READY, sizeof(READY) - 1);
    fflush(to);
}

/* Answer the n-th connection with the n-th case, or the last one. */
static void
serve(int listening)
{
    char said[1024];
    signal(SIGPIPE, SIG_IGN); /* a client that does not read the answer has gone */
    for (size_t i = 0; i < CONNECTIONS; i++) {
        int fd = accept(listening, NULL, NULL);
        FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (to == NULL)
            _exit(1);
        if (read(fd, said, sizeof(said)) <= 0) {
            fclose(to);
            _exit(1);
        }
        say(to, AUTHENTICATED READY, sizeof(AUTHENTICATED READY) - 1);
        fflush(to);
        if (read(fd, said, sizeof(said)) > 0 && i == REFUSED)
            refuse(to);
        else
            answer(to, i < COUNT ? i : COUNT - 1);
        while (read(fd, said, sizeof(said)) > 0)
            ;
        fclose(to);
    }
}

/* Let poll() fail, which waits for no more descriptors than a process may have. */
static void
let_poll_fail(bool fails)
{
    static struct rlimit before;
    struct rlimit none;
    if (fails)
        getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_NOFILE, fails ? &none : &before);
}

/* A script whose answer was not read leaves no connection: the next one would read that answer. */
static void
test_script(const char *url)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    struct op op = env_op(mem, az);
    az->db = db_new(az, url);
    is_int(db_connect(&op), AZ_OK, "a connection");
    let_poll_fail(true);
    enum az_status st = db_script(&op, "SET a = 1");
    let_poll_fail(false);
    is_int(st, AZ_UNAVAILABLE, "a script without poll() fails");
    ok(!db_is_open(az->db), "... and ends the connection");
    az_fault_clear(&op.fault);
    is_int(db_script(&op, "SET a = 1"), AZ_OK, "... the next one is answered");
    is_int(db_generation(az->db), 2, "... by another connection");
    db_close(az->db);
    is_int(db_script(&op, "SET b = 1"), AZ_SERVER_ERROR, "a script that the server refuses fails");
    ok(db_is_open(az->db), "... and its connection stays");
    az_fault_clear(&op.fault);
    talloc_free(mem);
}

int
main(void)
{
    char dir[] = "/tmp/db_result-XXXXXX", url[128];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    if (mkdtemp(dir) == NULL)
        return 1;
    snprintf(at.sun_path, sizeof(at.sun_path), "%s/.s.PGSQL.1", dir);
    snprintf(url, sizeof(url), "host=%s port=1 dbname=d user=u gssencmode=disable", dir);
    if (bind(listening, (struct sockaddr *) &at, sizeof(at)) != 0 || listen(listening, 1) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        serve(listening);
        _exit(0);
    }
    plan(0);
    for (size_t i = 0; i < COUNT; i++) {
        PGconn *conn = PQconnectdb(url);
        PGresult *result = PQexec(conn, "SELECT");
        ok(db_result_ok(result), "%s: libpq takes it for good", cases[i].name);
        ok(db_result_is_whole(result) == cases[i].whole, "... %s whole",
           cases[i].whole ? "and it is" : "but it is not");
        PQclear(result);
        PQfinish(conn);
    }
    ok(!db_result_is_whole(NULL), "no result is not whole");
    test_script(url);
    waitpid(child, NULL, 0);
    unlink(at.sun_path);
    rmdir(dir);
    return done();
}
