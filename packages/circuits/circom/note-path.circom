// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "poseidon.circom";
include "bits.circom";

// Theorem: `root` is the root of a binary H_2 tree in which `leaf` is `depth` levels below the root (protocol §4). The path
// goes up a batch and then up the LeanIMT. A level of the LeanIMT at which the node has no sibling adds nothing to the
// path, so the depth depends on the note.
//
// INPUT   leaf               field element
//         depth              1 ... levels (checked here)
//         index              below 2^levels (checked here); bit i is 1 if the node is the right child at siblings[i].
//                            Bits from `depth` on are free
//         siblings[levels]   from the leaf up; free from `depth` on
// OUTPUT  root               field element
template NotePath(levels) {
    signal input leaf;
    signal input depth;
    signal input index;
    signal input siblings[levels];
    signal output root;

    // 1. Boolean directions.
    component directions = ToBits(levels);
    directions.value <== index;

    // 2. The depth as a one-hot vector: each entry is boolean, and they add up to 1, so exactly one is 1. The weighted
    //    sum says which. (levels <= 2^7, so neither sum can wrap around r.)
    signal isTop[levels];
    var ones = 0;
    var place = 0;
    for (var i = 0; i < levels; i++) {
        isTop[i] <-- depth == i + 1 ? 1 : 0;
        isTop[i] * (isTop[i] - 1) === 0;
        ones = ones + isTop[i];
        place = place + (i + 1) * isTop[i];
    }
    ones === 1;
    place === depth;

    // 3. Every level is hashed. Only the node at the chosen depth is the root.
    component nodes[levels];
    signal chosen[levels];
    var sum = 0;
    for (var i = 0; i < levels; i++) {
        var node = leaf;
        if (i > 0) {
            node = nodes[i - 1].out;
        }
        nodes[i] = Poseidon(2);
        nodes[i].inputs[0] <== node + directions.bits[i] * (siblings[i] - node);
        nodes[i].inputs[1] <== node + siblings[i] - nodes[i].inputs[0];
        chosen[i] <== isTop[i] * nodes[i].out;
        sum = sum + chosen[i];
    }
    root <== sum;
}
