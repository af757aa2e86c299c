// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

// Theorem: `value` is an integer below 2^n, and `bits` are its binary digits, least significant first.
//
// INPUT   value     field element
// OUTPUT  bits[n]   booleans
//
// n <= 253 keeps the sum below r, so the digits are unique: no second representation (value + r) exists.
template ToBits(n) {
    assert(n <= 253);
    signal input value;
    signal output bits[n];

    var sum = 0;
    for (var i = 0; i < n; i++) {
        bits[i] <-- (value >> i) & 1;
        bits[i] * (bits[i] - 1) === 0;
        sum = sum + bits[i] * (1 << i);
    }
    sum === value;
}
