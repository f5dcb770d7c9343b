// The commands of build/bin/teach, with their arguments and exit statuses: 0; 1 if the examined file or run is wrong; 2
// for bad input. "LESSON FOLDER FILE..." is lesson-02, its folder and the files that a learner writes.
#ifndef COMMANDS_H
#define COMMANDS_H

typedef int command(int count, char **word);

// FILE...: lists the blanks of the files, one per line, tab-separated: FILE, number, line, open or filled, first line
// of the comment.
command teach_blanks;

// [--filled] FILE.cu: prints the skeleton of a solution, i.e. the file without the contents of its blanks; with
// --filled, the file without the markers of its blanks. Status 1, with one line per error, if markers are out of order,
// or announce a number of lines that is off by more than 2 and by more than 30 %.
command teach_skeleton;

// LESSON FOLDER FILE...: prints the next hint of FOLDER/hints for the first open blank. Environment: AGAIN=1 repeats
// the hints shown so far, BLANK=2 or BLANK=softmax.cu:2 selects the blank.
command teach_hint;

// LESSON FOLDER: asks the questions of FOLDER/questions (questions.h) that have not been answered correctly yet, and
// grades the answers by the simulator's counts or by measured results. Environment: AGAIN=1 asks all questions, MAKE
// builds the kernels to be counted.
command teach_quiz;

// FILE whole|part COMMAND...: runs the check of a lesson's file and records its outcome (checks.h). Exits with the
// status of COMMAND.
command teach_record;

// RESULTS "LESSON FOLDER FILE..."...: prints the state of each lesson and the next step. Environment: PLAIN=1 prints
// only the states.
command teach_progress;

// --name NAME --source FILE.cu --kernel FILE.so [OPTION...]: runs a kernel once on the simulator and prints its memory
// traffic by source line, its registers and occupancy, and the lesson's predictions compared with the counts. The
// options are those of build/bin/attention check. Writes CSV and JSON to build/trace/.
command teach_trace;

// --name NAME --source FILE.cu --kernel FILE.so: compares the counts of a correct kernel with those of the lesson's
// solution (lessons/NN_x/counts.csv), prints one line if they are much larger, and prints the estimate of the time.
command teach_compare;

// The same arguments: prints the rows of counts.csv, for scripts/record-counts.
command teach_count;

// KERNEL --name NAME --source FILE.cu --kernel FILE.so [OPTION...]: prints the rows of lessons/NN_x/work.csv for this
// run, one per launch, KERNEL first: "solution", or the name of an ablation. The options are those of
// build/bin/attention check.
command teach_work;

// RESULTS/GPU [outliers]: prints, as Markdown tables, the estimates for all rows of work.csv compared with measured
// times: by lesson; the busiest unit compared with Nsight Compute; with outliers, each case that is off by more than 25
// %. recorded FILE/work.csv: prints the estimate for its first case in microseconds.
command teach_estimates;

// --name NAME --source FILE.cu --kernel FILE.so [--beside NAME FILE.cu FILE.so] [OPTION...]: runs one or two kernels on
// the simulator and writes a page to build/explore/ that shows, line by line, their accesses and synchronization. The
// options are those of build/bin/attention check. A kernel that fails its check also gets a page, and status 1.
command teach_explore;

// FILE.csv SHAPE...: prints each prediction of the file at each shape, tab-separated: shape, name, unit, value.
command teach_predictions;

// FILE.csv: prints the shared-memory wavefronts of a run and the ideal number of wavefronts, from the simulator's
// counts. Status 1 if bank conflicts increased the number.
command teach_conflicts;

// FILE.csv NAME: prints the count NAME over one launch of each kernel, named as in predictions.csv
// (shared_load_wavefronts), or the maximum of blocks or shared_bytes over all kernels.
command teach_counter;

// OUTPUT.html PAGE.md...: prints the self-checks of the lessons' pages as cards, one per page: the question above a
// fold line, the answer below it.
command teach_flashcards;

// code|ptx|facts|why TOOLKIT FILE.cu...: the GPUs that a kernel file supports. TOOLKIT: the output of scripts/find-cuda
// --architectures.
//     code   nvcc's options for one file: PTX and machine code for the architecture of the file or of the local GPU,
//            whichever is newer; also PTX for the simulator if it could not run that. If the architecture line is
//            wrong, one line on stderr and status 2
//     ptx    the same for the simulator alone: PTX, no machine code
//     facts  for each file one word FILE|LINE|DEVICES. LINE: sm_80, for example, or any. DEVICES: gpu,sim if the local
//     GPU
//            and the simulator can run it; gpu; sim; none; wrong if the architecture line is wrong
//     why    the reason for a file whose DEVICES is not gpu,sim
command teach_architecture;

// [MIN_FFMA [PORTS]]: reads the output of cuobjdump -sass on stdin and prints, tab-separated: function, FFMA
// instructions, register-bank conflicts per FFMA, over the innermost loops of at least MIN_FFMA (256) FFMA
// instructions, for each function that has such a loop. PORTS: registers that a bank delivers per clock (1).
command teach_bank_conflicts;

#endif
