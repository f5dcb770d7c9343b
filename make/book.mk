# The book: a static site of all pages, with the page of explore in each lesson and the flash cards (book/conf.py). Sphinx is needed for
# this goal only; ./setup --book installs it into toolchain/book.

book_extra := $(CURDIR)/build/book/extra
explored := $(solutions:%=$(book_extra)/%.explored)

# A folder of its own, since a learner's explore writes build/explore for other shapes. Made again if a kernel or its tools have changed.
.SECONDEXPANSION:
$(explored): $(book_extra)/%.explored: $$(call files,$$*) $(wildcard common/*.cuh explorer/* teach/*.[ch] simulator/*/*.[ch])
	mkdir -p $(book_extra)/explore
	$(MAKE) DEVICE=sim $* explore
	cp build/explore/$(call title,$*)-*.html $(book_extra)/explore
	touch $@

book: $(explored)
	$(MAKE) flashcards
	cp build/flashcards.html $(book_extra)
	book/build $(book_extra) build/book/site
