// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "poseidon.circom";

// Theorem: `out` is HC(tag; values), the chain hash of k values (protocol §1).
//
// PARAMETER tag    of the construction
// INPUT     values[k]   field elements
// OUTPUT    out         field element
template ChainHash(k, tag) {
    signal input values[k];
    signal output out;

    // 1. The chain starts at H_2(tag, k): the hash commits to the length.
    component start = Poseidon(2);
    start.inputs[0] <== tag;
    start.inputs[1] <== k;

    // 2. It absorbs four values at a time; the last group is filled with zeros.
    var groups = (k + 3) \ 4;
    component steps[groups];
    for (var i = 0; i < groups; i++) {
        steps[i] = Poseidon(5);
        steps[i].inputs[0] <== i == 0 ? start.out : steps[i - 1].out;
        for (var j = 0; j < 4; j++) {
            if (4 * i + j < k) {
                steps[i].inputs[1 + j] <== values[4 * i + j];
            } else {
                steps[i].inputs[1 + j] <== 0;
            }
        }
    }
    out <== steps[groups - 1].out;
}
