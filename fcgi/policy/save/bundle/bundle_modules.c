#include "config.h"

#include "policy/save/bundle/bundle_modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "crypto/digest.h"
#include "policy/engine/entrypoints.h"
#include "policy/rows/cedar_rule.h"
#include "policy/rows/rule.h"
#include "policy/save/bundle/archive.h"

/* State of the making. */
struct bundle_making {
    struct bundle_modules *modules;
    size_t room;   /* for modules */
    size_t octets; /* of their texts */
};

static enum az_status
add_bundle_module(struct op *op, struct bundle_making *making, const struct bundle_module *module)
{
    struct bundle_modules *modules = making->modules;
    if (modules->count == making->room) {
        making->room = 2 * making->room + 1;
        modules->module =
            talloc_realloc(op->mem, modules->module, struct bundle_module, (unsigned) making->room);
    }
    if (modules->module == NULL)
        return op_no_memory(op);
    modules->module[modules->count++] = *module;
    making->octets += strlen(module->text);
    return making->octets <= ARCHIVE_MAX ? AZ_OK : AZ_INVALID;
}

/* Add the modules of a Cedar rule. */
static enum az_status
add_cedar_modules(struct op *op, struct bundle_making *making, const char *path,
                  const char *content)
{
    struct cedar_fault fault;
    struct cedar_modules compiled;
    enum az_status st = cedar_rule_compile(op->mem, path, content, &compiled, &fault);
    if (st == AZ_INVALID) /* it was compiled when it was saved */
        return op_fail(op, AZ_CONFLICT,
                       talloc_asprintf(op->mem, "The stored rule %s",
                                       cedar_rule_fault_text(op->mem, path, &fault)),
                       NULL);
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "out of memory for the modules of %s", path);
    for (size_t i = 0; i < compiled.count && st == AZ_OK; i++) {
        const struct bundle_module module = {compiled.module[i].file, compiled.module[i].text, path,
                                             true};
        st = add_bundle_module(op, making, &module);
    }
    return st;
}

enum az_status
bundle_modules_make(struct op *op, const struct bundle_rows *rows, struct bundle_modules *ret)
{
    struct bundle_making making = {.modules = ret, .room = rows->rules};
    *ret = (struct bundle_modules){talloc_array(op->mem, struct bundle_module, rows->rules), 0};
    enum az_status st = AZ_OK;
    for (size_t i = 0; i < rows->rules && st == AZ_OK; i++) {
        const char *path = rows->rule_path[i], *content = rows->rule_content[i];
        const struct bundle_module module = {path, content, path, false};
        st = strcmp(rule_kind(path), "cedar") == 0 ? add_cedar_modules(op, &making, path, content)
                                                   : add_bundle_module(op, &making, &module);
    }
    return st;
}

bool
bundle_modules_has(const struct bundle_modules *modules, const char *file)
{
    for (size_t i = 0; i < modules->count; i++)
        if (strcmp(modules->module[i].file, file) == 0)
            return true;
    return false;
}

const char *
bundle_modules_blame(TALLOC_CTX *mem, const struct bundle_modules *modules, const char *message)
{
    for (size_t i = 0; i < modules->count; i++) {
        const struct bundle_module *module = &modules->module[i];
        size_t length = strlen(module->file);
        char *end;
        if (!module->compiled || strncmp(message, module->file, length) != 0
            || message[length] != ':')
            continue;
        unsigned line = cedar_rule_line(module->text, strtoul(message + length + 1, &end, 10));
        const char *text = talloc_asprintf(mem, "%s:%u%s", module->rule, line > 0 ? line : 1, end);
        return text != NULL ? text : message;
    }
    return message;
}

const char *
bundle_modules_name(TALLOC_CTX *mem, const struct bundle_modules *modules)
{
    struct buf all;
    char *hash = talloc_array(mem, char, SHA256_HEX_SIZE);
    buf_init(&all, mem, ARCHIVE_MAX);
    for (size_t i = 0; i < ENTRYPOINTS; i++)
        buf_append(&all, entrypoint_paths[i], strlen(entrypoint_paths[i]) + 1);
    for (size_t i = 0; i < modules->count; i++) {
        const struct bundle_module *module = &modules->module[i];
        buf_append(&all, module->file, strlen(module->file) + 1);
        buf_append(&all, module->text, strlen(module->text) + 1);
    }
    bool named =
        hash != NULL && all.status == AZ_OK && sha256_hex(all.data, all.len, hash) == AZ_OK;
    buf_done(&all);
    return named ? hash : NULL;
}
