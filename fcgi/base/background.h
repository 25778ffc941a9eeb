/* Processes that work beside requests, which come first. */
#ifndef AZ_BASE_BACKGROUND_H
#define AZ_BASE_BACKGROUND_H

#include <stddef.h>

/* Name this process, and give it the lowest priority, so many octets of data and stack, and the
 * first place when the kernel is short of memory. Programs that it starts may have more memory. */
void background_begin(const char *name, size_t memory);

#endif
