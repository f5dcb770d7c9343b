# The whole interface of the workbook; `make help` lists it.
#
# One goal selects the lesson (lesson-02, or solution-02), another the action (check, bench, ...), in any order:
#   make lesson-02 check
# make/: refuse.mk and words.mk validate the command line, build.mk builds, architecture.mk selects the GPUs of a kernel file,
# run.mk runs the actions, program.mk runs other CUDA programs, teach.mk has hints, quiz and progress, test.mk the tests.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
# One job per processor; -j overrides it.
ifeq (0,$(MAKELEVEL))
MAKEFLAGS += --jobs=$(shell nproc)
endif
$(V).SILENT:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Variables of the command line. An empty one is not passed to the program, which then uses its default. Only DEVICE may come
# from the environment: names like DATA may be set there for other purposes.
DEVICE     ?=
SHAPE      :=
CAUSAL     :=
DTYPE      :=
DATA       :=
KERNEL     :=
PROGRAM    :=
FLAGS      :=
ARGS       :=
PART       :=
OUT        :=
SEED       :=
INPUTS     :=
LAYOUT     :=
BESIDE     :=
SCALE      :=
GPUS       :=
LSE        :=
CHECK      :=
QUICK      :=
SIZES      :=
FRESH      :=
TIME_LIMIT :=
RESULTS    := results
ALL        :=
override RESULTS := $(or $(RESULTS),results)

numbers := $(patsubst solutions/%,%,$(wildcard solutions/[0-9][0-9]_*))
numbers := $(sort $(foreach n,$(numbers),$(firstword $(subst _, ,$n))))
lessons   := $(numbers:%=lesson-%)
solutions := $(numbers:%=solution-%)
actions   := check bench trace explore profile diff reset hint quiz repair watch peers
others    := all run plots post book stills doctor test test-all help clean progress flashcards update compile_commands.json

# ---- Selected goals -------------------------------------------------------------------------------------------

goals   := $(or $(MAKECMDGOALS),help)
selected_actions   := $(filter $(actions),$(goals))
unknown_goals := $(filter-out $(lessons) $(solutions) lessons solutions $(actions) $(others) words build/%,$(goals))
# The goal that shells pass when they complete goals with make -n -p -q.
unknown_goals := $(filter-out .%,$(unknown_goals))
selected_lessons  := $(filter $(lessons) $(solutions),$(goals)) \
           $(if $(filter lessons,$(goals)),$(lessons)) $(if $(filter solutions,$(goals)),$(solutions))
# A lesson that is named twice is selected once.
unique = $(if $1,$(firstword $1) $(call unique,$(filter-out $(firstword $1),$1)))
selected_lessons  := $(strip $(call unique,$(strip $(selected_lessons))))

# The units of each action. By default, check runs the learner's files and bench the ladder of solutions.
checked_units := $(if $(KERNEL),kernel,$(or $(selected_lessons),$(lessons)))
benched_units := $(if $(KERNEL),kernel,$(or $(selected_lessons),$(solutions)))
# If several lessons are checked, a failure does not stop the others.
ifneq (,$(and $(filter all check,$(goals)),$(word 2,$(checked_units))))
MAKEFLAGS += --keep-going
endif

comma := ,
space := $(subst ,, )
# Quotes the user's text for the shell.
shell_quote = '$(subst ','\'',$1)'

# For lesson-02: kind lesson, number 02, folder lessons/02_vectorized, title lesson-02_vectorized, and the files that a learner
# writes: those whose solution has blanks, in the order of the page, attention.cu last. The solutions define which lessons
# exist.
kind     = $(firstword $(subst -, ,$1))
number   = $(lastword $(subst -, ,$1))
solution = $(wildcard solutions/$(number)_*)
folder   = $(patsubst solutions/%,$(kind)s/%,$(solution))
title    = $(kind)-$(notdir $(solution))
solutions_with_blanks := $(sort $(shell grep -ls '^ *// TODO [0-9]' solutions/[0-9][0-9]_*/*.cu))
files    = $(addprefix $(folder)/,$(filter-out attention.cu,$(notdir $(filter $(solution)/%,$(solutions_with_blanks)))) attention.cu)

include make/words.mk
include make/refuse.mk
include make/build.mk
include make/architecture.mk
include make/run.mk
include make/program.mk
include make/teach.mk
include make/peers.mk
include make/post.mk
include make/book.mk
include make/editor.mk
include make/test.mk

# ---- Goals ---------------------------------------------------------------------------------------------------------

.PHONY: $(lessons) $(solutions) lessons solutions $(actions) $(others)

# If nothing is built, the output of the goals comes in the order of the command line.
ifeq (,$(builds))
.NOTPARALLEL:
endif

$(lessons) $(solutions):
	$(if $(selected_actions),:,scripts/lesson $@ $(call folder,$@) $(call files,$@))
lessons solutions:
	$(if $(selected_actions),:,$(foreach u,$($@),scripts/lesson --title $u $(call folder,$u) || exit;))

all: check-solutions plots
	echo "Next: make $(firstword $(lessons))"
ifneq (,$(filter all,$(goals)))
plots: | check-solutions
endif

check: $(checked_units:%=%/check)
bench: run-bench
trace: $(checked_units:%=%/trace)
explore: $(checked_units:%=%/explore)
profile: $(checked_units:%=%/profile)
diff: $(selected_lessons:%=%/diff)
reset: $(selected_lessons:%=%/reset)

plots:
	plots/draw $(if $(filter 1,$(ALL)),--all) $(call shell_quote,$(RESULTS))

# CHECK=1: draws nothing, and fails if a still differs from a new drawing.
stills:
	MAKE='$(MAKE)' explorer/stills $(if $(CHECK),--check) $(foreach u,$(lessons),'$(u:lesson-%=solution-%) $(call folder,$u)')

doctor:
	scripts/doctor

update:
	scripts/update

clean:
	rm -rf build

define help_text
make lesson-02             what the lesson is about, which file to edit
make lesson-02 check       build it, run it over its matrix of shapes and data, compare with the fp64 reference
make lesson-02 bench       time it over sizes together with the previous lesson, on a GPU; adds rows to results/
make lesson-02 trace       memory traffic by source line (requests, sectors, wavefronts), counted by the simulator
make lesson-02 explore     a page that shows, line by line, what each lane accesses: build/explore/ (lessons/explore.md)
make lesson-02 profile     the counters of trace measured on a GPU, by Nsight Compute
make lesson-02 diff        the difference between the file and its solution (solution-02: from the previous solution)
make lesson-02 reset       a fresh skeleton; the old file is kept as attention.cu.1, .2, ...
make lesson-02 hint        the next hint for the first open blank (AGAIN=1: all hints shown so far; BLANK=n: another blank)
make lesson-02 quiz        predict, then measure: questions graded by the simulator's counts (AGAIN=1: all questions again)
make lesson-02 repair      a broken kernel to repair; you work on a copy
All of these up to diff also work for solution-02. `lessons` and `solutions` select all of a kind.

make all                   check every solution, on a GPU or the simulator, and draw the charts
make check                 check every lesson (your files)
make bench                 time the ladder of solutions, interleaved in one run; after Ctrl-C the next call resumes
make peers                 optional: compare the solutions with PyTorch, FlashAttention and Triton (peers/README.md); or make
                           lesson-05 peers. PYTHON=... is a Python that has PyTorch; EAGER=1: includes the launch overhead;
                           DTYPE=bf16: in 16 bits; FA3=folder: also FlashAttention-3 of that source tree; UNITS=1: count
                           with Nsight Compute which units each kernel computes on
make plots                 draw the charts from results/ into build/plots/; ALL=1: every chart, not only the main ones
make post                  an HTML page and Markdown for a blog, build/post/: the ladder, from results/ and post/outline.md
make book                  all pages as a site, build/book/site/, with the pages of explore and the flash cards (./setup --book)
make stills                redraw the stills of the lessons' pages with the page of explore; CHECK=1: list outdated stills
make run PROGRAM=file.cu   build any CUDA program and run it on the simulator with all analyses; ARGS='...' for the program,
                           FLAGS='...' for nvcc (simulator/runtime/programs.md)
make progress              the state of each lesson and the next step
make watch                 check again at each save and print the next step, lesson after lesson; or make lesson-02 watch
make flashcards            the lessons' self-checks as cards to print, build/flashcards.html
make doctor                what is installed, and how to install the rest
make test                  the project's own tests
make test-all              the same without skipping the long ones
make update                a newer workbook; lessons that you have edited stay as they are
make compile_commands.json how each file is compiled, for clangd in an editor
make clean                 remove build/, and nothing of lessons/ or results/

DEVICE=gpu|sim             where to run; default: a GPU if one responds, else the simulator
SHAPE=B,H,N,D              one shape instead of the matrix; N may be NQ:NK; ROWS,COLUMNS for a lesson's softmax.cu
CAUSAL=1                   causal attention
GPUS=n                     over how many GPUs a lesson on several GPUs splits its sequence, of the host or simulated (1 to 4)
SCALE=x                    the softmax scale instead of 1/sqrt(head_dim), for a check
DTYPE=fp32|fp16|bf16       one element type instead of all that the lesson supports
DATA=folder                q.npy, k.npy, v.npy and, optionally, o.npy instead of generated inputs
V=1                        show every command; without it a file is named if its compiler takes longer than three seconds
KERNEL=file.cu             any kernel file instead of the lesson's
PART=softmax               one file of a lesson that has several: softmax.cu or attention.cu of lesson-03
OUT=folder                 check writes the output for the one case of SHAPE= or DATA= to this folder, as o.npy
SEED=n                     the seed of the inputs
TIME_LIMIT=s               the time limit of one step of a check (60 seconds)
BESIDE=solution-01         the kernel that explore shows side by side; none: no other. Default for a lesson: its solution
INPUTS=kind  LAYOUT=bnhd   distribution and memory layout of the inputs (or mixed, or three strides in elements, batch,head,row):
                           a check that fails prints them
QUICK=1                    a few small cases, or one shape to time
SIZES=256,1024,4096        the numbers of queries and keys that bench times, instead of 256 to 8192
LSE=1                      bench also times the lessons with the log-sum-exp output
FRESH=1                    bench starts over instead of resuming an interrupted run
RESULTS=folder             the folder that bench writes and plots and post read, instead of results/
GPU=folder                 the GPU (folder of results/) that a post is about
OUTLINE=file.md            the text of the post, instead of post/outline.md
LINKS=https://.../blob/main/  prefix of repository links in a post; default: relative links
URL=https://.../        the URL of the folder where a post is published, for its preview image

The exit status is 0 if everything passed, else 2. make's own last line names the failed goal: Error 1 is a failed check,
Error 2 is bad input.
endef
export help_text

help:
	printf '%s\n' "$$help_text"
