/* Answers of the policy engine as they come from the connection: an end is seen once, at the end.
 */
#include "config.h"

#include <string.h>

#include "fuzz/fuzz.h"
#include "policy/engine/http_answer.h"

/* Octets of the longest body here; small, so that inputs reach it. */
#define BODY_MAX 64

/* Reads a copy of exactly these octets: chunks are joined in place. */
static enum http_answer_state
read_copy(const uint8_t *data, size_t size)
{
    struct http_answer answer;
    char *octets = malloc(size > 0 ? size : 1);
    MUST(octets != NULL);
    if (size > 0)
        memcpy(octets, data, size);
    enum http_answer_state state = http_answer_read(octets, size, BODY_MAX, &answer);
    if (state == HTTP_ANSWER_WHOLE) {
        MUST(answer.body_length <= BODY_MAX && answer.status >= 0 && answer.status <= 999);
        MUST(answer.body > octets && answer.body + answer.body_length <= octets + size);
    }
    MUST(state != HTTP_ANSWER_BROKEN || (answer.why != NULL && *answer.why != '\0'));
    free(octets);
    return state;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum http_answer_state state = read_copy(data, size);
    uint8_t *more = malloc(size + 5);

    /* Whatever comes after it: a broken answer stays broken, and a whole one was the last. */
    MUST(more != NULL);
    if (size > 0)
        memcpy(more, data, size);
    memcpy(more + size, "0\r\n\r\n", 5);
    if (state != HTTP_ANSWER_MORE)
        MUST(read_copy(more, size + 5) == HTTP_ANSWER_BROKEN);
    free(more);
    /* A beginning of a whole answer is a beginning: it is neither taken nor refused. */
    for (size_t cut = 0; state == HTTP_ANSWER_WHOLE && cut < size; cut++)
        MUST(read_copy(data, cut) == HTTP_ANSWER_MORE);
    return 0;
}
