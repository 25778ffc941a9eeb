#include "config.h"

#include "gateway/relay/relay_message.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A message begins with the stream, whose texts follow, each with its NUL. */
size_t
relay_message_write(const struct relay_hold *hold, char *room)
{
    struct relay_hold head = *hold;
    size_t used = sizeof(head);
    for (size_t i = 0; i < RELAY_TEXTS; i++)
        head.text[i] = NULL; /* addresses of this process say nothing there */
    memcpy(room, &head, sizeof(head));
    for (size_t i = 0; i < RELAY_TEXTS; i++) {
        size_t length = strlen(hold->text[i]) + 1;
        if (length > RELAY_MESSAGE_MAX - used)
            return 0;
        memcpy(room + used, hold->text[i], length);
        used += length;
    }
    return used;
}

bool
relay_message_read(const char *message, size_t length, struct relay_hold *ret)
{
    if (length < sizeof(*ret))
        return false;
    memcpy(ret, message, sizeof(*ret));
    const char *at = message + sizeof(*ret), *end = message + length;
    for (size_t i = 0; i < RELAY_TEXTS; i++) {
        const char *stop = at < end ? memchr(at, '\0', (size_t) (end - at)) : NULL;
        if (stop == NULL)
            return false;
        ret->text[i] = at;
        at = stop + 1;
    }
    return at == end && ret->uris <= RELAY_URIS_MAX;
}

bool
relay_message_receive(int line, char *room, struct relay_hold *ret,
                      int ret_passed[RELAY_DESCRIPTORS])
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(RELAY_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {room, RELAY_MESSAGE_MAX};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.room,
                            .msg_controllen = sizeof(control.room)};
    ssize_t got = recvmsg(line, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    const struct cmsghdr *rights = got >= 0 ? CMSG_FIRSTHDR(&header) : NULL;
    if (rights == NULL || rights->cmsg_type != SCM_RIGHTS)
        return false;
    /* At the limit of open files fewer of them come. */
    size_t came = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(ret_passed, CMSG_DATA(rights), came * sizeof(int));
    if (came == RELAY_DESCRIPTORS && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0
        && relay_message_read(room, (size_t) got, ret))
        return true;
    for (size_t i = 0; i < came; i++)
        close(ret_passed[i]);
    return false;
}
