/* The floor of an ID token: print the CPU time in milliseconds of one signature, made by the
 * library that the service uses: sign RS256 (with a key of 2048 bits) or sign ES256. */
#include <gnutls/abstract.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SIGNATURES 300

static const struct {
    const char *name;
    gnutls_pk_algorithm_t key;
    unsigned bits;
    gnutls_sign_algorithm_t sign;
} algs[] = {
    {"RS256", GNUTLS_PK_RSA,   2048,                                             GNUTLS_SIGN_RSA_SHA256},
    {"ES256", GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
     GNUTLS_SIGN_ECDSA_SECP256R1_SHA256                                                                },
};

static double
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

int
main(int argc, char **argv)
{
    static unsigned char text[600]; /* header and payload of an ID token */
    const gnutls_datum_t data = {text, sizeof(text)};
    gnutls_privkey_t key;
    size_t alg = 0;
    while (alg < sizeof(algs) / sizeof(algs[0]) && argc == 2
           && strcmp(algs[alg].name, argv[1]) != 0)
        alg++;
    if (argc != 2 || alg == sizeof(algs) / sizeof(algs[0]))
        return 2;
    if (gnutls_privkey_init(&key) != 0
        || gnutls_privkey_generate(key, algs[alg].key, algs[alg].bits, 0) != 0)
        return 1;
    double start = now_ms();
    for (int i = 0; i < SIGNATURES; i++) {
        gnutls_datum_t signature;
        if (gnutls_privkey_sign_data2(key, algs[alg].sign, 0, &data, &signature) != 0)
            return 1;
        gnutls_free(signature.data);
    }
    printf("%.3f\n", (now_ms() - start) / SIGNATURES);
    gnutls_privkey_deinit(key);
    return 0;
}
