#include "config.h"

#include "policy/rows/data_key.h"

#include <string.h>

const char *
policy_data_key_fault(const char *key)
{
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    if (key == NULL)
        return "is required";
    if (strlen(key) > POLICY_DATA_KEY_MAX)
        return "must have at most 256 characters";
    for (;;) {
        size_t length = strspn(key, word);
        key += length;
        if (length == 0 || (*key != '.' && *key != '\0'))
            return "must be words of A-Z a-z 0-9 _ - separated by dots";
        if (*key++ == '\0')
            return NULL;
    }
}

bool
policy_name_lies_in(const char *name, const char *root)
{
    size_t length = strlen(root);
    return strncmp(name, root, length) == 0 && (name[length] == '.' || name[length] == '\0');
}
