/* The messages between workers and relay. Both are processes of one program on one host, so numbers
 * are sent in the byte order of the host. */
#ifndef AZ_GATEWAY_RELAY_RELAY_MESSAGE_H
#define AZ_GATEWAY_RELAY_RELAY_MESSAGE_H

#include <stddef.h>

#include "gateway/relay/relay.h"

/* The relay's answer to a stream that is handed over, and what the worker says then. */
#define RELAY_HELD 'h'
#define RELAY_CLIENT_FULL 'c'
#define RELAY_PERSON_FULL 'p'
#define RELAY_FULL 'f'
#define RELAY_SESSION_FULL 's'
#define RELAY_NO_DATABASE 'd'
#define RELAY_GO 'g'

/* Write a stream to `room` of RELAY_MESSAGE_MAX octets. Return the number of octets; 0: too
 * many. */
size_t relay_message_write(const struct relay_hold *hold, char *room);

/* Read a stream from a message of `length` octets, into which its texts point. False: the message
 * is malformed. */
bool relay_message_read(const char *message, size_t length, struct relay_hold *ret);

/* Descriptors of a message: the connection to the web server, and the reply to the worker. */
#define RELAY_DESCRIPTORS 2

/* Receive a stream with its descriptors, without waiting; its texts point into `room` of
 * RELAY_MESSAGE_MAX octets. False: no good message came, and none of its descriptors stays open. */
bool relay_message_receive(int line, char *room, struct relay_hold *ret,
                           int ret_passed[RELAY_DESCRIPTORS]);

#endif
