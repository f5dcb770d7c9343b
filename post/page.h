// The page of a post: one self-contained HTML file.
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stdio.h>

// markdown: the post, with metadata between two lines of --- at its beginning. folder: NAME.svg of charts, NAME.svg and
// NAME-phone.svg of drawings. url: the URL of the published folder, "" if unpublished. False, with one line per error
// on stderr, if the page would contain raw HTML or a picture from another place.
bool page_write(FILE *out, const char *markdown, const char *folder, const char *url);

#endif
