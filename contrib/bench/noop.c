/* The floor of a FastCGI program: read every request to its end and answer it with the content of
 * one file. Uses libfcgi, processes and connections in the same way as the service
 * (fcgi/accept_fastcgi.c): noop SOCKET WORKERS FILE */
#include <fcgiapp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The length of the queue is that of pools.c: lighttpd opens a connection per request. */
#define BACKLOG 1024
/* Largest answer in octets; those of the service are below 1 kB. */
#define ANSWER_MAX 8192
#define WORKERS_MAX 256

static int
read_file(const char *path, char *octets, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t got = file != NULL ? fread(octets, 1, size, file) : 0;
    if (file != NULL)
        fclose(file);
    return got < size ? (int) got : 0;
}

static void
serve(int socket, const char *answer, int length)
{
    FCGX_Request request;
    char body[ANSWER_MAX];
    if (FCGX_InitRequest(&request, socket, 0) != 0)
        _exit(1);
    while (FCGX_Accept_r(&request) == 0) {
        while (FCGX_GetStr(body, sizeof(body), request.in) == sizeof(body))
            ;
        FCGX_PutStr(answer, length, request.out);
        if (FCGX_HasSeenEOF(request.in) == EOF)
            FCGX_Detach(&request);
        FCGX_Finish_r(&request);
    }
    _exit(0);
}

int
main(int argc, char **argv)
{
    static char answer[ANSWER_MAX];
    int workers = argc == 4 ? atoi(argv[2]) : 0;
    int length = argc == 4 ? read_file(argv[3], answer, sizeof(answer)) : 0;
    if (workers < 1 || workers > WORKERS_MAX || length == 0 || FCGX_Init() != 0) {
        fprintf(stderr,
                "usage: noop SOCKET WORKERS FILE (an answer in CGI form, below %d octets)\n",
                ANSWER_MAX);
        return 2;
    }
    int socket = FCGX_OpenSocket(argv[1], BACKLOG);
    if (socket < 0)
        return 1;
    for (int i = 0; i < workers; i++)
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            serve(socket, answer, length);
        }
    while (wait(NULL) > 0)
        ;
    return 0;
}
