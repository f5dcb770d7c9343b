// The page of a post: one HTML file that needs nothing beside it.
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stdio.h>

struct page_sources {
    const char *markdown; // of the post; what stands between two lines of --- at its beginning are its facts
    const char *folder;   // NAME.svg of charts, NAME.svg and NAME-phone.svg of drawings
    const char *url;      // of the folder, where it is published, "" for nowhere
    const char *html;     // page.html: @title@, @meta@, @style@ and @body@ stand for what is put there
    const char *css;
    const char *palette; // of charts
};

// False, and a line on stderr for each reason, where the page would hold what it must not: raw HTML, or a picture from
// elsewhere.
bool page_write(const struct page_sources *sources, FILE *out);

#endif
