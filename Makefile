# The whole interface of the workbook; `make help` lists it.
#
# A goal chooses the lesson (lesson-02, or solution-02), another one the action (check, bench, ...), in any order:
#   make lesson-02 check
# What is refused is in make/refuse.mk and words.mk, how things are built in build.mk, which GPU a kernel is for in architecture.mk, what
# the actions run in run.mk, programs of anybody's in program.mk, hints and what else teaches in teach.mk, and the project's own tests in test.mk.

MAKEFLAGS += --no-builtin-rules --no-builtin-variables --no-print-directory
# As many jobs as there are processors, unless -j says otherwise.
ifeq (0,$(MAKELEVEL))
MAKEFLAGS += --jobs=$(shell nproc)
endif
$(V).SILENT:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# Variables of the command line. An empty one is not given to the program, which then decides. Only DEVICE may come from
# the environment; names like DATA may be there for other reasons.
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
others    := all run plots post stills doctor test test-all help clean progress flashcards update compile_commands.json

# ---- What was asked for -------------------------------------------------------------------------------------------

goals   := $(or $(MAKECMDGOALS),help)
asked   := $(filter $(actions),$(goals))
unknown := $(filter-out $(lessons) $(solutions) lessons solutions $(actions) $(others) words build/%,$(goals))
# What shells ask for when they complete a goal by themselves, with make -n -p -q.
unknown := $(filter-out .%,$(unknown))
chosen  := $(filter $(lessons) $(solutions),$(goals)) \
           $(if $(filter lessons,$(goals)),$(lessons)) $(if $(filter solutions,$(goals)),$(solutions))
chosen  := $(strip $(chosen))

# What each action works on. Alone, check is about the learner's files and bench about the ladder of solutions.
checked := $(if $(KERNEL),kernel,$(or $(chosen),$(lessons)))
benched := $(if $(KERNEL),kernel,$(or $(chosen),$(solutions)))
# Where several are checked, one that fails does not keep the others from being checked.
ifneq (,$(and $(filter all check,$(goals)),$(word 2,$(checked))))
MAKEFLAGS += --keep-going
endif

comma := ,
# A user's text on a shell's command line.
quoted = '$(subst ','\'',$1)'

# Of lesson-02: its kind, lesson; its number, 02; its folder, lessons/02_vectorized; its title, lesson-02_vectorized; and
# the files that a learner writes there, in the order of the page, attention.cu last: those whose solution has blanks. All
# lessons are known by their solutions.
kind     = $(firstword $(subst -, ,$1))
number   = $(lastword $(subst -, ,$1))
solution = $(wildcard solutions/$(number)_*)
folder   = $(patsubst solutions/%,$(kind)s/%,$(solution))
title    = $(kind)-$(notdir $(solution))
blanked := $(sort $(shell grep -ls '^ *// TODO [0-9]' solutions/[0-9][0-9]_*/*.cu))
files    = $(addprefix $(folder)/,$(filter-out attention.cu,$(notdir $(filter $(solution)/%,$(blanked)))) attention.cu)

include make/words.mk
include make/refuse.mk
include make/build.mk
include make/architecture.mk
include make/run.mk
include make/program.mk
include make/teach.mk
include make/peers.mk
include make/post.mk
include make/editor.mk
include make/test.mk

# ---- Goals ---------------------------------------------------------------------------------------------------------

.PHONY: $(lessons) $(solutions) lessons solutions $(actions) $(others)

# Where nothing is built, what is asked for comes in the order of the command line, and not mixed.
ifeq (,$(builds))
.NOTPARALLEL:
endif

$(lessons) $(solutions):
	$(if $(asked),:,scripts/lesson $@ $(call folder,$@) $(call files,$@))
lessons solutions:
	$(if $(asked),:,$(foreach u,$($@),scripts/lesson --title $u $(call folder,$u) || exit;))

all: check-solutions plots
	echo "Next: make $(firstword $(lessons))"
ifneq (,$(filter all,$(goals)))
plots: | check-solutions
endif

check: $(checked:%=%/check)
bench: run-bench
trace: $(checked:%=%/trace)
explore: $(checked:%=%/explore)
profile: $(checked:%=%/profile)
diff: $(chosen:%=%/diff)
reset: $(chosen:%=%/reset)

plots:
	plots/draw $(if $(filter 1,$(ALL)),--all) $(call quoted,$(RESULTS))

# CHECK=1: draws nothing, and fails where one is not what would be drawn.
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
make lesson-02 bench       time it over sizes beside the lesson before, on a GPU; adds rows to results/
make lesson-02 trace       memory traffic by source line, counted by the simulator
make lesson-02 explore     a page that shows, line by line, which lane touches what: build/explore/ (lessons/explore.md)
make lesson-02 profile     the counters of trace from a GPU, by Nsight Compute
make lesson-02 diff        what separates the file from its solution (solution-02: from the solution before it)
make lesson-02 reset       a fresh skeleton; the old file is kept as attention.cu.1, .2, ...
make lesson-02 hint        the next hint for the first open blank (AGAIN=1: those shown so far; BLANK=n: another blank)
make lesson-02 quiz        predict, then measure: questions that the simulator answers (AGAIN=1: all of them again)
make lesson-02 repair      a broken kernel to repair; you work on a copy
All of these up to diff work on solution-02 too. `lessons` and `solutions` choose all of a kind.

make all                   every solution checked, on a GPU or the simulator, and the charts drawn
make check                 every lesson checked (your files)
make bench                 the ladder of solutions, timed interleaved in one run; Ctrl-C stops it, the next one goes on
make peers                 optional: the solutions beside PyTorch's and Triton's kernels (peers/README.md); or make
                           lesson-05 peers. PYTHON=... names a Python that has PyTorch; EAGER=1: with the cost of launches;
                           DTYPE=bf16: in 16 bits; FA3=folder: with FlashAttention-3 of that source tree
make plots                 the charts, drawn into build/plots/ from results/ alone; ALL=1: every one, not only those that say most
make post                  a page and Markdown for a blog, build/post/: the ladder's story from results/ and post/outline.md
make stills                the stills of the lessons' pages, drawn by the page of explore; CHECK=1: says which are not up to date
make run PROGRAM=file.cu   any CUDA program, built and run on the simulator with all analyses; ARGS='...' for the program,
                           FLAGS='...' for nvcc (simulator/runtime/programs.md)
make progress              how far each lesson is
make watch                 checks again at each save and says what comes next, lesson after lesson; or make lesson-02 watch
make flashcards            the lessons' self-checks as cards to print, build/flashcards.html
make doctor                what is installed, and how to get the rest
make test                  the project's own tests
make test-all              the same with the long lists whole
make update                a newer workbook; the lessons that you have edited stay as they are
make compile_commands.json how each file is compiled, for clangd in an editor
make clean                 removes build/, and nothing of lessons/ or results/

DEVICE=gpu|sim             where to run; a GPU where one answers, else the simulator
SHAPE=B,H,N,D              one shape instead of the matrix; N may be NQ:NK; ROWS,COLUMNS for a lesson's softmax.cu
CAUSAL=1                   with the causal mask
SCALE=x                    the factor of the scores in the place of 1/sqrt(head_dim), for a check
DTYPE=fp32|fp16|bf16       one element type instead of all that the lesson has
DATA=folder                q.npy, k.npy, v.npy and, where there is one, o.npy, instead of made-up inputs
V=1                        shows every command; without it a compiler is named where it takes more than three seconds
KERNEL=file.cu             any kernel file instead of the lesson's
PART=softmax               one part of a lesson that has several: softmax.cu or attention.cu of lesson-03
OUT=folder                 check writes the output of the one case of SHAPE= or DATA= there, as o.npy
SEED=n                     the seed of the inputs
TIME_LIMIT=s               how long one step of a check may take (60 seconds)
BESIDE=solution-01         what explore shows beside the kernel; none: nothing. Beside a lesson stands its solution
INPUTS=kind  LAYOUT=bnhd   what the inputs look like and how they lie in memory (or mixed, or three strides in elements, batch,head,row):
                           a check that fails prints them
QUICK=1                    a few small cases, or one shape to time
SIZES=256,1024,4096        the numbers of queries and keys that bench times, instead of 256 to 8192
LSE=1                      bench times the lessons with the log-sum-exp written, too
FRESH=1                    bench starts over where it would go on with a run that was stopped
RESULTS=folder             where bench writes and plots and post read, instead of results/
GPU=folder                 of several in results/ the one that a post is about
OUTLINE=file.md            the text of the post, instead of post/outline.md
LINKS=https://.../blob/main/  what goes before a path of the repository in the links of a post; else they are relative
URL=https://.../        the address of the folder that a post is published in, for its preview image

The exit status is 0 only where all held, else 2. make's own last line names what failed, with Error 1 for a check
that failed and Error 2 for bad input.
endef
export help_text

help:
	printf '%s\n' "$$help_text"
