#include "config.h"

#include "crypto/signed_note.h"

#include <gnutls/crypto.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/b64url.h"
#include "base/digits.h"

/* Begin of a signature line: an em dash and a blank. */
#define SIGNATURE_BEGIN "\xe2\x80\x94 "

/* Octets of a key's name before a signature. */
#define KEY_ID_OCTETS 4

/* Compute the octets that name a key beside its signatures: the first four of SHA-256 of its
 * SubjectPublicKeyInfo. */
static enum az_status
key_id(const struct jwk *key, unsigned char ret[KEY_ID_OCTETS])
{
    gnutls_datum_t der = {NULL, 0};
    unsigned char digest[SHA256_OCTETS];
    if (gnutls_pubkey_export2(key->pub, GNUTLS_X509_FMT_DER, &der) != 0)
        return AZ_SERVER_ERROR;
    enum az_status st = sha256(der.data, der.size, digest);
    gnutls_free(der.data);
    memcpy(ret, digest, KEY_ID_OCTETS);
    return st;
}

char *
checkpoint_text(TALLOC_CTX *mem, const struct checkpoint *checkpoint)
{
    char *root = b64_encode(mem, checkpoint->root, SHA256_OCTETS);
    return root != NULL ? talloc_asprintf(mem, "%s\n%" PRIu64 "\n%s\n", checkpoint->origin,
                                          checkpoint->size, root)
                        : NULL;
}

/* Return the key's id and its signature of the text in base64. */
static char *
signature_of(TALLOC_CTX *mem, const char *text, const struct jwk *key)
{
    unsigned char octets[KEY_ID_OCTETS + 128];
    gnutls_datum_t data = {(unsigned char *) (uintptr_t) text, (unsigned) strlen(text)},
                   signature = {NULL, 0};
    char *ret = NULL;
    if (key_id(key, octets) != AZ_OK
        || gnutls_privkey_sign_data2(key->priv, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature)
               != 0)
        return NULL;
    if (signature.size <= sizeof(octets) - KEY_ID_OCTETS) {
        memcpy(octets + KEY_ID_OCTETS, signature.data, signature.size);
        ret = b64_encode(mem, octets, KEY_ID_OCTETS + signature.size);
    }
    gnutls_free(signature.data);
    return ret;
}

char *
note_sign(TALLOC_CTX *mem, const char *text, const char *name, const struct jwk *key)
{
    size_t length = strlen(text);
    if (length == 0 || text[length - 1] != '\n' || *name == '\0' || strpbrk(name, " \t\n+") != NULL
        || key->priv == NULL)
        return NULL;
    char *signature = signature_of(mem, text, key);
    return signature != NULL
               ? talloc_asprintf(mem, "%s\n" SIGNATURE_BEGIN "%s %s\n", text, name, signature)
               : NULL;
}

/* Return the octets of the signed text, which ends with the line feed before an empty line and
 * signatures; 0: the note has no such line. Only the last empty line counts: the text may have
 * others. */
static size_t
text_length(const char *note)
{
    const char *end = NULL;
    for (const char *at = strstr(note, "\n\n"); at != NULL; at = strstr(at + 1, "\n\n"))
        end = at;
    return end != NULL ? (size_t) (end - note) + 1 : 0;
}

/* True if base64 octets are the key's signature of the text. */
static bool
is_signature(const char *text, size_t length, const char *base64, size_t base64_length,
             const struct jwk *key)
{
    TALLOC_CTX *scratch = talloc_new(NULL);
    unsigned char *octets, id[KEY_ID_OCTETS];
    size_t octets_length;
    gnutls_datum_t data = {(unsigned char *) (uintptr_t) text, (unsigned) length};
    bool good = scratch != NULL && key_id(key, id) == AZ_OK
                && b64_decode(scratch, base64, base64_length, &octets, &octets_length) == AZ_OK
                && octets_length > KEY_ID_OCTETS && memcmp(octets, id, KEY_ID_OCTETS) == 0;
    if (good) {
        gnutls_datum_t signature = {octets + KEY_ID_OCTETS,
                                    (unsigned) (octets_length - KEY_ID_OCTETS)};
        good = gnutls_pubkey_verify_data2(key->pub, GNUTLS_SIGN_ECDSA_SHA256, 0, &data, &signature)
               >= 0;
    }
    talloc_free(scratch);
    return good;
}

enum az_status
note_verify(const char *note, const char *name, const struct jwk *key)
{
    size_t length = strnlen(note, NOTE_OCTETS_MAX + 1) <= NOTE_OCTETS_MAX ? text_length(note) : 0;
    size_t name_length = strlen(name), begin_length = strlen(SIGNATURE_BEGIN);
    if (length == 0)
        return AZ_INVALID;
    bool good = false;
    for (const char *line = note + length + 1, *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        if (end == NULL || strncmp(line, SIGNATURE_BEGIN, begin_length) != 0)
            return AZ_INVALID;
        const char *at = line + begin_length;
        good = good
               || (strncmp(at, name, name_length) == 0 && at[name_length] == ' '
                   && is_signature(note, length, at + name_length + 1,
                                   (size_t) (end - at) - name_length - 1, key));
    }
    return good ? AZ_OK : AZ_INVALID;
}

/* Copy the line at *at without its end, and move *at behind it. False: it is longer than the
 * room, or has no end. */
static bool
take_line(const char **at, char *room, size_t size)
{
    const char *end = strchr(*at, '\n');
    if (end == NULL || end == *at || (size_t) (end - *at) >= size)
        return false;
    memcpy(room, *at, (size_t) (end - *at));
    room[end - *at] = '\0';
    *at = end + 1;
    return true;
}

enum az_status
checkpoint_read(const char *note, struct checkpoint *ret)
{
    char number[24], base64[64];
    int64_t size = 0;
    unsigned char *root = NULL;
    size_t root_length = 0;
    TALLOC_CTX *scratch = talloc_new(NULL);
    bool good = scratch != NULL && take_line(&note, ret->origin, sizeof(ret->origin))
                && take_line(&note, number, sizeof(number)) && digits_read(number, INT64_MAX, &size)
                && (number[0] != '0' || number[1] == '\0')
                && take_line(&note, base64, sizeof(base64))
                && b64_decode(scratch, base64, strlen(base64), &root, &root_length) == AZ_OK
                && root_length == SHA256_OCTETS;
    if (good) {
        ret->size = (uint64_t) size;
        memcpy(ret->root, root, SHA256_OCTETS);
    }
    talloc_free(scratch);
    return good ? AZ_OK : AZ_INVALID;
}
