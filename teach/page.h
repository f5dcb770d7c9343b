// The page of make ... explore: explorer/page.html with its style, its scripts and its data put in.
#ifndef PAGE_H
#define PAGE_H

#include "message.h"

#include <stdio.h>

// A line of the template that holds nothing but @style@, @script@ or @data@ is replaced: by folder's *.css, by its
// *.js, each in the order of their names, and by what data prints. Text in a script or a style that would end it is an
// error.
bool page_write(FILE *to, const char *folder, void (*data)(FILE *to, const void *context), const void *context,
                struct message *error);

#endif
