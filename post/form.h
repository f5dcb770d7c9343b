// The syntax of placeholders.
#ifndef FORM_H
#define FORM_H

#include <stdbool.h>

// The form of a placeholder (given without braces), such as "time LESSON D [N]". NULL if no form begins with its first
// word. fits: whether the placeholder matches the form.
const char *form_of(const char *inner, bool *fits);

#endif
