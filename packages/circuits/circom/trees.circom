// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "poseidon.circom";
include "bits.circom";

// Theorem: `root` is the root of the full binary H_2 tree over `leaves` (protocol §4, batch roots).
//
// INPUT   leaves[n]   field elements, n a power of two
// OUTPUT  root        field element
template BinaryRoot(n) {
    signal input leaves[n];
    signal output root;

    component nodes[n - 1];
    // Heap order: node i has the children 2i + 1 and 2i + 2; positions n - 1 and up are the leaves.
    for (var i = n - 2; i >= 0; i--) {
        nodes[i] = Poseidon(2);
        for (var side = 0; side < 2; side++) {
            var child = 2 * i + 1 + side;
            if (child >= n - 1) {
                nodes[i].inputs[side] <== leaves[child - (n - 1)];
            } else {
                nodes[i].inputs[side] <== nodes[child].out;
            }
        }
    }
    root <== nodes[0].out;
}

// Theorem: `root` is the root of an arity-4 H_4 tree of the given depth in which `leaf` stands at `leafIndex`
// (protocol §4, eligibility tree).
//
// INPUT   leaf                 field element
//         leafIndex            integer below 4^depth; two bits a level, lowest level first
//         siblings[depth][3]   the other children of each node, in child order
// OUTPUT  root                 field element
template QuaternaryRoot(depth) {
    signal input leaf;
    signal input leafIndex;
    signal input siblings[depth][3];
    signal output root;

    // 1. Two boolean digits a level; their weighted sum is leafIndex, so it is below 4^depth.
    component index = ToBits(2 * depth);
    index.value <== leafIndex;

    signal atThird[depth];
    component nodes[depth];
    for (var level = 0; level < depth; level++) {
        nodes[level] = Poseidon(4);
        var moving = leaf;
        if (level > 0) {
            moving = nodes[level - 1].out;
        }
        var low = index.bits[2 * level];
        var high = index.bits[2 * level + 1];
        atThird[level] <== low * high;

        // 2. The position as a thermometer: past[j] = 1 iff position > j. All three are boolean, since low and high are.
        var past[3] = [low + high - atThird[level], high, atThird[level]];

        // 3. Insert the node among its siblings: at each place either it stays (past[j] = 0) or the sibling takes the
        //    place; whichever of the two is left over moves on to the next one.
        for (var j = 0; j < 3; j++) {
            var sibling = siblings[level][j];
            nodes[level].inputs[j] <== moving + past[j] * (sibling - moving);
            moving = moving + sibling - nodes[level].inputs[j];
        }
        nodes[level].inputs[3] <== moving;
    }
    root <== nodes[depth - 1].out;
}
