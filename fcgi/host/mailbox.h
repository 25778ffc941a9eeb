/*
 * A mailbox: one process waits under a random id for one text from another process. It is a socket
 * in SVC_RUNTIME_DIR, which only processes of the same account can open. The sender first removes
 * the socket's name, so a mailbox receives at most one text.
 */
#ifndef AZ_HOST_MAILBOX_H
#define AZ_HOST_MAILBOX_H

#include "base/op.h"

#define MAILBOX_OCTETS 16
/* Octets of the text: the answers to the questions of a call (64 KiB, gateway-admin.md 1.12), with
 * what stands around one. */
#define MAILBOX_TEXT_MAX ((64 << 10) + 64)

struct mailbox {
    unsigned char id[MAILBOX_OCTETS]; /* random */
    int listener;
    const char *path;
};

/* Open one, which is closed when `mem` is freed. AZ_SERVER_ERROR: it cannot be opened. */
enum az_status mailbox_open(struct op *op, TALLOC_CTX *mem, struct mailbox **ret);

/* Take the answer, without waiting for one; *ret is on mem. Connections that put nothing in are
 * passed over: those of answers that came second. AZ_RETRY: it is not there yet. AZ_INVALID: it was
 * not put in whole. */
enum az_status mailbox_take(TALLOC_CTX *mem, const struct mailbox *box, char **ret,
                            size_t *ret_length);

/* Put an answer into the mailbox of an id, without waiting. AZ_NOT_FOUND: it is closed, or already
 * has an answer. */
enum az_status mailbox_put(struct op *op, const unsigned char id[MAILBOX_OCTETS], const char *text,
                           size_t length);

/* Remove the sockets that workers left behind when they were killed while they waited: sockets of
 * this account, older than a minute, on which no process listens. */
void mailbox_sweep(const char *directory);

#endif
