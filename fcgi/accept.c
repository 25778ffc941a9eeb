#include "config.h"

#include "accept.h"

#include <errno.h>
#include <fastcgi.h>
#include <fcgiapp.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/log.h"
#include "http/serve/dispatch.h"
#include "policy/engine/engine_embedded.h"
#include "policy/engine/prepare.h"
#include "policy/engine/shadow_tap.h"
#include "policy/engine/witness.h"
#include "process.h"
#include "store/db/audit.h"

/* Most octets of an unread body that are read and dropped, so that the web server gets as far as
 * the answer. Above the body limit of the shipped configurations. */
#define DRAIN_MAX (16 << 20)

extern char **environ;

/*
 * Return the value of a CGI variable, or NULL. lighttpd turns X_Forwarded_For and X.Forwarded.For
 * into HTTP_X_FORWARDED_FOR too, so a name that appears twice may hold the client's value and the
 * proxy's, and they cannot be told apart. Such a variable counts as empty.
 */
static const char *
variable_once(char *const *list, const char *name)
{
    const char *found = NULL;
    for (; list != NULL && *list != NULL; list++) {
        /* Without a call: each look goes through all variables. */
        const char *at = *list, *wanted = name;
        while (*wanted != '\0' && *at == *wanted)
            at++, wanted++;
        if (*wanted != '\0' || *at != '=')
            continue;
        if (found != NULL)
            return "";
        found = at + 1;
    }
    return found;
}

/* Time limit for the whole body, in seconds. */
#define BODY_TIMEOUT 5

/* Time in which the web server must take some octets of an answer, in seconds. A reader that stops
 * in the middle of a long answer does not keep a worker for longer. */
#define ANSWER_TIMEOUT 30

struct fastcgi {
    FCGX_Request request;
    int64_t until_ms; /* deadline of the body, clock_monotonic_ms() */
    bool given;       /* another process goes on with the answer */
};

/* Return "unix" or "other": whether who connects needs the rights of a file for that. */
static const char *
socket_word(int fd)
{
    struct sockaddr_storage own = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof(own);
    return getsockname(fd, (struct sockaddr *) &own, &length) == 0 && own.ss_family == AF_UNIX
               ? "unix"
               : "other";
}

/* The role is that of the FastCGI record, because Apache sends a variable of its name too. */
static const char *
fastcgi_variable(const struct http_io *io, const char *name)
{
    const FCGX_Request *request = &((const struct fastcgi *) io->handle)->request;
    if (strcmp(name, HTTP_IO_ROLE) == 0)
        return request->role == FCGI_AUTHORIZER ? HTTP_IO_AUTHORIZER : "";
    if (strcmp(name, HTTP_IO_SOCKET) == 0)
        return socket_word(request->ipcFd);
    return variable_once(request->envp, name);
}

/* Block the stop signals while libfcgi reads: it takes EINTR for the end of the request. */
static void
hold_stops(sigset_t *ret_before)
{
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGALRM);
    sigprocmask(SIG_BLOCK, &stops, ret_before);
}

/*
 * Read the octets that libfcgi has buffered, or else wait for the next record; SO_RCVTIMEO limits
 * that wait. Apache passes a body on as it arrives, so without the deadline a slow sender could
 * hold a worker for as long as it likes.
 */
static long
fastcgi_read(const struct http_io *io, void *buffer, size_t size)
{
    struct fastcgi *held = io->handle;
    FCGX_Stream *in = held->request.in;
    size_t there = (size_t) (in->stop - in->rdNext);
    if (there > 0) /* nothing is read from the connection */
        return FCGX_GetStr(buffer, (int) (there < size ? there : size), in);
    if (clock_monotonic_ms() > held->until_ms)
        return -1;
    sigset_t before;
    hold_stops(&before);
    int got = FCGX_GetStr(buffer, 1, in);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return got;
}

static bool
fastcgi_write(const struct http_io *io, const void *octets, size_t size)
{
    return FCGX_PutStr(octets, (int) size, ((struct fastcgi *) io->handle)->request.out)
           == (int) size;
}

/* True if the web server has closed the connection, which it does when its client has gone. */
static bool
fastcgi_gone(const struct http_io *io)
{
    struct pollfd kept = {.fd = ((struct fastcgi *) io->handle)->request.ipcFd};
    return poll(&kept, 1, 0) == 1 && (kept.revents & (POLLHUP | POLLERR)) != 0;
}

static bool
fastcgi_flush(const struct http_io *io)
{
    return FCGX_FFlush(((struct fastcgi *) io->handle)->request.out) == 0;
}

/* An end of the connection without an end of the request: the web server passes it on. */
static void
fastcgi_cut(const struct http_io *io)
{
    shutdown(((struct fastcgi *) io->handle)->request.ipcFd, SHUT_RDWR);
}

/* A connection that the web server keeps open for other requests stays here, and so does one with
 * octets of the request that nothing has read. */
static int
fastcgi_lend(const struct http_io *io, unsigned *ret_request)
{
    const FCGX_Request *request = &((const struct fastcgi *) io->handle)->request;
    char more;
    if (request->keepConnection
        || (FCGX_HasSeenEOF(request->in) != EOF && fastcgi_read(io, &more, 1) != 0))
        return -1;
    *ret_request = (unsigned) request->requestId;
    return request->ipcFd;
}

static void
fastcgi_give(const struct http_io *io)
{
    ((struct fastcgi *) io->handle)->given = true;
}

/* True if a request has no body, and nothing of the empty record that ends it was read. Web servers
 * send that record with the request (FastCGI 1.0 section 6.2). */
static bool
has_no_body(const FCGX_Request *request)
{
    const char *length = variable_once(request->envp, "CONTENT_LENGTH");
    return request->role == FCGI_RESPONDER && FCGX_HasSeenEOF(request->in) != EOF
           && (length == NULL || *length == '\0' || strcmp(length, "0") == 0);
}

/*
 * Finish the answer. libfcgi shuts the connection down and waits for the web server to close it,
 * because closing with unread octets would reset the connection before the server has read the
 * answer. If the request was read to its end, nothing is unread, and a plain close frees the worker
 * at once.
 */
static void
fastcgi_finish(const struct http_io *io)
{
    struct fastcgi *held = io->handle;
    FCGX_Request *request = &held->request;
    char none;
    if (!held->given && has_no_body(request))
        fastcgi_read(io, &none, 1);
    if (held->given || FCGX_HasSeenEOF(request->in) == EOF)
        FCGX_Detach(request);
    if (held->given) /* the end of the request is the other process's to send */
        FCGX_Free(request, 1);
    else
        FCGX_Finish_r(request);
}

static void
fastcgi_leave(const struct http_io *io)
{
    ((struct fastcgi *) io->handle)->request.keepConnection = 0;
    fastcgi_finish(io);
}

static const char *
cgi_variable(const struct http_io *io, const char *name)
{
    (void) io;
    return variable_once(environ, name);
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

/* Write audit rows that wait for a process that leads, if there is none. */
static void
flush_rows(struct az *az)
{
    struct op op = process_op(talloc_new(NULL), az);
    audit_flush(&op);
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

/* True if a connection waits, or a request on the one that the web server keeps open. */
static bool
request_waits(const FCGX_Request *request, int socket)
{
    struct pollfd waited[] = {
        {.fd = request->ipcFd, .events = POLLIN},
        {.fd = socket,         .events = POLLIN},
    };
    return poll(waited, 2, 0) > 0;
}

/* Wait for a connection, or for the next request on one that the web server keeps open. Return
 * false if a signal came first. */
static bool
await_request(FCGX_Request *request, int socket)
{
    const struct timeval wait = {.tv_sec = BODY_TIMEOUT}, patience = {.tv_sec = ANSWER_TIMEOUT};
    struct pollfd kept = {.fd = request->ipcFd, .events = POLLIN};
    if (kept.fd >= 0)
        return poll(&kept, 1, -1) == 1;
    request->ipcFd = accept(socket, NULL, NULL);
    if (request->ipcFd < 0) {
        if (errno != EINTR && errno != ECONNABORTED)
            usleep(10000); /* for example, out of descriptors: do not spin */
        return false;
    }
    setsockopt(request->ipcFd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    setsockopt(request->ipcFd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    request->keepConnection = 1; /* else libfcgi closes it as left over from the last request */
    return true;
}

/*
 * Let libfcgi read the head of a request from a connection that this file accepted: libfcgi's own
 * accept drops a connection if a stop signal comes before the first octets. libfcgi takes a head
 * that breaks off between two records of parameters for complete. Such a request is dropped,
 * because the missing headers could change its meaning.
 */
static bool
begin_request(FCGX_Request *request, int socket)
{
    sigset_t before;
    if (!await_request(request, socket))
        return false;
    hold_stops(&before);
    int got = FCGX_Accept_r(request);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (got != 0 || FCGX_GetError(request->in) == 0)
        return got == 0;
    FCGX_Detach(request);
    FCGX_Free(request, 1);
    return false;
}

void
accept_loop(struct az *az, int socket)
{
    struct fastcgi held;
    /* Without a listening socket, libfcgi does not accept connections itself. */
    if (FCGX_Init() != 0 || FCGX_InitRequest(&held.request, -1, FCGI_FAIL_ACCEPT_ON_INTR) != 0)
        return;
    flush_rows(az); /* of a process that died */
    const struct http_io io = {&held,          fastcgi_variable, fastcgi_read, fastcgi_write,
                               fastcgi_finish, fastcgi_cut,      fastcgi_gone, fastcgi_flush,
                               fastcgi_lend,   fastcgi_give,     fastcgi_leave};
    while (!*az->stopping) {
        if (!begin_request(&held.request, socket))
            continue;
        held.until_ms = clock_monotonic_ms() + BODY_TIMEOUT * 1000;
        held.given = false;
        if (az->check_owed)
            make_up_check(az);
        dispatch(az, &io);
        shadow_tap_send(az);
        if (witness_has_kept(az->witness))
            run_witness(az, request_waits(&held.request, socket));
        if (prepare_waits(az))
            run_prepare(az);
        if (embedded_behind(az))
            catch_up(az);
    }
    flush_rows(az);
    FCGX_Free(&held.request, 1);
}
