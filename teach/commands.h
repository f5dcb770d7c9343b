// The commands of build/bin/teach, each with what it takes behind its name, and their exit statuses: 0, 1 where what
// was looked at is wrong, 2 for bad input. "LESSON FOLDER FILE..." is lesson-02, its folder and the files that a
// learner writes.
#ifndef COMMANDS_H
#define COMMANDS_H

typedef int command(int count, char **word);

// FILE...: the blanks of these files, one a line, tab-separated: FILE, number, line, open or filled, its comment's
// first line.
command teach_blanks;

// [--filled] FILE.cu: prints the skeleton of a solution, which is the file without what stands in its blanks; or,
// filled, the file without the comments around them. Status 1 with a line for each mistake where markers are out of
// order, or say a number of lines that is more than 2 and more than 30 % off.
command teach_skeleton;

// LESSON FOLDER FILE...: the next hint of FOLDER/hints for the first open blank. Environment: AGAIN=1 shows those of
// the lesson that were shown, BLANK=2 or BLANK=softmax.cu:2 chooses the blank.
command teach_hint;

// LESSON FOLDER: asks the questions of FOLDER/questions (questions.h) that were not answered right yet, and grades them
// by what the simulator counts now, or by what was measured. Environment: AGAIN=1 asks all of them, MAKE builds what is
// to be counted.
command teach_quiz;

// FILE whole|part COMMAND...: runs the check of a lesson's file and remembers how it ended (checks.h). Ends as COMMAND
// does.
command teach_record;

// RESULTS "LESSON FOLDER FILE..."...: how far each lesson is and what comes next. Environment: PLAIN=1 prints the
// states alone.
command teach_progress;

// --name NAME --source FILE.cu --kernel FILE.so [OPTION...]: runs a kernel once on the simulator and prints its memory
// traffic by source line, beside what ptxas says of registers and what the lesson predicts. The options are those of
// build/bin/attention check. CSV and JSON go to build/trace/.
command teach_trace;

// --name NAME --source FILE.cu --kernel FILE.so: counts a kernel that is right as trace does, and says in a line what
// it does more often than the solution of its lesson, by lessons/NN_x/counts.csv; nothing where it does not.
command teach_price;

// The same words: prints the rows of that file, which scripts/record-counts writes.
command teach_counted;

// KERNEL --name NAME --source FILE.cu --kernel FILE.so [OPTION...]: prints the rows of lessons/NN_x/work.csv for this
// run, a launch each, KERNEL first: "solution", or a version's name. The options are those of build/bin/attention
// check.
command teach_work;

// RESULTS/GPU [far]: the estimate of all that work.csv of the lessons hold beside what was measured, as tables in
// Markdown: by lesson; what is busiest beside what Nsight Compute counted; with far, each that is over 25 % off.
// recorded FILE/work.csv: the estimate of its first case alone, in microseconds.
command teach_estimates;

// --name NAME --source FILE.cu --kernel FILE.so [--beside NAME FILE.cu FILE.so] [OPTION...]: runs a kernel once on the
// simulator, and the one beside it, and writes the page that shows what they did, line by line, to build/explore/. The
// options are those of build/bin/attention check. A kernel that fails its check has its page, too, and status 1.
command teach_explore;

// FILE.csv SHAPE...: each of the predictions of a file at each shape, tab-separated: shape, name, unit, value.
command teach_predictions;

// FILE.csv: the wavefronts of shared memory that a run took and those that it needed, of what the simulator counted.
// Status 1 where bank conflicts made more.
command teach_conflicts;

// FILE.csv NAME: what a run counted of NAME, an access as in a lesson's predictions.csv, shared_load_wavefronts, over
// one launch of each kernel; or blocks or shared_bytes, the most of any kernel.
command teach_counter;

// OUTPUT.html PAGE.md...: lays the self-checks of the lessons' pages out for print, one card a page: the question above
// a line to fold along, the answer below it.
command teach_flashcards;

// code|ptx|facts|why FOUND FILE.cu...: which GPUs a kernel file is for. FOUND: what scripts/find-cuda --architectures
// says.
//     code   nvcc's options for one file: the architecture of its line or of the GPU here, whichever is larger, as PTX
//     and as
//            machine code; with PTX for the simulator, where it would not run that. Where the line is wrong, one line
//            on stderr and status 2
//     ptx    the same for the simulator alone: PTX and no machine code
//     facts  for each file a word  FILE|LINE|WHERE . LINE: sm_80, say, or any. WHERE: gpu,sim where the GPU here runs
//     it and the
//            simulator does, gpu or sim where only one does, else none; wrong where the line is
//     why    what is to be said of a file that is wrong, or that not both of them run
command teach_architecture;

// [LEAST [PORTS]]: of what cuobjdump -sass says on stdin, tab-separated: function, multiply-adds, conflicts in register
// banks for each of them, over the innermost loops of at least LEAST (256) multiply-adds, for each function that has
// such a loop. PORTS: registers that a bank gives at a time (1).
command teach_bank_conflicts;

#endif
