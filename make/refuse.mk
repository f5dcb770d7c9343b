# Bad input gets one line that says what is wrong and what to do, before anything is built; make's exit status is then 2.

stranger := $(firstword $(filter lesson-% solution-%,$(unknown)) $(unknown))
meant_by := $(if $(stranger),$(shell scripts/nearest $(call quoted,$(stranger)) $(lessons) $(solutions) lessons solutions $(actions) $(others)))
$(if $(meant_by),$(error there is no $(stranger); did you mean $(meant_by)?))
$(if $(filter lesson-% solution-%,$(stranger)),\
$(error there is no $(stranger); there are $(lessons), and solution-NN for the solution of each))
$(if $(stranger),$(error there is no goal '$(stranger)'; make help lists them))

company := $(filter-out clean,$(goals))
$(if $(filter clean,$(goals)),$(if $(company),$(error clean goes alone: first make clean, then make $(company))))

needy := $(firstword $(filter trace explore profile diff reset,$(asked)))
$(if $(needy),$(if $(chosen)$(KERNEL),,$(error $(needy) needs a lesson: make $(firstword $(lessons)) $(needy))))
$(if $(filter reset,$(asked)),$(if $(filter solution-%,$(chosen)),\
$(error reset writes the skeleton of a lesson; a solution comes back with: git checkout solutions)))

$(if $(filter reset,$(asked)),$(if $(filter-out reset,$(asked)),\
$(error reset goes alone: first make $(chosen) reset, then make $(chosen) $(filter-out reset,$(asked)))))

$(if $(filter-out gpu sim,$(DEVICE)),$(error DEVICE=$(DEVICE) is not known; it is gpu or sim))
$(if $(filter-out fp32 fp16 bf16,$(DTYPE))$(word 2,$(DTYPE)),$(error DTYPE=$(DTYPE) is not known; it is fp32, fp16 or bf16))
# Of switches that other files define, only the command line's are looked at.
given = $(if $(findstring command,$(origin $1)),$($1))
$(foreach s,CAUSAL QUICK FRESH LSE EAGER AGAIN ALL,$(if $(filter-out 0 1,$(call given,$s)),\
$(error $s=$($s) is not known; it is 0 or 1)))

$(if $(OUT),$(if $(filter check,$(asked)),,$(error OUT=$(OUT) goes with check: make lesson-02 check SHAPE=1,1,64,64 OUT=folder)))
$(if $(OUT),$(if $(word 2,$(checked)),$(error OUT=$(OUT) takes the output of one lesson; choose one)))

# nvcc writes the name of each source into the PTX, where " and \ mean something else.
$(if $(findstring ",$(CURDIR))$(findstring \,$(CURDIR)),\
$(error the path of this folder has a " or a \ in it, which nvcc cannot handle: give it another name))

ifneq (,$(KERNEL))
  odd := $(if $(word 2,$(KERNEL)),,$(shell printf %s $(call quoted,$(value KERNEL)) | LC_ALL=C tr -d 'a-zA-Z0-9.,_/+@~\200-\377-'))
  $(if $(odd),$(error KERNEL=$(value KERNEL) has a character in its name that make or a shell takes for something else; rename the file))
  $(if $(word 2,$(KERNEL)),$(error KERNEL=$(KERNEL) has a space in its name, which make cannot handle; rename the file))
  $(if $(filter %.cu,$(KERNEL)),,$(error KERNEL=$(KERNEL) is no CUDA source; give a file whose name ends in .cu))
  $(if $(wildcard $(KERNEL)),,$(error KERNEL=$(KERNEL) does not exist; give the path of a .cu file))
  $(if $(wildcard $(KERNEL)/.),$(error KERNEL=$(KERNEL) is a folder; give the path of a .cu file))
  $(if $(word 2,$(chosen)),$(error KERNEL takes the place of one lesson's file; choose one lesson, or none))
  $(if $(filter diff reset,$(asked)),$(error KERNEL does not go with diff or reset))
endif

ifneq (,$(BESIDE))
  $(if $(word 2,$(BESIDE))$(filter-out $(lessons) $(solutions) none,$(BESIDE)),\
  $(error BESIDE=$(BESIDE) is not known; it is one of $(lessons), solution-NN for the solution of each, or none))
  $(if $(filter explore,$(asked)),,$(error BESIDE is for explore: make $(or $(firstword $(chosen)),lesson-02) explore BESIDE=$(BESIDE)))
endif

ifneq (,$(PART))
  parts    = $(basename $(notdir $(call files,$1)))
  partless := $(firstword $(foreach u,$(chosen),$(if $(filter-out $(call parts,$u),$(PART))$(word 2,$(PART)),$u)))
  $(if $(and $(chosen),$(filter check bench trace explore profile,$(asked))),,\
  $(error PART=$(PART) is a part of a lesson: make lesson-03 check PART=softmax))
  $(if $(KERNEL),$(error PART does not go with KERNEL, which is one file))
  $(if $(partless),$(error PART=$(PART): $(partless) has no such part; it has $(call parts,$(partless))))
endif

# A lesson's file that is not there.
used    := $(if $(filter check,$(asked)),$(checked),$(if $(filter bench trace explore profile peers diff,$(asked)),$(chosen)))
missing := $(strip $(foreach u,$(filter-out kernel,$(used)),$(foreach f,$(call files,$u),$(if $(wildcard $f),,$u $f))))
cure     = $(if $(filter lesson-%,$(firstword $(missing))),make $(firstword $(missing)) reset,git checkout $(word 2,$(missing)))
$(if $(missing),$(error $(word 2,$(missing)) is missing; it comes back with: $(cure)))

# A place for what is built, and for what is temporary.
taught  := $(if $(wildcard build/bin/teach),,$(filter hint progress watch reset,$(goals)))
writers := $(strip $(taught) $(filter all check bench trace explore profile peers quiz repair run watch test test-all plots post flashcards clean build/%,$(goals)))
$(if $(writers),$(if $(shell if test -e build; then test -d build -a -w build; else test -w .; fi || echo no),\
$(error build/ cannot be written: work in a clone of your own, or have the user whose it is remove it)))
ifneq (,$(TMPDIR))
$(if $(filter-out help,$(goals)),$(if $(shell test -d $(call quoted,$(TMPDIR)) -a -w $(call quoted,$(TMPDIR)) || echo no),\
$(error TMPDIR=$(TMPDIR) is no folder that can be written: unset it, or name another)))
endif

$(if $(filter profile,$(asked)),$(if $(shell command -v ncu),,\
$(error profile needs a GPU and ncu, which is not installed: it comes with the CUDA Toolkit, as Nsight Compute; without them \
make $(or $(firstword $(chosen)),$(firstword $(lessons))) trace counts on the simulator)))
