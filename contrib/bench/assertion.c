/* Client assertions for a benchmark: assertion ALG ISSUER CLIENT COUNT, with ALG RS256 or ES256.
 *
 * Prints the CPU time in microseconds of one verification by the library that the service uses,
 * then the public key as a JWK, then COUNT assertions, each in a line and with a jti of its own. */
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VERIFICATIONS 2000
/* The service accepts no assertion that is good for longer than an hour. */
#define LIFETIME 3000
#define TEXT_MAX 2048

static double
cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static void
check(int status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "assertion: %s\n", gnutls_strerror(status));
    exit(1);
}

/* Append base64url of some octets to a text (RFC 7515 appendix C). */
static void
append(char *text, const void *octets, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const unsigned char *from = octets;
    size_t at = strlen(text);
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < length; i++) {
        held = held << 8 | from[i];
        for (bits += 8; bits >= 6; bits -= 6)
            text[at++] = digits[held >> (bits - 6) & 63];
    }
    if (bits > 0)
        text[at++] = digits[held << (6 - bits) & 63];
    text[at] = '\0';
}

/* Append a number without the zero that its sign may have put in front, filled to `size` octets. */
static void
append_number(char *text, const gnutls_datum_t *number, size_t size)
{
    unsigned char octets[1024] = {0};
    size_t skip = number->size > 0 && number->data[0] == 0 ? 1 : 0;
    size_t length = number->size - skip, pad = size > length ? size - length : 0;
    memcpy(octets + pad, number->data + skip, length);
    append(text, octets, pad + length);
}

static void
print_key(gnutls_pubkey_t key, int rsa)
{
    char one[TEXT_MAX] = "", two[TEXT_MAX] = "";
    gnutls_datum_t a, b;
    gnutls_ecc_curve_t curve;
    check(rsa ? gnutls_pubkey_export_rsa_raw2(key, &a, &b, 0)
              : gnutls_pubkey_export_ecc_raw2(key, &curve, &a, &b, 0));
    append_number(one, &a, rsa ? 0 : 32);
    append_number(two, &b, rsa ? 0 : 32);
    printf(rsa ? "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}\n"
               : "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}\n",
           one, two);
}

static void
print_assertion(gnutls_privkey_t key, int rsa, char *argv[], long number)
{
    char text[TEXT_MAX] = "", json[TEXT_MAX];
    snprintf(json, sizeof(json), "{\"alg\":\"%s\"}", argv[1]);
    append(text, json, strlen(json));
    strcat(text, ".");
    snprintf(json, sizeof(json),
             "{\"iss\":\"%s\",\"sub\":\"%s\",\"aud\":\"%s\",\"exp\":%lld,\"jti\":\"%lld-%ld\"}",
             argv[3], argv[3], argv[2], (long long) time(NULL) + LIFETIME, (long long) time(NULL),
             number);
    append(text, json, strlen(json));
    gnutls_datum_t signature, data = {(unsigned char *) text, (unsigned) strlen(text)}, r, s;
    check(gnutls_privkey_sign_data2(key, rsa ? GNUTLS_SIGN_RSA_SHA256 : GNUTLS_SIGN_ECDSA_SHA256, 0,
                                    &data, &signature));
    strcat(text, ".");
    if (rsa) {
        append(text, signature.data, signature.size);
    } else {
        unsigned char both[64] = {0};
        check(gnutls_decode_rs_value(&signature, &r, &s));
        size_t skip = r.size > 32 ? r.size - 32 : 0, skip_s = s.size > 32 ? s.size - 32 : 0;
        memcpy(both + 32 - (r.size - skip), r.data + skip, r.size - skip);
        memcpy(both + 64 - (s.size - skip_s), s.data + skip_s, s.size - skip_s);
        append(text, both, sizeof(both));
    }
    puts(text);
    gnutls_free(signature.data);
}

static double
verification_us(gnutls_privkey_t key, gnutls_pubkey_t public, int rsa)
{
    static unsigned char text[250]; /* header and payload of an assertion */
    const gnutls_datum_t data = {text, sizeof(text)};
    gnutls_sign_algorithm_t alg = rsa ? GNUTLS_SIGN_RSA_SHA256 : GNUTLS_SIGN_ECDSA_SECP256R1_SHA256;
    gnutls_datum_t signature;
    check(gnutls_privkey_sign_data2(key, rsa ? GNUTLS_SIGN_RSA_SHA256 : GNUTLS_SIGN_ECDSA_SHA256, 0,
                                    &data, &signature));
    double start = cpu_us();
    for (int i = 0; i < VERIFICATIONS; i++)
        check(gnutls_pubkey_verify_data2(public, alg, 0, &data, &signature));
    return (cpu_us() - start) / VERIFICATIONS;
}

int
main(int argc, char *argv[])
{
    gnutls_privkey_t key;
    gnutls_pubkey_t public;
    if (argc != 5)
        return 2;
    int rsa = strcmp(argv[1], "RS256") == 0;
    check(gnutls_privkey_init(&key));
    check(gnutls_pubkey_init(&public));
    check(gnutls_privkey_generate(key, rsa ? GNUTLS_PK_RSA : GNUTLS_PK_ECDSA,
                                  rsa ? 2048 : GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                  0));
    check(gnutls_pubkey_import_privkey(public, key, 0, 0));
    printf("%.1f\n", verification_us(key, public, rsa));
    print_key(public, rsa);
    for (long i = 0; i < atol(argv[4]); i++)
        print_assertion(key, rsa, argv, i);
    return 0;
}
