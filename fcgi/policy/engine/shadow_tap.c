#include "config.h"

#include "policy/engine/shadow_tap.h"

#include <stdatomic.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "host/file.h"
#include "host/post.h"
#include "metrics/metrics.h"

/* Texts of a decision, each with its NUL. */
#define PARTS 4

/* Memory that the processes of a parent share. Words that change on their own, so a process that is
 * killed leaves nothing half-written. */
struct board {
    _Atomic int64_t rate;    /* one decision in so many is chosen; 0 chooses no decision */
    _Atomic int64_t dropped; /* not taken by the queue, since they were counted */
    _Atomic bool woken;      /* a shadow was saved */
};

struct shadow_tap {
    struct board *board;
    struct post *queue;
    TALLOC_CTX *mem; /* owns the kept decisions; NULL if there are none */
    char *kept[SHADOW_TAP_KEPT_MAX];
    size_t length[SHADOW_TAP_KEPT_MAX];
    size_t count;
    char *got; /* room for a decision that arrives; made when first needed */
};

struct shadow_tap *
shadow_tap_new(TALLOC_CTX *mem)
{
    struct shadow_tap *tap = talloc_zero(mem, struct shadow_tap);
    struct host_file *memory = NULL;
    if (tap != NULL && (tap->queue = post_new(tap)) != NULL)
        memory = host_file_memory(tap, NULL, sizeof(struct board));
    if (memory == NULL)
        TALLOC_FREE(tap);
    else
        tap->board = memory->at;
    return tap;
}

void
shadow_tap_set_rate(struct shadow_tap *tap, int64_t rate)
{
    if (tap != NULL)
        atomic_store(&tap->board->rate, rate);
}

void
shadow_tap_wake(struct shadow_tap *tap)
{
    if (tap != NULL)
        atomic_store(&tap->board->woken, true);
}

bool
shadow_tap_is_woken(struct shadow_tap *tap)
{
    return tap != NULL && atomic_exchange(&tap->board->woken, false);
}

int64_t
shadow_tap_take_dropped(struct shadow_tap *tap)
{
    return tap != NULL ? atomic_exchange(&tap->board->dropped, 0) : 0;
}

/* ---- sending */

static void
drop(struct az *az)
{
    static const char *const value[] = {"dropped"};
    atomic_fetch_add(&az->shadow_tap->board->dropped, 1);
    metrics_add(az->metrics, METRIC_SHADOW, 0, value);
}

/* Write the texts of a decision one after the other; NULL: it is too large, or no memory. */
static char *
pack(TALLOC_CTX *mem, const char *const part[PARTS], const size_t length[PARTS], size_t *ret_length)
{
    size_t sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += length[i] + 1;
    char *packed = sum <= SHADOW_TAP_OCTETS_MAX ? talloc_zero_size(mem, sum) : NULL, *at = packed;
    for (size_t i = 0; packed != NULL && i < PARTS; i++) {
        memcpy(at, part[i], length[i]);
        at += length[i] + 1;
    }
    *ret_length = sum;
    return packed;
}

void
shadow_tap_keep(struct op *op, const struct engine_answer *answer)
{
    struct shadow_tap *tap = op->az->shadow_tap;
    if (tap == NULL || !random_one_in(atomic_load(&tap->board->rate)))
        return;
    if (tap->mem == NULL)
        tap->mem = talloc_new(tap);
    const char *result = answer->result != NULL ? jsonx_dump(op->mem, answer->result) : "";
    struct question_text asked = answer->asked;
    if (tap->mem == NULL || tap->count == SHADOW_TAP_KEPT_MAX || result == NULL
        || !question_write(op->mem, &asked)) {
        drop(op->az);
        return;
    }
    const char *const part[PARTS] = {answer->revision, op->request_id, asked.text, result};
    const size_t length[PARTS] = {strlen(answer->revision), strlen(op->request_id), asked.length,
                                  strlen(result)};
    char *packed = pack(tap->mem, part, length, &tap->length[tap->count]);
    if (packed != NULL)
        tap->kept[tap->count++] = packed;
    else
        drop(op->az);
}

void
shadow_tap_send(struct az *az)
{
    struct shadow_tap *tap = az->shadow_tap;
    if (tap == NULL || tap->mem == NULL)
        return;
    for (size_t i = 0; i < tap->count; i++)
        if (!post_send(tap->queue, tap->kept[i], tap->length[i], NULL, 0))
            drop(az);
    TALLOC_FREE(tap->mem);
    tap->count = 0;
}

/* ---- receiving */

/* Find the texts of what arrived. False: it is not a decision. */
static bool
unpack(const char *at, size_t length, struct shadow_question *ret)
{
    const char *part[PARTS];
    const char *end = at + length;
    for (size_t i = 0; i < PARTS; i++) {
        const char *stop = at < end ? memchr(at, '\0', (size_t) (end - at)) : NULL;
        if (stop == NULL)
            return false;
        part[i] = at;
        at = stop + 1;
    }
    *ret = (struct shadow_question){part[0], part[1], part[2], part[3]};
    return at == end;
}

bool
shadow_tap_receive(struct shadow_tap *tap, int ms, struct shadow_question *ret)
{
    if (tap->got == NULL && (tap->got = talloc_size(tap, SHADOW_TAP_OCTETS_MAX)) == NULL)
        return false;
    ssize_t got = post_wait(tap->queue, ms, tap->got, SHADOW_TAP_OCTETS_MAX);
    return got > 0 && unpack(tap->got, (size_t) got, ret);
}
