#!/usr/bin/env bats
# Decoding: which requests are refused, by the check in one line and by the lessons' own function with an error. What a kernel does with a
# length or a page that cannot be is in the check's matrix; tests/broken/ has kernels that do not look.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    make --no-print-directory build/harness build/kernels/solutions/2{2_decode,3_decode_wgmma,4_paged_decode}/attention.so || return 1
}

# refused TEXT OPTION...
refused() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    text=$1
    shift
    run build/bin/attention check --device sim --kernel build/kernels/solutions/24_paged_decode/attention.so \
        --source solutions/24_paged_decode/attention.cu --name paged "$@"
    echo "$output"
    [ "$status" -eq 2 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ $output == *"$text"* ]]
}

@test "queries, heads, pages and head dimensions that cannot be are refused in one line" {
    refused "decoding has up to 16 queries a request, not 17" --shape 1,4:2,17:64,64
    refused "5 heads cannot share 2 key heads evenly" --shape 1,5:2,1:64,64
    refused "pages of a multiple of 16 keys, not of 24" --shape 1,4:2,1:64,64 --layout pages24
    refused "multiples of 16 up to 128, not 72" --shape 1,4:2,1:64,72
}

@test "no time is estimated, since no measured times have validated the model for decoding" {
    refused "no time is estimated for the operation decode" --sample work
}

@test "each lesson's function returns an error for a malformed call, and launches nothing" {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    LD_LIBRARY_PATH=$PWD/build/simulator run python3 - <<'END'
import ctypes, sys
sys.path.insert(0, ".")
from peers.problem import DTYPES, DecodeProblem
good = dict(batch=2, heads=4, kv_heads=2, nq=1, head_dim=64, pages=2, page_size=64, pages_per_request=1, softmax_scale=0.125,
            dtype=DTYPES["bf16"], cache_dtype=DTYPES["bf16"])
bad = [dict(nq=17), dict(nq=0), dict(heads=5), dict(kv_heads=0), dict(batch=0), dict(pages=1), dict(page_size=0), dict(pages_per_request=2),
       dict(head_dim=0)]
for name in ("22_decode", "23_decode_wgmma", "24_paged_decode"):
    library = ctypes.CDLL(f"build/kernels/solutions/{name}/attention.so")
    for change in bad:
        status = library.decode_forward(ctypes.byref(DecodeProblem(**{**good, **change})), None)
        assert status == 1, (name, change, status)  # cudaErrorInvalidValue
print("refused")
END
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$output" = refused ]
}
