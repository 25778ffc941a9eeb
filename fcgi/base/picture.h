/* The types of pictures that every browser shows, known by their first octets. */
#ifndef AZ_BASE_PICTURE_H
#define AZ_BASE_PICTURE_H

#include <stddef.h>

/* Largest logo of an identity provider, in octets: a picture for a space of some 32 pixels. Each
 * page where people choose contains the logos, a third larger in base64. */
#define PICTURE_LOGO_MAX (16 * 1024)

/* Return the media type of a PNG, JPEG or WebP picture; NULL: the octets are none of these. */
const char *picture_type(const void *octets, size_t length);

#endif
