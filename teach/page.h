// The page of make ... explore: explorer/page.html with its style, its scripts and its data inserted.
#ifndef PAGE_H
#define PAGE_H

#include "message.h"

#include <stdio.h>

// Replaces the template lines @style@, @script@ and @data@ by the folder's *.css files, by its *.js files (each in the
// order of their names) and by the output of data(). A script or style that contains its own end tag is an error.
bool page_write(FILE *to, const char *folder, void (*data)(FILE *to, const void *context), const void *context,
                struct message *error);

#endif
