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

# A lesson, its folder and its files, as the scripts below take it.
described_lesson = $1 $(call folder,$1) $(call files,$1)

hint: $(chosen:%=%/hint)
quiz: $(chosen:%=%/quiz)
repair: $(chosen:%=%/repair)

define teach_rules
.PHONY: $1/hint $1/quiz $1/repair
$1/hint:
	AGAIN=$$(call quoted,$$(AGAIN)) BLANK=$$(call quoted,$$(BLANK)) scripts/hint $(call described_lesson,$1)
$1/quiz: $(harness)
	AGAIN=$$(call quoted,$$(AGAIN)) MAKE='$$(MAKE)' scripts/quiz $1 $(call folder,$1)
$1/repair: $(harness)
	MAKE='$$(MAKE)' scripts/repair $1 $(call folder,$1) $$(options)
endef
$(foreach u,$(filter lesson-%,$(chosen)),$(eval $(call teach_rules,$u)))

progress:
	scripts/progress $(call quoted,$(RESULTS)) $(foreach u,$(lessons),'$(call described_lesson,$u)')

watch:
	exec env MAKE='$(MAKE)' scripts/watch $(foreach u,$(or $(chosen),$(lessons)),'$(call described_lesson,$u)')

flashcards:
	scripts/flashcards build/flashcards.html $(foreach u,$(lessons),$(call folder,$u)/README.md)
