// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

// Theorem: y = x_0 + z (x_1 + z (x_2 + ...)), the public vector's polynomial at z (protocol §5).
//
// INPUT   x[k]   field elements, k >= 2
//         z      field element, chosen by the verifier after a digest D has fixed x
// OUTPUT  y      field element
template Horner(k) {
    signal input x[k];
    signal input z;
    signal output y;

    signal steps[k - 1];
    var tail = x[k - 1];
    for (var i = k - 2; i >= 0; i--) {
        steps[i] <== z * tail;
        tail = x[i] + steps[i];
    }
    y <== tail;
}
