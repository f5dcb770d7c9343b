// How a placeholder is written.
#ifndef FORM_H
#define FORM_H

#include <stdbool.h>

// The form of a placeholder, given without its braces: "time LESSON D [N]". NULL where no form begins with its first
// word. fits: whether it is written so.
const char *form_of(const char *inner, bool *fits);

#endif
