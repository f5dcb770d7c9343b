// What the parts of the parser share. Outside simulator/ptx only program.h is used.
//
//   parser.c              ptx_parse; the current token; errors
//   parser_module.c       module level: directives, functions' headers
//   parser_variable.c     variables and their initial values
//   parser_function.c     a function's body: scopes, declarations, labels
//   parser_instruction.c  one instruction: opcode, suffixes, operands by its form
//   forms.h, forms.def, suffixes.def  which suffixes and operands an opcode takes
//   parser_operand.c      one operand
//   operand_check.c       whether the operands fit the instruction's types
//   parser_tensor_map.c   the operands of what changes tensor maps
//   parser_call.c         call, brx.idx and the lists and prototypes that they name
//   parser_location.c     .file, .loc and inlined_at
//   expression.c          constant expressions
#ifndef SIMULATOR_PTX_PARSER_H
#define SIMULATOR_PTX_PARSER_H

#include "lexer.h"
#include "names.h"
#include "program.h"

// What a function takes and returns, laid out in call-param space as struct ptx_frame says.
struct signature {
    int parameters, results;
    struct ptx_parameter *parameter; // parameters, then results
    size_t bytes;
};

struct branch_targets {
    int count;
    struct ptx_operand *target;
};

// A .local variable, or a .param variable in a function's body.
struct function_variable {
    const char *name;
    size_t size, align;
    int32_t offset; // .param: from the stack base of the function called, -1 while no call has used it;
                    // incoming: from the function's own
    bool incoming;  // a parameter or result of the function itself
};

// An instruction that the front end cannot express. It matters only to kernels that can reach it.
struct unsupported {
    const char *what, *text;
    int line;
    int32_t location;
};

// A function as the text has it. Its instructions are those of program.h with three things still open: registers'
// slots are indices of register_type, addresses have offsets within their variable, which `variable` names in the
// table that belongs to `space`, and targets count from the function's own first instruction, functions in
// ptx_module.function.
struct ptx_function {
    const char *name;
    bool entry, defined;
    int index;
    enum ptx_builtin builtin;
    struct signature signature;
    int registers, register_capacity;
    enum ptx_type *register_type;
    int locals, local_capacity;
    struct function_variable *local;
    int call_variables, call_variable_capacity;
    struct function_variable *call_variable;
    int targets, target_capacity;
    struct branch_targets *target;
    int prototypes, prototype_capacity;
    struct signature *prototype;
    int instructions, instruction_capacity;
    struct ptx_instruction *instruction;
    int max_threads[3], required_threads[3], min_blocks, max_registers;
    struct ptx_cluster cluster;
    bool address_taken;
    struct unsupported *unsupported; // the first one
};

// Uses of a label that stand before it, or in a deeper scope.
struct label_use {
    struct label_use *next;
    const char *name;
    size_t length;
    int line;
    struct ptx_operand *operand; // gets the target
    int instruction;             // or this instruction's src[0], where operand is NULL
};

struct parser {
    struct arena *arena;
    struct lexer lexer;
    struct token token; // the one to look at
    struct names names;
    struct names opcodes, suffixes; // the words that instructions are made of: index in the tables of forms.h
    struct ptx_module *module;
    int variable_capacity, function_capacity, location_capacity, file_capacity;
    int file_base;    // of this text's file numbers
    bool local, weak; // of what is being declared in the module: no other text sees it; it may be there already
    struct location_table *locations;

    struct ptx_function *function; // whose body this is
    int32_t location;              // of the next instruction
    struct label_use *label_uses[NAMES_MAX_DEPTH];
    const char *statement; // where the instruction's text starts
    int statement_line;
    jmp_buf on_unsupported; // set while a body is parsed
};

static inline size_t align_up(size_t size, size_t align) { // align: a power of two
    return (size + align - 1) & ~(align - 1);
}

// What a pointer to the function holds: numbers that no variable's address can be.
static inline uint64_t function_address(int index) {
    return 0x00F0000000000000u + 16u * (uint64_t)index;
}

// parser.c
void advance(struct parser *p);
bool accept_sign(struct parser *p, char sign);
void expect_sign(struct parser *p, char sign);
bool accept_word(struct parser *p, const char *word); // also a suffix, with its dot
struct token expect_name(struct parser *p, const char *what);
void skip_statement(struct parser *p); // to after the next ;
_Noreturn void parser_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void parser_fail_at(struct parser *p, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Leaves the instruction, which is remembered as unsupported.
_Noreturn void parser_unsupported(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define TOKEN_FORMAT "%.*s"
#define TOKEN_TEXT(token) (int)((token).length > 80 ? 80 : (token).length), (token).start

// expression.c
int64_t parse_constant(struct parser *p);
int64_t parse_count(struct parser *p, const char *what, int64_t least, int64_t most); // a plain number
int64_t parse_constant_count(struct parser *p, const char *what, int64_t least, int64_t most);

// parser_variable.c
enum ptx_type type_named(const struct token *token); // PTX_NO_TYPE where it is none
struct declaration {
    enum ptx_type type;
    size_t size, align; // size 0: name[]
    struct token name;
};
struct declaration parse_declaration(struct parser *p);
void parse_module_variable(struct parser *p, bool external);

// parser_module.c
void parse_module(struct parser *p);
void parse_signature(struct parser *p, struct signature *signature, bool results); // (.param ..., ...)
struct signature join_signature(struct parser *p, const struct signature *parameters, const struct signature *results);

// parser_function.c
void parse_body(struct parser *p, struct ptx_function *function);
int32_t add_register(struct parser *p, enum ptx_type type);
struct name *declare_name(struct parser *p, struct token token, enum name_kind kind); // in the current scope
void use_label(struct parser *p, struct token label, struct ptx_operand *operand, int instruction);

// parser_instruction.c
void start_instructions(struct parser *p);
void parse_instruction(struct parser *p, struct ptx_instruction *instruction, struct token opcode);

// parser_operand.c
struct name *find_register(struct parser *p, struct token name);
struct ptx_operand new_operand(enum ptx_operand_kind kind); // that names nothing yet
struct ptx_operand parse_destination(struct parser *p);
struct ptx_operand parse_source(struct parser *p, enum ptx_type type);
struct ptx_operand parse_address(struct parser *p, enum ptx_space space);

// parser_video.c
bool is_video(enum ptx_opcode opcode);
void parse_video_destination(struct parser *p, struct ptx_instruction *instruction); // what follows the register
void parse_video_source(struct parser *p, struct ptx_instruction *instruction);

// operand_check.c
void check_operands(struct parser *p, struct ptx_instruction *instruction, const char *operands);

// mma_shapes.c
bool is_mma(const struct ptx_instruction *mma);            // whether there is an mma of its shape and types
bool is_sparse_mma(enum ptx_opcode opcode);                // mma.sp
int mma_metadata_lanes(const struct ptx_instruction *mma); // of each four, of mma.sp
bool is_tile(const int shape[3], enum ptx_type type,
             bool sums); // the same of wmma's matrices; sums: of what is added to
bool counts_where_bits(const struct ptx_instruction *mma,
                       enum ptx_type a); // .and.popc or .xor.popc where A has single bits

// parser_call.c
void parse_call(struct parser *p, struct ptx_instruction *call);

// Asynchronous copies (parser_copy.c).
void parse_cp_async(struct parser *p, struct ptx_instruction *copy);
void parse_bulk(struct parser *p, struct ptx_instruction *copy);
void parse_prefetch(struct parser *p, struct ptx_instruction *prefetch);
// What changes tensor maps (parser_tensor_map.c).
void parse_map_replace(struct parser *p, struct ptx_instruction *replace);
void parse_map_copy(struct parser *p, struct ptx_instruction *copy);
void parse_map_fence(struct parser *p, struct ptx_instruction *fence);

void parse_brx(struct parser *p, struct ptx_instruction *brx);
void parse_prototype(struct parser *p, struct token label);
void parse_branch_targets(struct parser *p, struct token label);

// parser_location.c
void parse_file(struct parser *p);
void parse_location(struct parser *p);
void start_locations(struct parser *p);

#endif
