#include "config.h"

#include "accept.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "accept_fastcgi.h"
#include "base/digits.h"
#include "base/log.h"
#include "http/serve/dispatch.h"
#include "policy/engine/engine_embedded.h"
#include "policy/engine/prepare.h"
#include "policy/engine/shadow_tap.h"
#include "policy/engine/witness.h"
#include "process.h"
#include "store/db/rows/audit.h"

/* Most octets of an unread body that are read and dropped, so that the web server gets as far as
 * the answer. Above the body limit of the shipped configurations. */
#define DRAIN_MAX (16 << 20)

extern char **environ;

static const char *
cgi_variable(const struct http_io *io, const char *name)
{
    (void) io;
    return fastcgi_variable_once(environ, name);
}

/* Read at most the octets that CONTENT_LENGTH announced: RFC 3875 4.2 promises no end of file.
 * Apache passes a chunked body on without a length, but with an end of file. */
static long
cgi_read(const struct http_io *io, void *buffer, size_t size)
{
    size_t *left = io->handle;
    ssize_t got;
    do
        got = read(STDIN_FILENO, buffer, size < *left ? size : *left);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        *left -= (size_t) got;
    return got;
}

static bool
cgi_write(const struct http_io *io, const void *octets, size_t size)
{
    (void) io;
    const char *at = octets;
    while (size > 0) {
        ssize_t put = write(STDOUT_FILENO, at, size);
        if (put < 0 && errno != EINTR)
            return false;
        if (put > 0)
            at += put, size -= (size_t) put;
    }
    return true;
}

static void
cgi_finish(const struct http_io *io)
{
    char octets[8192];
    long total = 0, got;
    /* mod_cgid loses the answer if the program ends with unread input. */
    while (total < DRAIN_MAX && (got = cgi_read(io, octets, sizeof(octets))) > 0)
        total += got;
    close(STDOUT_FILENO);
}

/* FastCGI 1.0 section 2.2: descriptor 0 (FCGI_LISTENSOCK_FILENO) is a listening socket. The
 * standard input of a CGI program is not. */
bool
accept_is_cgi(void)
{
    int listening = 0;
    socklen_t length = sizeof(listening);
    return getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listening, &length) != 0
           || !listening;
}

/* Let OPA confirm decisions of the machine, after their answers. */
static void
run_witness(struct az *az, bool waits)
{
    struct op op = process_op(talloc_new(NULL), az);
    witness_run(&op, waits);
    talloc_free(op.mem);
}

/* Read the data of the revision that OPA was given. */
static void
run_prepare(struct az *az)
{
    struct op op = process_op(talloc_new(NULL), az);
    prepare_run(&op);
    talloc_free(op.mem);
    malloc_trim(0); /* the texts took many times what is kept */
}

/* Load the revision by which OPA decided in place of this process. */
static void
catch_up(struct az *az)
{
    struct op op = process_op(talloc_new(NULL), az);
    embedded_catch_up(&op);
    talloc_free(op.mem);
}

void
accept_cgi(struct az *az)
{
    const char *length = getenv("CONTENT_LENGTH");
    int64_t announced = length == NULL && getenv("HTTP_TRANSFER_ENCODING") != NULL ? SSIZE_MAX : 0;
    if (length != NULL) /* http/form.c refuses a length that is not digits alone */
        digits_take(length, strlen(length), SSIZE_MAX, &announced);
    size_t left = (size_t) announced;
    const struct http_io io = {.handle = &left,
                               .variable = cgi_variable,
                               .read = cgi_read,
                               .write = cgi_write,
                               .finish = cgi_finish};
    dispatch(az, &io);
    if (witness_has_kept(az->witness))
        run_witness(az, false);
}

/* Make the check that was impossible at start, because the database could not be reached. */
static void
make_up_check(struct az *az)
{
    struct op op = process_op(talloc_new(NULL), az);
    enum az_status st = process_prepare_database(&op);
    az->check_owed = st != AZ_OK;
    if (st == AZ_CONFLICT) {
        log_text(AZ_SEV_ERROR, "database check failed", "%s", op.fault.detail);
        exit(EXIT_CONFIG);
    }
    talloc_free(op.mem);
}

void
accept_loop(struct az *az, int socket)
{
    struct fastcgi held;
    if (!fastcgi_init(&held))
        return;
    const struct http_io io = fastcgi_io(&held);
    while (!*az->stopping) {
        if (!fastcgi_begin(&held, socket))
            continue;
        if (az->check_owed)
            make_up_check(az);
        dispatch(az, &io);
        shadow_tap_send(az);
        if (witness_has_kept(az->witness))
            run_witness(az, fastcgi_has_next(&held, socket));
        if (prepare_waits(az))
            run_prepare(az);
        if (embedded_behind(az))
            catch_up(az);
    }
    fastcgi_end(&held);
}
