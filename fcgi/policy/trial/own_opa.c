#include "config.h"

#include "policy/trial/own_opa.h"

#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/engine/engine.h"
#include "policy/engine/engine_http.h"
#include "policy/trial/trial.h"
#include "store/db/db.h"

#define BUNDLE_FILE "bundle.tar.gz"
#define SOCKET_FILE "socket"
#define OUTPUT_FILE "output"
/* Largest output of the process, and of its quotation in a refusal, in octets. */
#define OUTPUT_MAX (1 << 20)
#define QUOTE_MAX 300
/* Interval at which it is asked if it is ready, in milliseconds: a tenth of the shortest start. */
#define LOOK_MS 15
/* Largest answer to that, in octets. */
#define HEALTH_MAX (1 << 20)

struct own_opa {
    char *dir;
    struct child *child;
    struct az az;       /* the process, with this engine in place of its own */
    enum child_end end; /* CHILD_RUNS until it has ended */
};

static int
own_opa_free(struct own_opa *own)
{
    static const char *const files[] = {BUNDLE_FILE, SOCKET_FILE, OUTPUT_FILE};
    talloc_free(own->child);
    if (own->dir != NULL)
        child_directory_remove(own->dir, files, sizeof(files) / sizeof(files[0]));
    return 0;
}

static char *
path_of(const struct own_opa *own, const char *name)
{
    return talloc_asprintf((void *) (uintptr_t) own, "%s/%s", own->dir, name);
}

/* Start the process. NULL: it cannot be made. */
static struct child *
start_process(struct own_opa *own, const char *program)
{
    /* Use one core, and leave the other cores to the engine that decides. */
    static const char *const variables[] = {"GOMAXPROCS=1", "GOMEMLIMIT=512MiB", NULL};
    const char *address = talloc_asprintf(own, "unix://%s/" SOCKET_FILE, own->dir);
    const char *bundle =
        talloc_asprintf(own, "bundles.svc.resource=file://%s/" BUNDLE_FILE, own->dir);
    const char *const arguments[] = {"run",         "--server", "--addr",
                                     address,       "--set",    bundle,
                                     "--log-level", "error",    "--skip-version-check",
                                     NULL};
    const struct child_call call = {
        .program = program,
        .arguments = arguments,
        .variables = variables,
        .dir = own->dir,
        .output = OUTPUT_FILE,
        .limits = {TRIAL_CPU_SECONDS, TRIAL_MEMORY, OUTPUT_MAX},
    };
    return address != NULL && bundle != NULL ? child_start(own, &call) : NULL;
}

/* True if the process has ended, by a limit or otherwise. */
static bool
is_over(struct own_opa *own)
{
    if (own->end == CHILD_RUNS)
        own->end = child_wait(own->child, 0);
    return own->end != CHILD_RUNS;
}

/* True if it has its bundle. A failure is not one of the request. */
static bool
is_ready(const struct op *op, const struct own_opa *own)
{
    static const struct http_question question = {
        .path = "/health?bundles", .answer_max = HEALTH_MAX, .timeout_ms = 1000};
    struct http_answer answer = {.status = 0};
    struct op look = own_opa_op(op, talloc_new(op->mem), own);
    bool ready = look.mem != NULL && engine_http_exchange(&look, &question, &answer) == AZ_OK
                 && answer.status == 200;
    talloc_free(look.mem);
    return ready;
}

/* Wait until it is ready, ends, or the time is over. */
static bool
await_ready(struct op *op, struct own_opa *own)
{
    int64_t until = clock_monotonic_ms() + OWN_OPA_READY_MS, spoke = clock_monotonic_ms();
    while (!is_over(own) && clock_monotonic_ms() < until && !*op->az->stopping) {
        if (access(path_of(own, SOCKET_FILE), F_OK) == 0 && is_ready(op, own))
            return true;
        if (clock_monotonic_ms() - spoke >= TRIAL_SPEAK_MS) {
            db_break_silence(op);
            spoke = clock_monotonic_ms();
        }
        usleep(LOOK_MS * 1000);
    }
    return false;
}

/* True if the bundle ended the process: by a limit, or by a failure of its runtime, as without
 * memory. The program writes other failures, as of its arguments, in a line without these words. */
static bool
ended_by_bundle(const struct own_opa *own, const char *output)
{
    return own->end == CHILD_STOPPED || strstr(output, "fatal error: ") != NULL
           || strstr(output, "panic: ") != NULL;
}

/* Return what it said last, in one line. */
static const char *
last_words(char *text, size_t length)
{
    if (length == 0)
        return "no message";
    if (length > QUOTE_MAX)
        text += length - QUOTE_MAX;
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char) *c < 0x20)
            *c = ' ';
    return utf8_valid(text, strlen(text)) && visible_fault(text) == NULL ? text
                                                                         : "an unreadable message";
}

/* Tell why it is not ready. */
static enum own_opa_start
tell_end(struct op *op, const struct own_opa *own, const char **ret_why)
{
    size_t length;
    *ret_why = "Open Policy Agent does not take the policy in within 10 s";
    if (own->end == CHILD_RUNS)
        return OWN_OPA_REFUSED;
    char *output = child_file_read(op->mem, path_of(own, OUTPUT_FILE), OUTPUT_MAX, &length);
    bool by_bundle = ended_by_bundle(own, output != NULL ? output : "");
    *ret_why = talloc_asprintf(op->mem, "Open Policy Agent ended: %s",
                               output != NULL ? last_words(output, length) : "no message");
    if (by_bundle)
        *ret_why = "Open Policy Agent takes too much time or memory to take the policy in";
    return by_bundle ? OWN_OPA_REFUSED : OWN_OPA_NONE;
}

static struct own_opa *
make(struct op *op, const unsigned char *body, size_t length)
{
    struct own_opa *own = talloc_zero(op->mem, struct own_opa);
    if (own == NULL)
        return NULL;
    talloc_set_destructor(own, own_opa_free);
    own->az = *op->az;
    own->end = CHILD_RUNS;
    own->dir = child_directory_make(own, "authz-trial");
    const char *url =
        own->dir != NULL ? talloc_asprintf(own, "unix:%s/" SOCKET_FILE, own->dir) : NULL;
    own->az.engine = url != NULL ? engine_new(own, url, TRIAL_QUESTION_MS) : NULL;
    if (own->az.engine == NULL || !child_file_write(path_of(own, BUNDLE_FILE), body, length))
        TALLOC_FREE(own);
    return own;
}

enum own_opa_start
own_opa_start(struct op *op, const unsigned char *body, size_t length, struct own_opa **ret,
              const char **ret_why)
{
    const char *program = op->az->cfg->opa_binary;
    *ret = NULL;
    *ret_why = "out of memory";
    if (*program != '/' || access(program, X_OK) != 0) {
        *ret_why = talloc_asprintf(
            op->mem, "%s is not the absolute path of an executable file (SVC_OPA_BINARY)", program);
        return OWN_OPA_NONE;
    }
    struct own_opa *own = make(op, body, length);
    if (own == NULL || (own->child = start_process(own, program)) == NULL) {
        *ret_why = "the policy cannot be written to a temporary directory, or no process be made";
        talloc_free(own);
        return OWN_OPA_NONE;
    }
    if (await_ready(op, own)) {
        *ret = own;
        *ret_why = NULL;
        return OWN_OPA_READY;
    }
    enum own_opa_start start = tell_end(op, own, ret_why);
    talloc_free(own);
    return start;
}

struct op
own_opa_op(const struct op *op, TALLOC_CTX *mem, const struct own_opa *own)
{
    struct op beside = op_beside(op, mem);
    beside.az = (struct az *) (uintptr_t) &own->az;
    return beside;
}
