#include "config.h"

#include "gateway/relay/relay_message.h"

#include <string.h>
#include <unistd.h>

#include "host/post.h"

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
    ssize_t got = post_receive(line, room, RELAY_MESSAGE_MAX, ret_passed, RELAY_DESCRIPTORS);
    if (got < 0 || relay_message_read(room, (size_t) got, ret))
        return got >= 0;
    for (size_t i = 0; i < RELAY_DESCRIPTORS; i++)
        close(ret_passed[i]);
    return false;
}
