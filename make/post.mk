# The post: an HTML page and Markdown about the ladder (post/README.md).

GPU     :=
OUTLINE := post/outline.md
# The prefix of links into the repository, https://.../blob/main/; relative links if empty.
LINKS   :=
# The URL of the folder where the post is published, https://.../, for link previews.
URL     :=

build/bin/post: $(patsubst %.c,build/objects/plain/%.o,$(wildcard post/*.c)) build/objects/plain/teach/text.o build/objects/plain/teach/files.o build/objects/plain/common/message.o build/objects/plain/common/host/blanks.o
	$(call link,,-lcmark-gfm -lcmark-gfm-extensions -lm)

post: build/bin/post
	post/write $(call option,--gpu,$(GPU)) $(call option,--outline,$(OUTLINE)) $(call option,--links,$(LINKS)) $(call option,--url,$(URL)) \
	    $(call shell_quote,$(RESULTS)) $(foreach u,$(lessons),'$(call lesson_arguments,$u)')
