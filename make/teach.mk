# What teaches beside the check: hints, questions, a kernel to repair, progress, watch and cards. What was shown, answered
# and checked is remembered in .progress/, which neither clean nor reset touches.

AGAIN :=
BLANK :=

lonely := $(firstword $(filter hint quiz repair,$(asked)))
ifneq (,$(lonely))
  $(if $(filter solution-%,$(chosen)),$(error $(lonely) is for lessons; solution-NN has none))
  $(if $(chosen),,$(error $(lonely) needs a lesson: make $(firstword $(lessons)) $(lonely)))
endif
single := $(firstword $(filter quiz watch,$(asked)))
$(if $(single),$(if $(word 2,$(chosen)),$(error $(single) takes one lesson at a time)))
$(if $(filter watch,$(asked)),$(if $(filter solution-%,$(chosen)),$(error watch is for lessons; solution-NN has none)))

# build/bin/teach needs gcc alone, no CUDA, so that a hint waits for nothing else.
plain_flags := -std=c17 -O0 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icommon -Iteach
build/objects/plain/%.o: %.c make/teach.mk
	mkdir -p $(@D); $(CC) $(plain_flags) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv $@.$$$$ $@

teach_sources := $(wildcard teach/*.c) common/message.c common/shape.c common/host/blanks.c
build/bin/teach: $(teach_sources:%.c=build/objects/plain/%.o)
	$(call link,,-lm)

# What plots/load and its callers load into sqlite3.
build/sql_text.so: plain_flags += -fPIC
build/sql_text.so: build/objects/plain/plots/sql_text.o
	$(call link,-shared,)

# A lesson, its folder and its files, as the commands below take it.
described_lesson = $1 $(call folder,$1) $(call files,$1)

hint: $(chosen:%=%/hint)
quiz: $(chosen:%=%/quiz)
repair: $(chosen:%=%/repair)

define teach_rules
.PHONY: $1/hint $1/quiz $1/repair
$1/hint: build/bin/teach
	AGAIN=$$(call quoted,$$(AGAIN)) BLANK=$$(call quoted,$$(BLANK)) build/bin/teach hint $(call described_lesson,$1)
$1/quiz: $(harness) build/bin/teach
	AGAIN=$$(call quoted,$$(AGAIN)) MAKE='$$(MAKE)' build/bin/teach quiz $1 $(call folder,$1)
$1/repair: $(harness) build/bin/teach
	MAKE='$$(MAKE)' scripts/repair $1 $(call folder,$1) $$(options)
endef
$(foreach u,$(filter lesson-%,$(chosen)),$(eval $(call teach_rules,$u)))

progress: build/bin/teach
	build/bin/teach progress $(call quoted,$(RESULTS)) $(foreach u,$(lessons),'$(call described_lesson,$u)')

watch: build/bin/teach
	exec env MAKE='$(MAKE)' scripts/watch $(foreach u,$(or $(chosen),$(lessons)),'$(call described_lesson,$u)')

flashcards: build/bin/teach
	build/bin/teach flashcards build/flashcards.html $(foreach u,$(lessons),$(call folder,$u)/README.md)
