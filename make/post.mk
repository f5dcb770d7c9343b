# The post: a page and Markdown that tell the story of the ladder (post/README.md).

GPU     :=
OUTLINE := post/outline.md
# What goes before a path in links to the repository, https://.../blob/main/; without it links are relative.
LINKS   :=
# The address of the folder that it is published in, https://.../, for what shows a preview.
URL     :=

build/bin/post: $(patsubst %.c,build/objects/plain/%.o,$(wildcard post/*.c)) build/objects/plain/teach/text.o build/objects/plain/teach/files.o build/objects/plain/common/message.o build/objects/plain/common/host/blanks.o
	$(call link,,-lcmark-gfm -lcmark-gfm-extensions -lm)

post: build/bin/post
	post/write $(call option,--gpu,$(GPU)) $(call option,--outline,$(OUTLINE)) $(call option,--links,$(LINKS)) $(call option,--url,$(URL)) \
	    $(call quoted,$(RESULTS)) $(foreach u,$(lessons),'$(call described_lesson,$u)')
