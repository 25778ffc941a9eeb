#include "config.h"

#include "host/mailbox.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/b64url.h"
#include "base/clock.h"
#include "base/settings/settings.h"

/* Time in which a worker that has connected puts its answer in, in milliseconds. It does nothing
 * else in between. */
#define PUT_MS 1000

/* Age from which a socket can be one that is left, in seconds: before that, the worker that has
 * made it may not listen yet. */
#define LEFT_SECONDS 60

/* Names of the sockets; the id follows. */
#define NAME_PREFIX "answer-"

static int
mailbox_free(struct mailbox *box)
{
    unlink(box->path);
    close(box->listener);
    return 0;
}

/* Return the path of the socket, on mem, and its address. NULL: no memory, or SVC_RUNTIME_DIR is
 * too long for a socket. */
static const char *
place_of(const struct op *op, TALLOC_CTX *mem, const unsigned char *id, struct sockaddr_un *ret)
{
    char name[B64URL_LENGTH(MAILBOX_OCTETS) + 1];
    b64url_encode_into(id, MAILBOX_OCTETS, name);
    const char *path = talloc_asprintf(mem, "%s/" NAME_PREFIX "%s", op->az->cfg->runtime_dir, name);
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (path == NULL || strlen(path) >= sizeof(ret->sun_path))
        return NULL;
    memcpy(ret->sun_path, path, strlen(path) + 1);
    return path;
}

/* Give a socket its name. Only this account may open it, whatever the umask of the service is. */
static bool
bind_private(int fd, const struct sockaddr_un *address)
{
    mode_t before = umask(0177);
    bool bound = bind(fd, (const struct sockaddr *) address, sizeof(*address)) == 0;
    umask(before);
    return bound;
}

enum az_status
mailbox_open(struct op *op, TALLOC_CTX *mem, struct mailbox **ret)
{
    struct sockaddr_un address;
    struct mailbox *box = talloc_zero(mem, struct mailbox);
    if (box == NULL || getrandom(box->id, sizeof(box->id), 0) != (ssize_t) sizeof(box->id)
        || (box->path = place_of(op, box, box->id, &address)) == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "no memory for an answer, or SVC_RUNTIME_DIR is too long for a socket");
    box->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (box->listener < 0)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "no socket for an answer");
    talloc_set_destructor(box, mailbox_free);
    if (!bind_private(box->listener, &address) || listen(box->listener, 1) != 0)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SVC_RUNTIME_DIR takes no socket for an answer");
    *ret = box;
    return AZ_OK;
}

/* Take what one connection puts in. AZ_NOT_FOUND: nothing. */
static enum az_status
take_one(TALLOC_CTX *mem, int connection, char **ret, size_t *ret_length)
{
    struct pollfd waited = {.fd = connection, .events = POLLIN};
    char *text = talloc_size(mem, MAILBOX_TEXT_MAX + 1);
    ssize_t got = text != NULL && poll(&waited, 1, PUT_MS) == 1
                      ? recv(connection, text, MAILBOX_TEXT_MAX + 1, 0)
                      : -1;
    if (got == 0)
        return AZ_NOT_FOUND;
    if (got < 0 || got > MAILBOX_TEXT_MAX)
        return AZ_INVALID;
    text[got] = '\0';
    *ret = text;
    *ret_length = (size_t) got;
    return AZ_OK;
}

enum az_status
mailbox_take(TALLOC_CTX *mem, const struct mailbox *box, char **ret, size_t *ret_length)
{
    /* Looked at first: who took the name away is connected by then. */
    bool open = access(box->path, F_OK) == 0;
    int connection;
    while ((connection = accept4(box->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        enum az_status st = take_one(mem, connection, ret, ret_length);
        close(connection);
        if (st != AZ_NOT_FOUND)
            return st;
    }
    return open ? AZ_RETRY : AZ_INVALID;
}

enum az_status
mailbox_put(struct op *op, const unsigned char id[MAILBOX_OCTETS], const char *text, size_t length)
{
    struct sockaddr_un address;
    const char *path = place_of(op, op->mem, id, &address);
    /* If the queue of the mailbox is full, one of the senders in it has the answer: do not wait
     * behind them. */
    int connection =
        path != NULL ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    enum az_status st = AZ_NOT_FOUND;
    if (connection < 0 || length > MAILBOX_TEXT_MAX)
        st = AZ_SERVER_ERROR;
    else if (connect(connection, (const struct sockaddr *) &address, sizeof(address)) == 0
             && unlink(path) == 0
             && send(connection, text, length, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) length)
        st = AZ_OK;
    if (connection >= 0)
        close(connection);
    return st == AZ_SERVER_ERROR ? op_fail(op, st, NULL, "no socket for an answer") : st;
}

/* True if a file is a socket of ours on which nothing listens, and which no worker is just making.
 */
static bool
is_left(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat file;
    if (strlen(path) >= sizeof(address.sun_path) || lstat(path, &file) != 0
        || !S_ISSOCK(file.st_mode) || file.st_uid != geteuid()
        || file.st_mtime > clock_realtime_ms() / 1000 - LEFT_SECONDS)
        return false;
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool left = fd >= 0 && connect(fd, (const struct sockaddr *) &address, sizeof(address)) != 0
                && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return left;
}

void
mailbox_sweep(const char *directory)
{
    DIR *dir = opendir(directory);
    TALLOC_CTX *mem = talloc_new(NULL);
    for (const struct dirent *file; dir != NULL && (file = readdir(dir)) != NULL;) {
        const char *path = talloc_asprintf(mem, "%s/%s", directory, file->d_name);
        if (strncmp(file->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0
            && strlen(file->d_name) == strlen(NAME_PREFIX) + B64URL_LENGTH(MAILBOX_OCTETS)
            && path != NULL && is_left(path))
            unlink(path);
    }
    if (dir != NULL)
        closedir(dir);
    talloc_free(mem);
}
