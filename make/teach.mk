# Hints, quiz, repair, progress, watch and flash cards. Shown hints, answers and outcomes of checks are stored in .progress/,
# which neither clean nor reset touches.

AGAIN :=
BLANK :=

lesson_action := $(firstword $(filter hint quiz repair,$(selected_actions)))
ifneq (,$(lesson_action))
  $(if $(filter solution-%,$(selected_lessons)),$(error $(lesson_action) is only for lessons, not for solution-NN [lessons-only]))
  $(if $(selected_lessons),,$(error $(lesson_action) needs a lesson: make $(firstword $(lessons)) $(lesson_action) [needs-lesson]))
endif
single_lesson_action := $(firstword $(filter quiz watch,$(selected_actions)))
$(if $(single_lesson_action),$(if $(word 2,$(selected_lessons)),$(error $(single_lesson_action) takes one lesson at a time [one-lesson])))
$(if $(filter watch,$(selected_actions)),$(if $(filter solution-%,$(selected_lessons)),$(error watch is only for lessons, not for solution-NN [lessons-only])))

# build/bin/teach needs only gcc, so that a hint does not wait for the CUDA compiler.
teach_flags := -std=c17 -O0 -g -Wall -Wextra -Werror -D_GNU_SOURCE -Icommon -Iteach
build/objects/plain/%.o: %.c make/teach.mk
	mkdir -p $(@D); $(CC) $(teach_flags) -MMD -MP -MT $@ -MF $(@:.o=.d) -c $< -o $@.$$$$ && mv $@.$$$$ $@

teach_sources := $(wildcard teach/*.c) common/message.c common/shape.c common/host/blanks.c
build/bin/teach: $(teach_sources:%.c=build/objects/plain/%.o)
	$(call link,,-lm)

# What only reads runs in a read-only checkout, too; the program is compiled in a temporary folder there unless it is built.
reading_teach = build/bin/teach
ifneq (,$(and $(unwritable_build),$(if $(wildcard build/bin/teach),,missing)))
reading_teach = folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
                $(CC) $(teach_flags) $(teach_sources) -lm -o "$$folder/teach" && "$$folder/teach"
endif
built_reading_teach = $(filter build/bin/teach,$(reading_teach))

# The extension that plots/load and its callers load into sqlite3.
build/sql_text.so: teach_flags += -fPIC
build/sql_text.so: build/objects/plain/plots/sql_text.o
	$(call link,-shared,)

# A lesson, its folder and its files: the arguments of the commands below.
lesson_arguments = $1 $(call folder,$1) $(call files,$1)

hint: $(selected_lessons:%=%/hint)
quiz: $(selected_lessons:%=%/quiz)
repair: $(selected_lessons:%=%/repair)

define teach_rules
.PHONY: $1/hint $1/quiz $1/repair
$1/hint: $(built_reading_teach)
	export AGAIN=$$(call shell_quote,$$(AGAIN)) BLANK=$$(call shell_quote,$$(BLANK)); $$(reading_teach) hint $(call lesson_arguments,$1)
$1/quiz: $(harness) build/bin/teach
	AGAIN=$$(call shell_quote,$$(AGAIN)) MAKE='$$(MAKE)' build/bin/teach quiz $1 $(call folder,$1)
$1/repair: $(harness) build/bin/teach
	MAKE='$$(MAKE)' scripts/repair $1 $(call folder,$1) $$(options)
endef
$(foreach u,$(filter lesson-%,$(selected_lessons)),$(eval $(call teach_rules,$u)))

progress: $(built_reading_teach)
	$(reading_teach) progress $(call shell_quote,$(RESULTS)) $(foreach u,$(lessons),'$(call lesson_arguments,$u)')

watch: build/bin/teach
	exec env MAKE='$(MAKE)' scripts/watch $(foreach u,$(or $(selected_lessons),$(lessons)),'$(call lesson_arguments,$u)')

flashcards: build/bin/teach
	build/bin/teach flashcards build/flashcards.html $(foreach u,$(lessons),$(call folder,$u)/README.md)
