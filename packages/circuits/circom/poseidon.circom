// SPDX-License-Identifier: MIT
// Theorem: `out` is H_k(inputs), Poseidon over BN254 with x^5, width t = k + 1 (protocol §1).
//
// INPUT   inputs[k]   field elements, 1 <= k <= 6
// OUTPUT  out         field element
//
// The state lives in `var` expressions; only S-box values become signals, three rows each. Without care these
// expressions grow by one term a partial round and the R1CS gets dense, so every few partial rounds all state words but
// the first (which feeds the next S-box anyway) are put into signals: t - 1 linear rows buy shorter rows after them.
pragma circom 2.2.0;

include "generated/poseidon-constants.circom";

// Partial rounds between two such checkpoints, by width. Chosen so that fund-N fills its power of two and no more:
// narrow states are cheap to name.
function poseidonStride(t) {
    if (t == 2) { return 14; }
    if (t == 3) { return 19; }
    return 32;
}

template Poseidon(k) {
    signal input inputs[k];
    signal output out;

    var t = k + 1;
    var fullRounds = 8;
    var partialRounds = poseidonPartialRounds(t);
    var rounds = fullRounds + partialRounds;
    var constants[rounds * t] = poseidonConstants(t);
    var matrix[t][t] = poseidonMatrix(t);

    // One S-box fewer than the rounds hold: the capacity word of round 0 is a constant, and so is its fifth power.
    var sboxes = fullRounds * t + partialRounds - 1;
    signal square[sboxes];
    signal fourth[sboxes];
    signal fifth[sboxes];
    var used = 0;

    var stride = poseidonStride(t);
    var checkpoints = (partialRounds - 1) \ stride;
    signal held[checkpoints][t - 1];

    // 1. The state starts as (0, inputs).
    var state[t];
    var mixed[t];
    state[0] = 0;
    for (var i = 0; i < k; i++) {
        state[i + 1] = inputs[i];
    }

    for (var round = 0; round < rounds; round++) {
        var partial = round - fullRounds / 2;
        var isPartial = partial >= 0 && partial < partialRounds;

        // 2. Every `stride` partial rounds, name the state.
        if (isPartial && partial > 0 && partial % stride == 0) {
            for (var i = 1; i < t; i++) {
                held[partial \ stride - 1][i - 1] <== state[i];
                state[i] = held[partial \ stride - 1][i - 1];
            }
        }

        // 3. Add the round constants.
        for (var i = 0; i < t; i++) {
            state[i] = state[i] + constants[round * t + i];
        }

        // 4. S-box: every word in a full round, the first word in a partial one.
        for (var i = 0; i < t; i++) {
            if (i == 0 || !isPartial) {
                if (round == 0 && i == 0) {
                    var c = constants[0];
                    state[0] = c * c * c * c * c;
                } else {
                    square[used] <== state[i] * state[i];
                    fourth[used] <== square[used] * square[used];
                    fifth[used] <== fourth[used] * state[i];
                    state[i] = fifth[used];
                    used++;
                }
            }
        }

        // 5. Mix.
        for (var i = 0; i < t; i++) {
            mixed[i] = 0;
            for (var j = 0; j < t; j++) {
                mixed[i] = mixed[i] + matrix[i][j] * state[j];
            }
        }
        for (var i = 0; i < t; i++) {
            state[i] = mixed[i];
        }
    }

    out <== state[0];
}
