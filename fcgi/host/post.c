#include "config.h"

#include "host/post.h"

#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Octets of the queue that are asked for; the kernel gives what net.core.wmem_max allows. */
#define QUEUE_OCTETS (1 << 20)

struct post {
    int send, receive; /* ends of the socket */
};

/* Room for the descriptors of a text, aligned. */
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(POST_PASSED_MAX * sizeof(int))];
};

static int
post_free(struct post *post)
{
    close(post->send);
    close(post->receive);
    return 0;
}

struct post *
post_new(TALLOC_CTX *mem)
{
    const int size = QUEUE_OCTETS;
    int ends[2];
    struct post *post = talloc(mem, struct post);
    if (post == NULL || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) {
        talloc_free(post);
        return NULL;
    }
    *post = (struct post){.send = ends[0], .receive = ends[1]};
    setsockopt(post->send, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    talloc_set_destructor(post, post_free);
    return post;
}

int
post_receiver(const struct post *post)
{
    return post->receive;
}

bool
post_send(const struct post *post, const void *octets, size_t length, const int *passed,
          size_t count)
{
    union control control = {.room = {0}};
    struct iovec part = {(void *) (uintptr_t) octets, length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0) {
        header.msg_control = control.room;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *rights = &control.align; /* the first */
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(rights), passed, count * sizeof(int));
    }
    return sendmsg(post->send, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t) length;
}

ssize_t
post_receive(int receiver, void *room, size_t size, int *ret_passed, size_t count)
{
    union control control;
    int passed[POST_PASSED_MAX + 1]; /* an odd number of them pads the control message */
    struct iovec part = {room, size};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    ssize_t got = recvmsg(receiver, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *rights = got >= 0 ? CMSG_FIRSTHDR(&header) : NULL;
    /* At the limit of open files fewer of them come. */
    size_t came = rights != NULL && rights->cmsg_type == SCM_RIGHTS
                      ? (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int)
                      : 0;
    if (came > 0)
        memcpy(passed, CMSG_DATA(rights), came * sizeof(int));
    if (got >= 0 && came == count && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0) {
        memcpy(ret_passed, passed, came * sizeof(int));
        return got;
    }
    for (size_t i = 0; i < came; i++)
        close(passed[i]);
    return -1;
}

ssize_t
post_wait(const struct post *post, int ms, void *room, size_t size)
{
    struct pollfd waited = {.fd = post->receive, .events = POLLIN};
    int none[1];
    return poll(&waited, 1, ms) > 0 ? post_receive(post->receive, room, size, none, 0) : -1;
}

bool
post_pair(int ret[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) == 0;
}
