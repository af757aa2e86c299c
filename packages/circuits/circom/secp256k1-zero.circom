// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "comparison.circom";
include "secp256k1-sum.circom";

// Theorem: first + second = (low[0] + low[1]) + 2^160 (high[0] + high[1]) modulo p = 2^256 - 2^32 - 977.
//
// INPUT   first[15], second[15]   coefficients in X = 2^32: `chords` products of a slope with a difference of an x_k (boundOfChord),
//                                 or, if chords is 0, x_k itself (boundOfX) in first_0 ... first_7, and 0 .. 2^32 - 1 taken from it
//         low[2], high[2]         integers with |low_i| <= 2^160 and |high_i| <= 2^96
//
// The argument, in the integers:
//   V = sum over i < 8 of v_i X^i - low - 2^160 high, with the folded coefficients
//       v_i = d_i + 977 d_{8+i} (i < 7) + d_{7+i} (i > 0), d = first + second. So V is first + second - low - 2^160 high
//       modulo p, and it remains to show that V = q p for an integer q.
//   1. q := V / p in the field, and the range check shows that it stands for an integer with -2^(a-1) <= q < 2^(a-1).
//      So V - q p = 0 modulo r.
//   2. S = sum over i < 5 of v_i X^i - low + q (2^32 + 977). It is V - q p modulo 2^160, since X^5 = 2^160 and 256 > 160.
//      carry := S / 2^160 in the field, and the range check shows that it stands for an integer with
//      -2^(b-1) <= carry < 2^(b-1). |S| + 2^(b-1) 2^160 < 2^252 (asserted) < r, so S = 2^160 carry in the integers, and
//      V - q p = 0 modulo 2^160.
//   3. |V - q p| < 2^160 r (asserted), so by 1, 2 and the Chinese remainder theorem V - q p = 0.
// An honest q has |q| <= |V| / p < 2^(a-1), an honest carry is at most |S| / 2^160 < 2^(b-1): the widths a and b are computed
// from `bounds`, and every honest value passes. a + b + 2 rows.
template ZeroModP(k, chords) {
    signal input first[15];
    signal input second[15];
    signal input low[2];
    signal input high[2];

    // Widths. boundOfQ: the sum of the bounds of v_i X^i / 2^256, each rounded up; 3 for low and high (at most
    // 2^161 + 2^257 in all); and 2, because p is a little less than 2^256.
    var boundOfQ = 5;
    var boundOfS = (1 << 161);
    var bounds[15];
    for (var j = 0; j < 15; j++) {
        if (chords > 0) {
            bounds[j] = chords * boundOfChord(j, k);
        } else {
            bounds[j] = j < 8 ? boundOfX(j, k) + (1 << 32) : 0;
        }
    }
    for (var i = 0; i < 8; i++) {
        var bound = bounds[i];
        if (i < 7) {
            bound = bound + 977 * bounds[8 + i];
        }
        if (i > 0) {
            bound = bound + bounds[7 + i];
        }
        // Keeps the sums below in the range where the compiler compares integers.
        assert(i < 4 ? bound < (1 << 126) : bound < (1 << 122));
        boundOfQ = boundOfQ + (bound >> (256 - 32 * i)) + 1;
        if (i < 5) {
            boundOfS = boundOfS + bound * (1 << (32 * i));
        }
    }
    var widthOfQ = countBits(boundOfQ) + 1;
    boundOfS = boundOfS + (1 << (widthOfQ - 1)) * ((1 << 32) + 977);
    var widthOfCarry = countBits(boundOfS >> 160) + 1;
    // For step 2; and for step 3: |V| < 2^(122 + 225) and |q p| < 2^(255 + widthOfQ), far below 2^160 * 2^252.
    assert(boundOfS < (1 << 251));
    assert(widthOfCarry + 159 <= 250);
    assert(widthOfQ <= 120);

    var total = 0;
    var lowPart = 0;
    var power = 1;
    for (var i = 0; i < 8; i++) {
        var v = first[i] + second[i];
        if (i < 7) {
            v = v + 977 * (first[8 + i] + second[8 + i]);
        }
        if (i > 0) {
            v = v + first[7 + i] + second[7 + i];
        }
        total = total + v * power;
        if (i < 5) {
            lowPart = lowPart + v * power;
        }
        power = power * (1 << 32);
    }
    total = total - low[0] - low[1] - (1 << 160) * (high[0] + high[1]);
    signal q <== total * (1 / ((1 << 128) * (1 << 128) - (1 << 32) - 977));
    component qRange = InRange(widthOfQ, 1 << (widthOfQ - 1));
    qRange.value <== q;

    signal carry <== (lowPart - low[0] - low[1] + q * ((1 << 32) + 977)) * (1 / (1 << 160));
    component carryRange = InRange(widthOfCarry, 1 << (widthOfCarry - 1));
    carryRange.value <== carry;
}
