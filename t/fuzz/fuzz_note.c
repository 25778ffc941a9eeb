/* Signed notes and checkpoints (C2SP signed-note, tlog-checkpoint): text of a stranger has no
 * signature of ours, and what is read as a checkpoint is what stands there. */
#include "config.h"

#include <string.h>

#include "crypto/keypair.h"
#include "crypto/signed_note.h"
#include "fuzz/fuzz.h"

#define NAME "auth.example"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct jwk *key;
    TALLOC_CTX *mem = talloc_new(NULL);
    struct checkpoint found;
    if (key == NULL)
        MUST(keypair_generate_p256(NULL, &key) == AZ_OK);
    char *text = talloc_strndup(mem, (const char *) data, size);
    MUST(note_verify(text, NAME, key) == AZ_INVALID);
    if (checkpoint_read(text, &found) == AZ_OK) {
        const char *again = checkpoint_text(mem, &found);
        MUST(strncmp(text, again, strlen(again)) == 0);
    }
    char *note = note_sign(mem, text, NAME, key);
    MUST((note != NULL) == (*text != '\0' && text[strlen(text) - 1] == '\n'));
    if (note != NULL && strlen(note) <= NOTE_OCTETS_MAX) {
        MUST(note_verify(note, NAME, key) == AZ_OK);
        note[0] ^= 1;
        MUST(note_verify(note, NAME, key) == AZ_INVALID);
    }
    talloc_free(mem);
    return 0;
}
