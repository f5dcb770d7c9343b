// post check OUTLINE                             checks the syntax, independent of results
// post markdown OUTLINE FIGURES LINKS DRAWINGS   prints Markdown, writes the paths of the drawings to a file
// post page POST.md FOLDER URL                   prints the HTML page, with the pictures of the folder
// Called by post/write. Exit status 2: bad input, each error on stderr with file and line.

#include "figures.h"
#include "message.h"
#include "outline.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

static bool write_markdown(char **word) {
    char *figures = figures_read(word[1]);
    FILE *drawings = fopen(word[3], "w");
    if (!drawings)
        message_exit(EXIT_BAD_INPUT, "%s cannot be written [cannot-write]", word[3]);
    struct outline outline = {.path = word[0], .figures = figures, .links = word[2]};
    bool ok = outline_write(&outline, stdout, drawings);
    free(figures);
    return fclose(drawings) == 0 && ok;
}

int main(int argc, char **argv) {
    bool ok = false;
    if (argc == 3 && !strcmp(argv[1], "check")) {
        struct outline outline = {.path = argv[2]};
        ok = outline_write(&outline, NULL, NULL);
    } else if (argc == 6 && !strcmp(argv[1], "markdown"))
        ok = write_markdown(argv + 2);
    else if (argc == 5 && !strcmp(argv[1], "page"))
        ok = page_write(stdout, argv[2], argv[3], argv[4]);
    else
        message_exit(EXIT_BAD_INPUT, "usage: called by post/write [usage]");
    if (fflush(stdout) || ferror(stdout))
        message_exit(EXIT_BAD_INPUT, "the post cannot be written; is the disk full? [cannot-write]");
    return ok ? 0 : EXIT_BAD_INPUT;
}
