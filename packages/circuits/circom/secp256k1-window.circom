// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "generated/secp256k1-windows.circom";

// Theorem: (x, y) is the point T_window[digit] = (digit + 1) * 2^(8 window) * G, digit being the number with these bits.
//
// INPUT   bits[8]   booleans (the caller's constraint), least significant first
// OUTPUT  x[4]      64-bit limbs of the canonical x, least significant first
//         y[2]      canonical y as y[0] + 2^160 * y[1], y[0] below 2^160
//
// Each output is a function of eight booleans: the sum over all subsets of the bits of coefficient * product of the subset.
// The coefficients are generated: those of a subset alternate over the table's entries of its subsets. The subsets of the five low bits cost 26 rows, those of the three high
// ones 4; for each output, seven rows multiply a subset of high bits by a linear combination of the 32 low subsets.
template WindowPoint(window) {
    signal input bits[8];
    signal output x[4];
    signal output y[2];

    // 1. Products of the bits of each subset.
    signal lowProduct[26];
    signal highProduct[4];
    var low[32];
    var high[8];
    var used = 0;
    low[0] = 1;
    high[0] = 1;
    for (var bit = 0; bit < 5; bit++) {
        low[1 << bit] = bits[bit];
        for (var rest = 1; rest < 1 << bit; rest++) {
            lowProduct[used] <== bits[bit] * low[rest];
            low[(1 << bit) + rest] = lowProduct[used];
            used++;
        }
    }
    used = 0;
    for (var bit = 0; bit < 3; bit++) {
        high[1 << bit] = bits[5 + bit];
        for (var rest = 1; rest < 1 << bit; rest++) {
            highProduct[used] <== bits[5 + bit] * high[rest];
            high[(1 << bit) + rest] = highProduct[used];
            used++;
        }
    }

    // 2. Each output.
    var coefficients[1536] = secp256k1Window(window);
    signal parts[6][6];
    for (var o = 0; o < 6; o++) {
        var sum = 0;
        for (var i = 0; i < 32; i++) {
            sum = sum + coefficients[256 * o + i] * low[i];
        }
        for (var subset = 1; subset < 8; subset++) {
            var combination = 0;
            for (var i = 0; i < 32; i++) {
                combination = combination + coefficients[256 * o + 32 * subset + i] * low[i];
            }
            if (subset < 7) {
                parts[o][subset - 1] <== high[subset] * combination;
                sum = sum + parts[o][subset - 1];
            } else {
                if (o < 4) {
                    x[o] <== high[7] * combination + sum;
                } else {
                    y[o - 4] <== high[7] * combination + sum;
                }
            }
        }
    }
}
