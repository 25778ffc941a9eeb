/* Preloaded into authz.fcgi, fails the Nth call of one kind that a worker makes: an allocation or a
 * system call. The file AUTHZ_TORTURE has the orders, and the count of such calls since they were
 * given (t/failure/torture.t). A worker is a process that accepts connections; the others are left
 * alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Longest wait of a read that fails, in milliseconds. */
#define READ_WAIT_MS 200

enum kind { NONE, MALLOC, READ, WRITE, CONNECT, OPEN, RANDOM, POLL, FSYNC };

struct orders {
    _Atomic uint32_t kind;  /* of the call that fails */
    _Atomic uint32_t nth;   /* its number, from 1 */
    _Atomic uint32_t count; /* calls of the kind so far */
};

static struct orders *orders;
static bool serves;

/* Write where a process crashes to its log. */
static void
crashed(int number)
{
    void *at[40];
    backtrace_symbols_fd(at, backtrace(at, sizeof(at) / sizeof(at[0])), STDERR_FILENO);
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void
begin(void)
{
    void *here[1];
    backtrace(here, 1); /* loads what it needs */
    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    const char *path = getenv("AUTHZ_TORTURE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *at = mmap(NULL, sizeof(struct orders), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    orders = at != MAP_FAILED ? at : NULL;
    close(fd);
}

/* True if this call fails, with errno. */
static bool
fails(enum kind kind, int error)
{
    if (!serves || orders == NULL || atomic_load(&orders->kind) != kind)
        return false;
    uint32_t count = atomic_fetch_add(&orders->count, 1) + 1, nth = atomic_load(&orders->nth);
    if (count != nth)
        return false;
    errno = error;
    return true;
}

/* The name by which glibc loads itself. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *
malloc(size_t size)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_malloc(size);
}

void *
calloc(size_t count, size_t size)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *
realloc(void *old, size_t size)
{
    return fails(MALLOC, ENOMEM) ? NULL : __libc_realloc(old, size);
}

/* End a connection whose call fails, as when its other side has gone. */
static int
lose(int fd)
{
    int error = errno;
    shutdown(fd, SHUT_RDWR);
    errno = error;
    return -1;
}

/* Do that once there is something to read. lighttpd 1.4.69, whose connection ended before
 * it had written, sends the request twice on its next connection, and that may get no answer. */
static int
lose_read(int fd)
{
    int error = errno;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, READ_WAIT_MS);
    errno = error;
    return lose(fd);
}

/* A function that calls the next one of its name, or does `instead`. */
#define STAND_IN(kind, error, instead, type, name, parameters, arguments)                          \
    type name parameters                                                                           \
    {                                                                                              \
        type(*real) parameters;                                                                    \
        if (fails(kind, error))                                                                    \
            return instead;                                                                        \
        *(void **) &real = dlsym(RTLD_NEXT, #name);                                                \
        return real arguments;                                                                     \
    }

STAND_IN(READ, ECONNRESET, lose_read(fd), ssize_t, read, (int fd, void *to, size_t size),
         (fd, to, size))
STAND_IN(READ, ECONNRESET, lose_read(fd), ssize_t, recv, (int fd, void *to, size_t size, int flags),
         (fd, to, size, flags))
STAND_IN(READ, ECONNRESET, lose_read(fd), ssize_t, recvmsg, (int fd, struct msghdr *to, int flags),
         (fd, to, flags))
STAND_IN(WRITE, EPIPE, lose(fd), ssize_t, write, (int fd, const void *from, size_t size),
         (fd, from, size))
STAND_IN(WRITE, EPIPE, lose(fd), ssize_t, writev, (int fd, const struct iovec *from, int count),
         (fd, from, count))
STAND_IN(WRITE, EPIPE, lose(fd), ssize_t, send, (int fd, const void *from, size_t size, int flags),
         (fd, from, size, flags))
STAND_IN(WRITE, EPIPE, lose(fd), ssize_t, sendmsg, (int fd, const struct msghdr *from, int flags),
         (fd, from, flags))
STAND_IN(CONNECT, ECONNREFUSED, -1, int, connect,
         (int fd, const struct sockaddr *to, socklen_t length), (fd, to, length))
STAND_IN(RANDOM, EIO, -1, ssize_t, getrandom, (void *to, size_t size, unsigned flags),
         (to, size, flags))
STAND_IN(POLL, ENOMEM, -1, int, poll, (struct pollfd * fds, nfds_t count, int ms), (fds, count, ms))
STAND_IN(FSYNC, EIO, -1, int, fsync, (int fd), (fd))
STAND_IN(FSYNC, EIO, -1, int, fdatasync, (int fd), (fd))

int
accept(int fd, struct sockaddr *from, socklen_t *length)
{
    int (*real)(int, struct sockaddr *, socklen_t *);
    *(void **) &real = dlsym(RTLD_NEXT, "accept");
    serves = true;
    return real(fd, from, length);
}

int
open(const char *path, int flags, ...)
{
    int (*real)(const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    if (fails(OPEN, EMFILE))
        return -1;
    *(void **) &real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}
