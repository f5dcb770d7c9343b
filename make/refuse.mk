# Bad input is rejected before anything is built, with one line that says what is wrong and what to do, and ends with a
# stable code in brackets. The exit status of make is then 2.

unknown_goal := $(firstword $(filter lesson-% solution-%,$(unknown_goals)) $(unknown_goals))
goal_suggestion := $(if $(unknown_goal),$(shell scripts/nearest $(call shell_quote,$(unknown_goal)) $(lessons) $(solutions) lessons solutions $(actions) $(others)))
$(if $(goal_suggestion),$(error there is no $(unknown_goal); did you mean $(goal_suggestion)? [unknown-goal]))
$(if $(filter lesson-% solution-%,$(unknown_goal)),\
$(error there is no $(unknown_goal); the lessons are $(lessons), and solution-NN is the solution of each [unknown-goal]))
$(if $(unknown_goal),$(error there is no goal '$(unknown_goal)'; make help lists all goals [unknown-goal]))

other_goals := $(filter-out clean,$(goals))
$(if $(filter clean,$(goals)),$(if $(other_goals),$(error clean cannot be combined with other goals: first make clean, then make $(other_goals) [exclusive-goal])))

goal_without_lesson := $(firstword $(filter trace explore profile diff reset,$(selected_actions)))
$(if $(goal_without_lesson),$(if $(selected_lessons)$(KERNEL),,$(error $(goal_without_lesson) needs a lesson: make $(firstword $(lessons)) $(goal_without_lesson) [needs-lesson])))
$(if $(filter reset,$(selected_actions)),$(if $(filter solution-%,$(selected_lessons)),\
$(error reset writes the skeleton of a lesson; to restore a solution: git checkout solutions [lessons-only])))

$(if $(filter reset,$(selected_actions)),$(if $(filter-out reset,$(selected_actions)),\
$(error reset cannot be combined with other actions: first make $(selected_lessons) reset, then make $(selected_lessons) $(filter-out reset,$(selected_actions)) [exclusive-goal])))

# The launcher refuses the values of the options that it reads (make/run.mk); make refuses those that it translates itself.
# Only values from the command line are validated: other makefiles define defaults.
from_command_line = $(if $(findstring command,$(origin $1)),$($1))
$(foreach s,CAUSAL QUICK FRESH LSE EAGER UNITS AGAIN ALL,$(if $(filter-out 0 1,$(call from_command_line,$s)),\
$(error $s=$($s) is unknown; use 0 or 1 [unknown-value])))

# VARIABLE/GOAL,GOAL: the goals that take a variable; to others it would say nothing. 0 is as good as none.
running    := all,check,bench,trace,explore,profile,peers,repair,watch
taken_by   := $(foreach v,SHAPE CAUSAL DTYPE DATA SEED INPUTS LAYOUT SCALE GPUS TIME_LIMIT QUICK,$v/$(running)) OUT/check BESIDE/explore \
              SIZES/bench FRESH/bench LSE/bench EAGER/peers UNITS/peers FA3/peers CUTLASS/peers AGAIN/hint,quiz BLANK/hint ALL/plots,all \
              CHECK/stills GPU/post OUTLINE/post LINKS/post URL/post
takers      = $(subst $(comma), ,$(word 2,$(subst /, ,$(filter $1/%,$(taken_by)))))
$(if $(filter build/%,$(goals)),,$(foreach v,$(foreach t,$(taken_by),$(firstword $(subst /, ,$t))),\
$(if $(filter-out 0,$(call from_command_line,$v)),$(if $(filter $(call takers,$v),$(goals)),,\
$(error $v is only for $(subst $(space),$(comma) ,$(call takers,$v)) [wrong-action])))))

$(if $(OUT),$(if $(word 2,$(checked_units)),$(error OUT=$(OUT) holds the output of one lesson; select exactly one [one-lesson])))

# nvcc writes source paths into the PTX without escaping " and \.
$(if $(findstring ",$(CURDIR))$(findstring \,$(CURDIR)),\
$(error the path of this folder contains " or \, which nvcc cannot handle; rename the folder [bad-path]))

ifneq (,$(KERNEL))
  forbidden_characters := $(if $(word 2,$(KERNEL)),,$(shell printf %s $(call shell_quote,$(value KERNEL)) | LC_ALL=C tr -d 'a-zA-Z0-9.,_/+@~\200-\377-'))
  $(if $(forbidden_characters),$(error KERNEL=$(value KERNEL) contains a character that is special to make or the shell; rename the file [bad-path]))
  $(if $(word 2,$(KERNEL)),$(error KERNEL=$(KERNEL) contains a space, which make cannot handle; rename the file [bad-path]))
  $(if $(filter %.cu,$(KERNEL)),,$(error KERNEL=$(KERNEL) is not a CUDA source; its name must end in .cu [not-a-source]))
  $(if $(wildcard $(KERNEL)),,$(error KERNEL=$(KERNEL) does not exist; give the path of a .cu file [no-file]))
  $(if $(wildcard $(KERNEL)/.),$(error KERNEL=$(KERNEL) is a folder; give the path of a .cu file [not-a-source]))
  $(if $(word 2,$(selected_lessons)),$(error KERNEL replaces the file of one lesson; select one lesson, or none [one-lesson]))
  $(if $(filter diff reset,$(selected_actions)),$(error KERNEL cannot be combined with diff or reset [wrong-action]))
endif

ifneq (,$(BESIDE))
  $(if $(word 2,$(BESIDE))$(filter-out $(lessons) $(solutions) none,$(BESIDE)),\
  $(error BESIDE=$(BESIDE) is unknown; use one of $(lessons), solution-NN for the solution of each, or none [unknown-value]))
endif

ifneq (,$(PART))
  parts_of    = $(basename $(notdir $(call files,$1)))
  unit_without_part := $(firstword $(foreach u,$(selected_lessons),$(if $(filter-out $(call parts_of,$u),$(PART))$(word 2,$(PART)),$u)))
  $(if $(and $(selected_lessons),$(filter check bench trace explore profile,$(selected_actions))),,\
  $(error PART=$(PART) needs a lesson and an action: make lesson-03 check PART=softmax [needs-lesson]))
  $(if $(KERNEL),$(error PART cannot be combined with KERNEL, which is a single file [conflict]))
  $(if $(unit_without_part),$(error PART=$(PART): $(unit_without_part) has no such part; its parts: $(call parts_of,$(unit_without_part)) [unknown-value]))
endif

# Missing files of a lesson.
units_read    := $(if $(filter check,$(selected_actions)),$(checked_units),$(if $(filter bench trace explore profile peers diff,$(selected_actions)),$(selected_lessons)))
missing_files := $(strip $(foreach u,$(filter-out kernel,$(units_read)),$(foreach f,$(call files,$u),$(if $(wildcard $f),,$u $f))))
restore_command     = $(if $(filter lesson-%,$(firstword $(missing_files))),make $(firstword $(missing_files)) reset,git checkout $(word 2,$(missing_files)))
$(if $(missing_files),$(error $(word 2,$(missing_files)) is missing; restore it with: $(restore_command) [missing-file]))

# build/ and TMPDIR must be writable. hint and progress only read, and need a program that is built elsewhere then (make/teach.mk).
teach_goals  := $(if $(wildcard build/bin/teach),,$(filter watch reset,$(goals)))
writing_goals := $(strip $(teach_goals) $(filter all check bench trace explore profile peers quiz repair run watch test test-all plots post flashcards clean build/%,$(goals)))
unwritable_build := $(if $(writing_goals)$(filter hint progress,$(goals)),$(shell if test -e build; then test -d build -a -w build; else test -w .; fi || echo yes))
$(if $(and $(writing_goals),$(unwritable_build)),\
$(error build/ cannot be written: work in your own clone, or ask the owner of build/ to remove it [cannot-write]))
ifneq (,$(TMPDIR))
$(if $(filter-out help,$(goals)),$(if $(shell test -d $(call shell_quote,$(TMPDIR)) -a -w $(call shell_quote,$(TMPDIR)) || echo no),\
$(error TMPDIR=$(TMPDIR) is not a writable folder; unset it, or set it to another one [cannot-write])))
endif

$(if $(filter profile,$(selected_actions)),$(if $(shell command -v ncu),,\
$(error profile needs a GPU and Nsight Compute, and ncu is not installed; it is part of the CUDA Toolkit. On the simulator: \
make $(or $(firstword $(selected_lessons)),$(firstword $(lessons))) trace [no-ncu])))
