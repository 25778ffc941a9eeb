/* Mailboxes of questions to older clients: an answer is taken once, and nothing that connects keeps
 * it out or keeps others waiting (gateway-admin.md 1.13). */
#include "config.h"

#include "host/mailbox.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <talloc.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "base/settings/settings.h"
#include "env.h"
#include "gateway/mcp/ask/answer.h"
#include "tap.h"

/* Seconds after which a call that waits ends the test. */
#define HANGS_SECONDS 30
/* Most connections that are tried until no more finds room. */
#define CROWD 16

static TALLOC_CTX *mem;
static struct op op;

static struct mailbox *
open_box(TALLOC_CTX *owner)
{
    struct mailbox *box = NULL;
    is_int(mailbox_open(&op, owner, &box), AZ_OK, "a mailbox");
    return box;
}

/* Connect to the socket of a mailbox, without a wait. */
static int
connect_to(const struct mailbox *box)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
    strncpy(address.sun_path, box->path, sizeof(address.sun_path) - 1);
    if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0)
        return fd;
    close(fd);
    return -1;
}

static enum az_status
put(const struct mailbox *box, const char *text)
{
    return mailbox_put(&op, box->id, text, strlen(text));
}

static void
takes(const struct mailbox *box, const char *text, const char *name)
{
    char *got = NULL;
    size_t length = 0;
    is_int(mailbox_take(mem, box, &got, &length), AZ_OK, "%s", name);
    is_str(got, text, "... whole");
}

static enum az_status
take(const struct mailbox *box)
{
    char *got;
    size_t length;
    return mailbox_take(mem, box, &got, &length);
}

static void
test_once(void)
{
    TALLOC_CTX *owner = talloc_new(mem);
    struct mailbox *box = open_box(owner);
    struct stat status;
    const char *path = talloc_strdup(mem, box->path);
    const struct mailbox closed = *box;
    mode_t before = umask(0);
    struct mailbox *open = open_box(owner);
    umask(before);
    ok(stat(open->path, &status) == 0 && (status.st_mode & 077) == 0,
       "no other account can open it, whatever the umask");
    is_int(take(box), AZ_RETRY, "nothing is there yet");
    is_int(put(box, "first"), AZ_OK, "an answer");
    is_int(put(box, "second"), AZ_NOT_FOUND, "... and no other");
    takes(box, "first", "it is taken");
    is_int(take(box), AZ_INVALID, "... once");
    talloc_free(owner);
    ok(stat(path, &status) != 0, "a mailbox that is closed leaves nothing");
    is_int(put(&closed, "late"), AZ_NOT_FOUND, "... and takes no answer");
}

static void
test_size(void)
{
    TALLOC_CTX *owner = talloc_new(mem);
    struct mailbox *box = open_box(owner);
    size_t most = ANSWERS_OCTETS_MAX + 64;
    char *text = talloc_size(owner, most + 2);
    memset(text, 'x', most + 1);
    text[most + 1] = '\0';
    is_int(put(box, text), AZ_SERVER_ERROR, "an answer with an octet too many");
    text[most] = '\0';
    is_int(put(box, text), AZ_OK, "the largest one");
    takes(box, text, "... is taken");
    talloc_free(owner);
}

/* Answers that came at the same moment connect too, and then find the name gone. */
static void
test_others(void)
{
    TALLOC_CTX *owner = talloc_new(mem);
    struct mailbox *box = open_box(owner);
    close(connect_to(box));
    is_int(take(box), AZ_RETRY, "a connection that puts nothing in is none");
    close(connect_to(box));
    is_int(put(box, "mine"), AZ_OK, "an answer behind such a connection");
    takes(box, "mine", "... is taken");

    box = open_box(owner);
    int fd[CROWD], count = 0;
    while (count < CROWD && (fd[count] = connect_to(box)) >= 0)
        count++;
    ok(count < CROWD, "%d connections wait, and there is no room for more", count);
    is_int(put(box, "late"), AZ_NOT_FOUND, "an answer does not wait behind them");
    for (int i = 0; i < count; i++)
        close(fd[i]);
    is_int(take(box), AZ_RETRY, "they put nothing in");
    is_int(put(box, "again"), AZ_OK, "... and the next answer has room");
    takes(box, "again", "... and is taken");

    box = open_box(owner);
    unlink(box->path);
    is_int(take(box), AZ_INVALID, "a mailbox whose name was taken away, and that has no answer");
    talloc_free(owner);
}

/* Make a file this many seconds old. */
static void
age(const char *path, int seconds)
{
    const struct utimbuf then = {time(NULL) - seconds, time(NULL) - seconds};
    utime(path, &then);
}

/* Leave what a worker leaves that is killed, under a name in the directory. */
static const char *
leave(const char *name, bool socket_of_ours)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = talloc_asprintf(mem, "%s/%s", op.az->cfg->runtime_dir, name);
    FILE *file = socket_of_ours ? NULL : fopen(path, "w");
    if (file != NULL)
        fclose(file);
    if (!socket_of_ours)
        return path;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
    ok(bind(fd, (const struct sockaddr *) &address, sizeof(address)) == 0, "a socket is left");
    close(fd);
    age(path, 61);
    return path;
}

static void
test_sweep(void)
{
    TALLOC_CTX *owner = talloc_new(mem);
    struct mailbox *box = open_box(owner);
    const char *left = leave("answer-AAAAAAAAAAAAAAAAAAAAAA", true),
               *other = leave("answer-AAAA", true),
               *file = leave("answer-BBBBBBBBBBBBBBBBBBBBBB", false),
               *young = leave("answer-CCCCCCCCCCCCCCCCCCCCCC", true);
    age(young, 50);
    mailbox_sweep(op.az->cfg->runtime_dir);
    ok(access(left, F_OK) != 0, "what a killed worker left is removed at the start");
    ok(access(box->path, F_OK) == 0, "... but no mailbox that is open");
    is_int(put(box, "kept"), AZ_OK, "... which takes its answer");
    takes(box, "kept", "... and gives it");
    ok(access(young, F_OK) == 0, "... and none on which its worker may listen at once");
    ok(access(other, F_OK) == 0 && access(file, F_OK) == 0, "... and nothing that is no mailbox");
    unlink(young);
    unlink(other);
    unlink(file);
    talloc_free(owner);
}

int
main(void)
{
    mem = talloc_new(NULL);
    struct az *az = env_az(mem);
    env_settings(az)->runtime_dir = env_directory(mem);
    op = env_op(mem, az);
    plan(0);
    alarm(HANGS_SECONDS);
    test_once();
    test_size();
    test_others();
    test_sweep();
    talloc_free(mem);
    return done();
}
