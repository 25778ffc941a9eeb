#include "config.h"

#include "cli/audit/checkpoints.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/lib/input.h"
#include "cli/lib/output.h"

/* Begin of a signature line (crypto/signed_note.c). */
#define DASH "\xe2\x80\x94 "

int
keys_list_read(struct cli *cli, json_t *list, const struct jwk_set **ret)
{
    struct jwk_set *set = NULL;
    const char *why = "out of memory";
    json_t *object = jsonx_own(cli->mem, json_pack("{s:O}", "keys", list));
    if (object == NULL || jwk_set_parse(cli->mem, object, JWK_SET_FETCHED, &set, &why) != AZ_OK) {
        output_error("%s: the keys of the audit log cannot be read: %s", cli->path, why);
        return CLI_FAILED;
    }
    *ret = set;
    return CLI_OK;
}

int
keys_file_read(struct cli *cli, const char *name, const struct jwk_set **ret)
{
    size_t length;
    struct jwk_set *set = NULL;
    json_t *object = NULL;
    const char *why = NULL;
    char *text = input_read_file(cli, name, KEYS_FILE_MAX, "64 KiB", "give a JWK Set", &length);
    if (text == NULL)
        return CLI_FAILED;
    if (jsonx_parse(cli->mem, text, length, KEYS_DEPTH_MAX, &object, &why) != AZ_OK
        || jwk_set_parse(cli->mem, object, JWK_SET_FETCHED, &set, &why) != AZ_OK) {
        output_error("%s: %s: is not a JWK Set: %s; print one by `authzctl audit keys`", cli->path,
                     name, why != NULL ? why : "out of memory");
        return CLI_FAILED;
    }
    *ret = set;
    return CLI_OK;
}

/* Return the octets of the first note of a text: up to the last of its signature lines; 0: it has
 * no end. */
static size_t
note_length(const char *text)
{
    const char *at = strstr(text, "\n\n" DASH);
    if (at == NULL)
        return 0;
    at += 2;
    while (strncmp(at, DASH, strlen(DASH)) == 0) {
        at = strchr(at, '\n');
        if (at == NULL)
            return 0;
        at++;
    }
    return (size_t) (at - text);
}

/* True if one of the keys signed the note. */
static bool
is_signed(const char *note, const char *origin, const struct jwk_set *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        if (note_verify(note, origin, keys->keys[i]) == AZ_OK)
            return true;
    return false;
}

int
checkpoint_file_read(struct cli *cli, const char *name, const struct jwk_set *keys,
                     struct checkpoint_file *ret)
{
    size_t length, taken;
    char *text =
        input_read_file(cli, name, CHECKPOINTS_FILE_MAX, "32 MiB", "give checkpoints", &length);
    if (text == NULL)
        return CLI_FAILED;
    *ret = (struct checkpoint_file){.count = 0};
    for (; *text != '\0'; text += taken) {
        taken = note_length(text);
        char *note = talloc_strndup(cli->mem, text, taken);
        struct checkpoint *at =
            talloc_realloc(cli->mem, ret->at, struct checkpoint, (unsigned) ret->count + 1);
        if (note == NULL || at == NULL)
            return output_no_memory(cli);
        ret->at = at;
        if (taken == 0 || checkpoint_read(note, &at[ret->count]) != AZ_OK
            || !is_signed(note, at[ret->count].origin, keys)) {
            output_error("%s: %s: checkpoint %zu is malformed or has no valid signature of the "
                         "given keys",
                         cli->path, name, ret->count + 1);
            return CLI_FAILED;
        }
        talloc_free(note);
        ret->count++;
    }
    if (ret->count == 0) {
        output_error("%s: %s: has no checkpoint; give what `authzctl audit checkpoint` printed, or "
                     "the file of SVC_AUDIT_CHECKPOINT_FILE",
                     cli->path, name);
        return CLI_FAILED;
    }
    return CLI_OK;
}
