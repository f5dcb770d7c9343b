// The interface between the files of the parser. Code outside simulator/ptx uses program.h only.
//
//   parser.c              ptx_parse, the current token, errors
//   parser_module.c       module level: directives, functions' headers
//   parser_variable.c     variables and their initializers
//   parser_function.c     function bodies: scopes, declarations, labels
//   parser_instruction.c  one instruction: opcode, suffixes, operands by its form
//   forms.h, forms.def, suffixes.def  the suffixes and operands of each opcode
//   parser_operand.c      one operand
//   operand_check.c       checks operands against the instruction's types
//   parser_tensor_map.c   instructions that modify tensor maps
//   parser_call.c         call, brx.idx, their prototypes and target lists
//   parser_location.c     .file, .loc and inlined_at
//   expression.c          constant expressions
#ifndef SIMULATOR_PTX_PARSER_H
#define SIMULATOR_PTX_PARSER_H

#include "lexer.h"
#include "program.h"
#include "symbols.h"

// The parameters and results of a function, with the layout in call-param space that struct ptx_frame describes.
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
    int32_t offset; // .param: from the callee's stack base, -1 before the first call that uses it; incoming: from the
                    // function's own stack base
    bool incoming;  // a parameter or result of the function itself
};

// An unsupported instruction. It is an error only for kernels that can reach it.
struct unsupported {
    const char *description, *text;
    int line;
    int32_t location;
};

// A parsed, unlinked function. Its instructions are those of program.h with three fields unresolved: registers' slots
// are indices into register_type, addresses have offsets within their variable (`variable` is an index into the table
// of `space`), and branch targets are relative to the function's first instruction, callees indices into
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

// References to a label before its declaration, or from an inner scope.
struct label_reference {
    struct label_reference *next;
    const char *name;
    size_t length;
    int line;
    struct ptx_operand *operand; // receives the target
    int instruction;             // if operand is NULL: the instruction whose src[0] receives it
};

struct parser {
    struct arena *arena;
    struct lexer lexer;
    struct token token; // the current token (one token of lookahead)
    struct symbol_table symbols;
    struct symbol_table opcodes, suffixes; // indices into the tables of forms.h
    struct ptx_module *module;
    int variable_capacity, function_capacity, location_capacity, file_capacity;
    int file_base;    // offset of this text's .file indices
    bool local, weak; // of the current module-level declaration: local to its text; may be a duplicate
    struct location_table *locations;

    struct ptx_function *function; // whose body is being parsed
    int32_t location;              // of the next instruction
    struct label_reference *label_references[SYMBOLS_MAX_DEPTH];
    const char *statement; // start of the instruction's text
    int statement_line;
    jmp_buf on_unsupported; // valid while a body is parsed
};

static inline size_t align_up(size_t size, size_t align) { // align: a power of two
    return (size + align - 1) & ~(align - 1);
}

// The device address of a function, which no variable can have.
static inline uint64_t function_address(int index) {
    return 0x00F0000000000000u + 16u * (uint64_t)index;
}

// parser.c
void advance(struct parser *p);
bool accept_punctuator(struct parser *p, char punctuator);
void expect_punctuator(struct parser *p, char punctuator);
bool accept_keyword(struct parser *p, const char *keyword); // or a suffix, with its dot
struct token expect_identifier(struct parser *p, const char *description);
void skip_statement(struct parser *p); // to after the next ';'
_Noreturn void parser_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void parser_fail_at(struct parser *p, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Records the current instruction as unsupported, skips it and resumes at the next one.
_Noreturn void parser_unsupported(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define TOKEN_FORMAT "%.*s"
#define TOKEN_TEXT(token) (int)((token).length > 80 ? 80 : (token).length), (token).start

// expression.c
int64_t parse_constant(struct parser *p);
int64_t parse_count(struct parser *p, const char *description, int64_t minimum, int64_t maximum); // a literal
int64_t parse_constant_count(struct parser *p, const char *description, int64_t minimum, int64_t maximum);

// parser_variable.c
enum ptx_type find_type(const struct token *token); // PTX_NO_TYPE: not a type
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
struct symbol *declare_symbol(struct parser *p, struct token token, enum symbol_kind kind); // in the current scope
void add_label_reference(struct parser *p, struct token label, struct ptx_operand *operand, int instruction);

// parser_instruction.c
void init_opcode_tables(struct parser *p);
void parse_instruction(struct parser *p, struct ptx_instruction *instruction, struct token opcode);

// parser_operand.c
struct symbol *find_register(struct parser *p, struct token name);
struct ptx_operand new_operand(enum ptx_operand_kind kind); // with no slot, variable or target
struct ptx_operand parse_destination(struct parser *p);
struct ptx_operand parse_source(struct parser *p, enum ptx_type type);
struct ptx_operand parse_address(struct parser *p, enum ptx_space space);

// parser_video.c
bool is_video(enum ptx_opcode opcode);
void parse_video_destination(struct parser *p, struct ptx_instruction *instruction); // the selector after the register
void parse_video_source(struct parser *p, struct ptx_instruction *instruction);

// operand_check.c
void check_operands(struct parser *p, struct ptx_instruction *instruction, const char *operands);

// mma_shapes.c
bool is_valid_mma(const struct ptx_instruction *mma); // whether the PTX ISA has an mma of this shape and these types
bool is_sparse_mma(enum ptx_opcode opcode);           // mma.sp
int mma_metadata_lanes(const struct ptx_instruction *mma); // of mma.sp: how many of each four lanes provide metadata
bool is_valid_wmma_fragment(const int shape[3], enum ptx_type type,
                            bool sums); // a fragment of wmma
bool has_valid_bit_operation(const struct ptx_instruction *mma,
                             enum ptx_type a); // has .and.popc or .xor.popc if and only if A is .b1

// parser_call.c
void parse_call(struct parser *p, struct ptx_instruction *call);

// Asynchronous copies (parser_copy.c).
void parse_cp_async(struct parser *p, struct ptx_instruction *copy);
void parse_bulk(struct parser *p, struct ptx_instruction *copy);
void parse_prefetch(struct parser *p, struct ptx_instruction *prefetch);
// Instructions that modify tensor maps (parser_tensor_map.c).
void parse_tensormap_replace(struct parser *p, struct ptx_instruction *replace);
void parse_tensormap_copy(struct parser *p, struct ptx_instruction *copy);
void parse_tensormap_fence(struct parser *p, struct ptx_instruction *fence);

void parse_brx(struct parser *p, struct ptx_instruction *brx);
void parse_prototype(struct parser *p, struct token label);
void parse_branch_targets(struct parser *p, struct token label);

// parser_location.c
void parse_file(struct parser *p);
void parse_location(struct parser *p);
void init_locations(struct parser *p);

#endif
