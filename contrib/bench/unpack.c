/* Prints a stored policy document as text: the hexadecimal form of audit_log.policy_input on
 * standard input. What reads it is the service's own function, so that the bench asks the engine
 * what the service asked. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/pack.h"

/* Far above what a request of the bench stores. */
#define PACKED_MAX 65536

static int
read_hex(unsigned char *octets, size_t size, size_t *ret_length)
{
    unsigned octet;
    size_t length = 0;
    while (length < size && scanf("%2x", &octet) == 1)
        octets[length++] = (unsigned char) octet;
    *ret_length = length;
    return length > 0 && length < size;
}

int
main(void)
{
    static unsigned char packed[PACKED_MAX];
    size_t length, text_length;
    char *text;
    if (!read_hex(packed, sizeof(packed), &length)
        || unpack_text(NULL, packed, length, &text, &text_length) != AZ_OK) {
        fprintf(stderr, "unpack: standard input is no packed document in hexadecimal\n");
        return 1;
    }
    int failed = fwrite(text, 1, text_length, stdout) != text_length;
    talloc_free(text);
    return failed;
}
