// The page of a post: one HTML file that needs nothing beside it.
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stdio.h>

// markdown: of the post; what stands between two lines of --- at its beginning are its facts. folder: NAME.svg of
// charts, NAME.svg and NAME-phone.svg of drawings. url: of the folder, where it is published, "" for nowhere. False,
// and a line on stderr for each reason, where the page would hold what it must not: raw HTML, or a picture from
// elsewhere.
bool page_write(FILE *out, const char *markdown, const char *folder, const char *url);

#endif
