# The post: a page and Markdown that tell the story of the ladder (post/README.md).

GPU     :=
OUTLINE := post/outline.md

post:
	post/write $(call option,--gpu,$(GPU)) $(call option,--outline,$(OUTLINE)) $(call quoted,$(RESULTS)) \
	    $(foreach u,$(lessons),'$(call described_lesson,$u)')
