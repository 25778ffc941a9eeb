#include "config.h"

#include "policy/save/plan/bundle_plan.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/log.h"
#include "base/settings/settings.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "policy/engine/archive_read.h"
#include "policy/engine/entrypoints.h"
#include "policy/engine/policy_texts.h"
#include "policy/rows/rego_annotations.h"
#include "policy/save/bundle/archive.h"
#include "policy/save/bundle/bundle.h"
#include "rego/plan.h"
#include "store/db/db.h"
#include "store/policy/plans.h"

/* Files in the directory of a run. */
#define POLICY_FILE "policy.tar.gz"
#define PLAN_FILE "plan.tar.gz"
#define OUTPUT_FILE "output"
/* Octets of what the program printed that a warning quotes, and that a refusal does. */
#define QUOTE_MAX 300
#define REFUSAL_MAX 4096
/* Part of the codes of OPA's errors about a policy. */
#define POLICY_ERROR "rego_"
/* Longest silence of the session of the database while the program is awaited. Milliseconds. */
#define SILENT_MS 1000

/* One plan while it is made. */
struct planning {
    const char *modules; /* names them; NULL: nothing is planned */
    const char *note;    /* of a plan that is stored already, or the reason why there is none */
    bool known;          /* it is stored already */
    const char *refusal; /* what opa build says against the policy; NULL: nothing */
    char *dir;           /* NULL until it is made */
    struct child *child; /* NULL until it is started */
    bool endless;        /* it reached a limit of time or memory */
    int64_t until_ms;    /* by clock_monotonic_ms() */
    struct rego_plan_text made; /* as the program wrote it; without a text: not read yet */
};

/* ---- the directory */

static char *
file_in(const struct planning *planning, const char *name)
{
    return talloc_asprintf((void *) (uintptr_t) planning, "%s/%s", planning->dir, name);
}

/* Stop the program and remove what it wrote. */
static int
planning_free(struct planning *planning)
{
    static const char *const files[] = {POLICY_FILE, PLAN_FILE, OUTPUT_FILE};
    talloc_free(planning->child);
    if (planning->dir != NULL)
        child_directory_remove(planning->dir, files, sizeof(files) / sizeof(files[0]));
    return 0;
}

/* ---- beginning */

/* Add a module, without its annotations: opa build would read them, and refuse a rule for one that
 * the engine passes over. */
static enum az_status
add_module(struct archive *archive, const struct bundle_module *module)
{
    char *text = rego_without_annotations(archive, module->text);
    if (text == NULL)
        return AZ_SERVER_ERROR;
    enum az_status st = archive_add(archive, module->file, text, strlen(text));
    talloc_free(text);
    return st;
}

/* Write the modules, without data: what is planned depends on nothing else. */
static bool
write_policy(struct planning *planning, const struct bundle_modules *modules)
{
    static const char manifest[] = "{\"revision\":\"\",\"rego_version\":1}";
    struct archive *archive = archive_new(planning);
    unsigned char *octets = NULL;
    size_t length = 0;
    enum az_status st = archive != NULL
                            ? archive_add(archive, ".manifest", manifest, sizeof(manifest) - 1)
                            : AZ_SERVER_ERROR;
    for (size_t i = 0; st == AZ_OK && i < modules->count; i++)
        st = add_module(archive, &modules->module[i]);
    if (st == AZ_OK)
        st = archive_finish(planning, archive, &octets, &length);
    bool written = st == AZ_OK && child_file_write(file_in(planning, POLICY_FILE), octets, length);
    talloc_free(archive);
    talloc_free(octets);
    return written;
}

/* Return the arguments: what is planned, with an entrypoint for each decision and, if the policy
 * has the rules that show them, for the hooks of operators. NULL: no memory. */
static const char **
arguments_of(struct planning *planning, const struct bundle_modules *modules)
{
    static const char *const fixed[] = {"build", "-t", "plan", "-b", POLICY_FILE, "-o", PLAN_FILE};
    const size_t count = sizeof(fixed) / sizeof(fixed[0]);
    const bool hooks = bundle_modules_has(modules, ENTRYPOINT_HOOKS_FILE);
    const size_t entries = ENTRYPOINTS + (hooks ? ENTRYPOINT_HOOKS : 0);
    const char **ret =
        talloc_zero_array(planning, const char *, (unsigned) (count + 2 * entries + 1));
    if (ret == NULL)
        return NULL;
    memcpy(ret, fixed, sizeof(fixed));
    for (size_t i = 0; i < entries; i++) {
        ret[count + 2 * i] = "-e";
        ret[count + 2 * i + 1] =
            i < ENTRYPOINTS ? talloc_asprintf(planning, "%s" ENTRYPOINT_RULE, entrypoint_paths[i])
                            : entrypoint_hooks[i - ENTRYPOINTS];
        if (ret[count + 2 * i + 1] == NULL)
            return NULL;
    }
    return ret;
}

static struct child *
start_program(struct planning *planning, const char *program, const struct bundle_modules *modules)
{
    /* Without garbage collection, which costs a third of the time, until much memory is in use; on
     * one core: decisions need the others. */
    static const char *const variables[] = {"GOGC=off", "GOMEMLIMIT=1GiB", "GOMAXPROCS=1", NULL};
    const struct child_call call = {
        .program = program,
        .arguments = arguments_of(planning, modules),
        .variables = variables,
        .dir = planning->dir,
        .output = OUTPUT_FILE,
        .limits = {PLAN_SECONDS, PLAN_MEMORY, PLAN_FILE_MAX},
    };
    return call.arguments != NULL ? child_start(planning, &call) : NULL;
}

/* Start the program; a reason why that failed is the plan's. */
static void
run_program(struct op *op, struct planning *planning, const struct bundle_modules *modules)
{
    const char *program = op->az->cfg->opa_binary;
    planning->until_ms = clock_monotonic_ms() + PLAN_SECONDS * 1000;
    if (*program != '/' || access(program, X_OK) != 0)
        planning->note = talloc_asprintf(
            planning, "%s is not the absolute path of an executable file (SVC_OPA_BINARY)",
            program);
    else if ((planning->dir = child_directory_make(planning, "authz-plan")) == NULL
             || !write_policy(planning, modules))
        planning->note = "the policy cannot be written to a temporary directory";
    else if ((planning->child = start_program(planning, program, modules)) == NULL)
        planning->note = "the process for opa build cannot be made";
}

/* Unpack the plan that is stored, so that a damaged one is made again and ends no save. */
static enum az_status
take_stored(struct op *op, struct planning *planning)
{
    struct plan_stored stored;
    char *text = NULL;
    enum az_status st = plan_fetch_named(op, planning->modules, &stored);
    if (st != AZ_OK)
        return st;
    planning->known = stored.plan != NULL;
    if (planning->known)
        st = archive_unpack(planning, stored.plan, stored.plan_length, POLICY_PLAN_MAX, &text,
                            &planning->made.length);
    planning->made.text = text;
    if (st != AZ_INVALID && st != AZ_TOO_LARGE)
        return st == AZ_OK ? AZ_OK : op_no_memory(op);
    planning->known = false;
    planning->note = NULL;
    planning->made.text = NULL;
    return plan_forget(op, planning->modules);
}

/* Begin to plan the modules, if `wanted`. */
static enum az_status
begin(struct op *op, const struct bundle_modules *modules, const char *name, bool wanted,
      struct planning **ret)
{
    struct planning *planning = *ret = talloc_zero(op->mem, struct planning);
    enum az_status st = AZ_OK;
    if (planning == NULL)
        return op_no_memory(op);
    talloc_set_destructor(planning, planning_free);
    if (!wanted)
        return AZ_OK;
    if ((st = plan_find(op, name, &planning->known, &planning->note)) != AZ_OK)
        return st;
    planning->modules = name;
    if (planning->known && (st = take_stored(op, planning)) != AZ_OK)
        return st;
    if (!planning->known)
        run_program(op, planning, modules);
    return AZ_OK;
}

enum az_status
plan_begin(struct op *op, const struct bundle_modules *modules, const char *name,
           struct planning **ret)
{
    return begin(op, modules, name, settings_engine_is_embedded(op->az->cfg), ret);
}

enum az_status
plan_begin_trial(struct op *op, const struct bundle_modules *modules, const char *name,
                 struct planning **ret)
{
    return begin(op, modules, name, true, ret);
}

/* ---- finishing */

/* Keep what the program said against the policy, if it is that. */
static void
keep_refusal(struct planning *planning, const char *text, size_t length)
{
    if (strstr(text, POLICY_ERROR) == NULL || !utf8_valid(text, length))
        return;
    char *copy = utf8_strndup(planning, text, REFUSAL_MAX);
    for (char *c = copy; c != NULL && *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 && *c != '\n')
            *c = ' ';
    planning->refusal = copy;
}

/* Return what the program said of its failure, in one line. */
static const char *
quote_output(struct planning *planning)
{
    size_t length;
    char *text = child_file_read(planning, file_in(planning, OUTPUT_FILE), PLAN_FILE_MAX, &length);
    if (text == NULL)
        return "no message";
    keep_refusal(planning, text, length);
    text[utf8_start(text, QUOTE_MAX)] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (*text == '\0')
        return "no message";
    return visible_fault(text) == NULL ? text : "an unreadable message";
}

/* Wait for the program, at most until its time is over. The session may hold the save lock, and
 * must not fall silent meanwhile (save_lock.c). */
static enum child_end
await_program(struct op *op, const struct planning *planning)
{
    for (;;) {
        int64_t next = clock_monotonic_ms() + SILENT_MS;
        bool last = next >= planning->until_ms;
        enum child_end end = child_wait(planning->child, last ? planning->until_ms : next);
        if (last || end != CHILD_RUNS)
            return end;
        db_break_silence(op);
    }
}

/* Return why the program made no plan; NULL: it made one. */
static const char *
wait_for_program(struct op *op, struct planning *planning)
{
    enum child_end end = await_program(op, planning);
    planning->endless = end == CHILD_RUNS || end == CHILD_STOPPED;
    switch (end) {
    case CHILD_DONE:
        return NULL;
    case CHILD_RUNS:
        return "opa build did not end in time";
    case CHILD_STOPPED:
        return "opa build was stopped: it reached a limit of memory, time or file size";
    default:
        return talloc_asprintf(planning, "opa build failed: %s", quote_output(planning));
    }
}

/* Read plan.json from what the program wrote. Return why that failed, or NULL. */
static const char *
read_plan(struct planning *planning)
{
    size_t length;
    char *packed = child_file_read(planning, file_in(planning, PLAN_FILE), PLAN_FILE_MAX, &length);
    char *tar;
    size_t tar_length;
    if (packed == NULL)
        return "opa build wrote no plan, or a plan that is too large";
    if (archive_unpack(planning, (unsigned char *) packed, length, POLICY_PLAN_MAX, &tar,
                       &tar_length)
            != AZ_OK
        || archive_member(tar, tar_length, "plan.json", &planning->made.text,
                          &planning->made.length)
               != AZ_OK)
        return "the plan has more than 64 MiB, or the archive of opa build cannot be read";
    return NULL;
}

/* Name the builtins of rules that the machine lacks, or NULL. */
static const char *
name_lacking(struct planning *planning, const struct rego_plan *plan)
{
    char *text = NULL;
    for (uint32_t i = 0; i < plan->lackings; i++)
        text = talloc_asprintf(planning, "%s%s%s",
                               text != NULL ? text : "the questions for which a rule calls ",
                               text != NULL ? ", " : "", plan->lacking[i]);
    return text;
}

/* True if the plan has all entrypoints. */
static bool
is_whole(struct planning *planning, const struct rego_plan *plan)
{
    for (size_t i = 0; i < ENTRYPOINTS; i++) {
        const char *name = talloc_asprintf(planning, "%s" ENTRYPOINT_RULE, entrypoint_paths[i]);
        if (name == NULL || rego_plan_entrypoint(plan, name) == NULL)
            return false;
    }
    return true;
}

/* Read the plan as a worker will. Return why it cannot be used, or NULL; planning->note then names
 * what OPA still decides. */
static const char *
check_plan(struct planning *planning)
{
    const struct rego_plan *plan = rego_plan_once(planning, &planning->made);
    if (plan == NULL)
        return planning->made.why;
    if (!is_whole(planning, plan))
        return "the plan lacks an entrypoint";
    planning->note = name_lacking(planning, plan);
    return NULL;
}

/* Compress the plan for storing. */
static bool
pack_plan(struct planning *planning, struct plan_new *ret)
{
    unsigned char *packed;
    bool done =
        archive_pack(planning, planning->made.text, planning->made.length, &packed, &ret->length)
        == AZ_OK;
    ret->plan = done ? packed : NULL;
    return done;
}

/* Wait for the plan. Without one, planning->note says why. */
static void
await_text(struct op *op, struct planning *planning)
{
    if (planning->note == NULL && planning->made.text == NULL)
        planning->note = wait_for_program(op, planning);
    if (planning->note == NULL && planning->made.text == NULL)
        planning->note = read_plan(planning);
}

/* Make the plan ready for storing. Without one, planning->note says why. */
static void
take_plan(struct op *op, struct planning *planning, struct plan_new *ret)
{
    await_text(op, planning);
    const char *why = planning->note;
    if (why == NULL)
        why = check_plan(planning);
    if (why == NULL && !pack_plan(planning, ret))
        why = "out of memory for the plan";
    if (why != NULL)
        planning->note = why;
    ret->note = planning->note;
}

/* Store a plan that was not known, or, if the settings ask for plans, the reason why there is no
 * plan. */
static enum az_status
store_plan(struct op *op, const struct plan_new *plan, bool asked)
{
    enum az_status st = plan->plan != NULL || asked ? plan_store(op, plan) : AZ_OK;
    return st == AZ_OK && plan->plan != NULL ? plan_bound(op) : st;
}

/* Tell what OPA still decides; NULL: nothing, or the settings say that it decides all. */
static const char *
warn(struct op *op, const struct planning *planning, const struct plan_new *plan)
{
    if (planning->note == NULL || !settings_engine_is_embedded(op->az->cfg))
        return NULL;
    const char *warning =
        planning->known || plan->plan != NULL
            ? talloc_asprintf(op->mem, "Open Policy Agent decides %s", planning->note)
            : talloc_asprintf(op->mem, "Open Policy Agent decides by this policy: %s",
                              planning->note);
    if (warning != NULL)
        log_text(AZ_SEV_WARN, "policy planned in part", "%s", warning);
    return warning;
}

enum az_status
plan_finish(struct op *op, struct planning *planning, const char **ret_warning)
{
    struct plan_new plan = {.modules = planning->modules};
    enum az_status st = AZ_OK;
    *ret_warning = NULL;
    if (planning->modules == NULL)
        return AZ_OK;
    if (!planning->known) {
        take_plan(op, planning, &plan);
        st = store_plan(op, &plan, settings_engine_is_embedded(op->az->cfg));
    }
    *ret_warning = warn(op, planning, &plan);
    bool read = !planning->known;
    talloc_free(planning);
    if (read)
        malloc_trim(0); /* the document took many times what is stored */
    return st;
}

/* ---- a plan that is needed */

/* Return why there is no plan, on op->mem. */
static struct plan_lack
lack_of(struct op *op, const struct planning *planning)
{
    return (struct plan_lack){
        .why = talloc_strdup(op->mem, planning->note),
        .refusal = planning->refusal != NULL ? talloc_strdup(op->mem, planning->refusal) : NULL,
        .endless = planning->endless};
}

enum az_status
plan_read(struct op *op, const char *modules, struct rego_plan_text *ret)
{
    struct plan_stored stored;
    char *text = NULL;
    *ret = (struct rego_plan_text){.text = NULL};
    enum az_status st = plan_fetch_named(op, modules, &stored);
    if (st != AZ_OK || stored.plan == NULL)
        return st;
    st = archive_unpack(op->mem, stored.plan, stored.plan_length, POLICY_PLAN_MAX, &text,
                        &ret->length);
    ret->text = text;
    return st == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "a stored plan is damaged, or no memory");
}

enum az_status
planning_text(struct op *op, struct planning *planning, struct rego_plan_text **ret,
              struct plan_lack *ret_lack)
{
    *ret_lack = (struct plan_lack){.why = NULL};
    if (!planning->known)
        await_text(op, planning);
    if (!planning->known && planning->made.text == NULL)
        *ret_lack = lack_of(op, planning);
    *ret = &planning->made;
    return AZ_OK;
}

enum az_status
plan_need(struct op *op, const struct bundle_modules *modules, const char *name,
          struct plan_lack *ret)
{
    struct planning *planning;
    struct plan_new plan = {.modules = name};
    *ret = (struct plan_lack){.why = NULL};
    enum az_status st = begin(op, modules, name, true, &planning);
    if (st != AZ_OK || planning->known)
        return st;
    take_plan(op, planning, &plan);
    st = store_plan(op, &plan, false);
    if (plan.plan == NULL)
        *ret = lack_of(op, planning);
    talloc_free(planning);
    malloc_trim(0); /* the document took many times what is stored */
    return st;
}

enum az_status
plan_served(struct op *op, bool *ret_made, const char **ret_warning)
{
    struct bundle_build build;
    const char *revision = NULL, *name = NULL;
    struct planning *planning = NULL;
    *ret_made = false;
    *ret_warning = NULL;
    if (!settings_engine_is_embedded(op->az->cfg))
        return AZ_OK;
    enum az_status st = plan_missing(op, &revision);
    if (st == AZ_OK && revision != NULL)
        st = bundle_read(op, &build);
    /* Rows of another revision: a save is under way, which plans what it saves. */
    if (st != AZ_OK || revision == NULL || strcmp(build.bundle.revision, revision) != 0)
        return st;
    if ((name = bundle_modules_name(op->mem, &build.modules)) == NULL)
        return op_no_memory(op);
    if ((st = plan_name_served(op, revision, name)) == AZ_OK)
        st = plan_begin(op, &build.modules, name, &planning);
    if (st == AZ_OK)
        st = plan_finish(op, planning, ret_warning);
    *ret_made = st == AZ_OK;
    return st;
}
