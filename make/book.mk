# The book: a static site of all pages, with the page of explore in each lesson and the flash cards (book/conf.py). Sphinx is needed for
# this goal only; ./setup --book installs it into toolchain/book.

ifneq (,$(filter book,$(goals)))
# A folder of its own, since a learner's explore writes build/explore for other shapes. Made again if a kernel or its tools have changed.
book_tools := $(wildcard common/*.cuh explorer/* teach/*.[ch] simulator/*/*.[ch])
define explored_rule
build/book/extra/$1.explored: $(call files,$1) $(book_tools)
	mkdir -p build/book/extra/explore
	$$(MAKE) DEVICE=sim $1 explore
	cp build/explore/$(call title,$1)-*.html build/book/extra/explore
	touch $$@
endef
$(foreach u,$(solutions),$(eval $(call explored_rule,$u)))

book: $(solutions:%=build/book/extra/%.explored)
	$(MAKE) flashcards
	cp build/flashcards.html build/book/extra
	book/build build/book/extra build/book/site
endif
