/* Signed notes and checkpoints: C2SP signed-note and tlog-checkpoint, version 1. */
#include "config.h"

#include "crypto/signed_note.h"

#include <stdio.h>
#include <string.h>

#include "crypto/keypair.h"
#include "tap.h"

#define ORIGIN "auth.example/audit"

static void
test_checkpoint(TALLOC_CTX *mem)
{
    struct checkpoint made = {.origin = ORIGIN, .size = 12345}, read = {.size = 0};
    memset(made.root, 0xab, sizeof(made.root));
    char *text = checkpoint_text(mem, &made);
    is_str(text, ORIGIN "\n12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
           "a checkpoint has origin, size and root, one a line");
    ok(checkpoint_read(text, &read) == AZ_OK && read.size == 12345
           && strcmp(read.origin, ORIGIN) == 0 && memcmp(read.root, made.root, 32) == 0,
       "it is read as it was written");
    ok(checkpoint_read(talloc_asprintf(mem, "%sextension\n", text), &read) == AZ_OK,
       "lines of an extension are passed over");
    static const char *const bad[] = {
        "",
        ORIGIN "\n12345\n",
        ORIGIN "\n012\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        ORIGIN "\n-1\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        ORIGIN "\n9223372036854775808\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        ORIGIN "\n1\nq6urq6s=\n",
        ORIGIN "\n1\nnot base64\n",
        ORIGIN "\n12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s\n",
        ORIGIN "\n12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6t=\n",
        ORIGIN "\n12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s==\n",
        ORIGIN "\n12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\r\n",
        ORIGIN "\n+12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        ORIGIN "\n 12345\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        "\n1\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=\n",
        ORIGIN "\n1\nq6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ok(checkpoint_read(bad[i], &read) == AZ_INVALID, "malformed checkpoint %zu is refused", i);
}

static void
test_signature(TALLOC_CTX *mem)
{
    struct jwk *key, *other;
    keypair_generate_p256(mem, &key);
    keypair_generate_p256(mem, &other);
    char *note = note_sign(mem, "text\n\nmore\n", ORIGIN, key);
    char *two = note_sign(mem, note, "witness.example", other);
    ok(strncmp(note, "text\n\nmore\n\n\xe2\x80\x94 " ORIGIN " ", 35) == 0,
       "a note is the text, an empty line and a line with the signature");
    ok(note_verify(note, ORIGIN, key) == AZ_OK, "the signature is valid");
    ok(note_verify(note, ORIGIN, other) == AZ_INVALID, "another key is refused");
    ok(note_verify(note, "auth.example", key) == AZ_INVALID, "another name is refused");
    ok(two != NULL && note_verify(two, "witness.example", other) == AZ_OK,
       "the text of a note may be a note");
    char *cosigned = talloc_asprintf(mem, "%s\xe2\x80\x94 w.example AAAAAAAA\n", note);
    ok(note_verify(cosigned, ORIGIN, key) == AZ_OK, "signatures of others are passed over");
    for (const char *at = "tm"; *at != '\0'; at++) {
        char *changed = talloc_strdup(mem, note);
        *strchr(changed, *at) ^= 1;
        ok(note_verify(changed, ORIGIN, key) == AZ_INVALID, "a changed text is refused");
    }
    ok(note_verify("text\n", ORIGIN, key) == AZ_INVALID, "a text without a signature is refused");
    ok(note_verify(talloc_asprintf(mem, "%sgarbage\n", note), ORIGIN, key) == AZ_INVALID,
       "a line that is no signature is refused");
    while (note[strlen(note) - 2] != '=') /* the length of a signature varies */
        note = note_sign(mem, "text\n", ORIGIN, key);
    char *bare = talloc_strdup(mem, note);
    bare[strcspn(bare, "=")] = '\0';
    ok(note_verify(note, ORIGIN, key) == AZ_OK
           && note_verify(talloc_asprintf(mem, "%s\n", bare), ORIGIN, key) == AZ_INVALID,
       "a signature without its padding is refused: a note has one form (C2SP signed-note)");
    ok(note_sign(mem, "no line feed", ORIGIN, key) == NULL, "a text must end with a line feed");
    ok(note_sign(mem, "text\n", "two words", key) == NULL, "a name has no blank");
    ok(note_sign(mem, "text\n", "a+b", key) == NULL, "nor a plus");
}

static void
test_limit(TALLOC_CTX *mem)
{
    struct jwk *key;
    keypair_generate_p256(mem, &key);
    char *text = talloc_zero_size(mem, NOTE_OCTETS_MAX + 2);
    memset(text, 'x', NOTE_OCTETS_MAX);
    text[NOTE_OCTETS_MAX - 1] = '\n';
    char *note = note_sign(mem, text + 400, ORIGIN, key);
    size_t length = strlen(note);
    char *padded = talloc_asprintf(mem, "%s\xe2\x80\x94 w ", note);
    while (strlen(padded) < NOTE_OCTETS_MAX - 1)
        padded = talloc_strdup_append(padded, "A");
    ok(length < NOTE_OCTETS_MAX
           && note_verify(talloc_asprintf(mem, "%s\n", padded), ORIGIN, key) == AZ_OK,
       "a note of %d octets is read", NOTE_OCTETS_MAX);
    ok(note_verify(talloc_asprintf(mem, "%sA\n", padded), ORIGIN, key) == AZ_INVALID,
       "one of one more is refused");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    plan(0);
    test_checkpoint(mem);
    test_signature(mem);
    test_limit(mem);
    talloc_free(mem);
    return done();
}
