/* The floor of an ID token: print the CPU time in milliseconds of one RS256 signature with a key of
 * 2048 bits, made by the library that the service uses. */
#include <gnutls/abstract.h>
#include <stdio.h>
#include <time.h>

#define SIGNATURES 300

static double
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

int
main(void)
{
    static unsigned char text[600]; /* header and payload of an ID token */
    const gnutls_datum_t data = {text, sizeof(text)};
    gnutls_privkey_t key;
    if (gnutls_privkey_init(&key) != 0 || gnutls_privkey_generate(key, GNUTLS_PK_RSA, 2048, 0) != 0)
        return 1;
    double start = now_ms();
    for (int i = 0; i < SIGNATURES; i++) {
        gnutls_datum_t signature;
        if (gnutls_privkey_sign_data2(key, GNUTLS_SIGN_RSA_SHA256, 0, &data, &signature) != 0)
            return 1;
        gnutls_free(signature.data);
    }
    printf("%.3f\n", (now_ms() - start) / SIGNATURES);
    gnutls_privkey_deinit(key);
    return 0;
}
