// SPDX-License-Identifier: MIT
//
// Multiples of the base point B8 of Baby Jubjub (EIP-2494), the twisted Edwards curve a x^2 + y^2 = 1 + d x^2 y^2 with
// a = 168700, d = 168696 over BN254's scalar field. B8 has the prime order l. Points are added on the equivalent
// Montgomery curve v^2 = u^3 + A u^2 + u, where an addition takes three rows, with
//     u = (1 + y) / (1 - y),  v = u / x;    x = u / v,  y = (u - 1) / (u + 1);    A = 2 (a + d) / (a - d) = 168698.
// (Bernstein, Birkner, Joye, Lange, Peters: Twisted Edwards Curves, 2008, theorem 3.2 and section 6.)
pragma circom 2.2.0;

include "generated/base-point-multiples.circom";
include "comparison.circom";

// l
function subgroupOrder() {
    return 2736030358979909402780800718157159386076813972158567259200215660948447373041;
}

// Coefficients c of the function c_0 + c_1 s + c_2 t + c_3 s t of two bits that takes the given values at
// (s, t) = (0, 0), (1, 0), (0, 1), (1, 1).
function interpolateBits(at00, at10, at01, at11) {
    return [at00, at10 - at00, at01 - at00, at11 - at10 - at01 + at00];
}

// Theorem: 1 <= scalar < l, and (px, py) is the point scalar * B8.
//
// INPUT   scalar   field element
// OUTPUT  px, py   coordinates of an Edwards point in the subgroup, not the identity
//
// `scalar < l` is critical: r is about 8 l, so without it one point had eight scalars, and one note eight nullifiers.
template MultiplyBasePoint() {
    signal input scalar;
    signal output px;
    signal output py;

    // l has 251 bits. Bit 250 is a digit of its own; below it there are 125 digits of two bits, digit j of weight 4^j.
    var BITS = 251;
    var DIGITS = 125;
    var largest = subgroupOrder() - 1;

    // 1. scalar is not 0.
    signal inverse <-- scalar != 0 ? 1 / scalar : 0;
    scalar * inverse === 1;

    // 2. The bits of scalar. As an integer they are at most l - 1, so they have no second representation mod r.
    signal bits[BITS];
    var sum = 0;
    for (var i = 0; i < BITS; i++) {
        bits[i] <-- (scalar >> i) & 1;
        bits[i] * (bits[i] - 1) === 0;
        sum = sum + bits[i] * (1 << i);
    }
    sum === scalar;
    component range = AtMost(BITS, largest >> 128, largest & ((1 << 128) - 1));
    range.bits <== bits;

    // 3. Montgomery additions from the top. The top digit t adds (t + 2) 4^125 B8, digit d of weight 4^j adds
    //    (d + 1) 4^j B8: never the identity, and together `scalar + offset` of B8 without digit 0; offset = 2 4^125 + 4^124 + ... + 4.
    //    An addition of S B8 and T B8 on the Montgomery curve is sound unless S = T or S = -T mod l, where the slope is free
    //    or does not exist. As integers S >= 2 * 4^125 > T, and S + T < 4 l (S is at most l - 1 + offset, l is more than
    //    1.5 * 4^125, and offset less than 2.34 * 4^125). S - T and S + T are therefore positive and below 4 l.
    //    They are divisible by 4, because j >= 1. No one of l, 2 l, 3 l is, because l is odd.
    var table[8 * DIGITS + 4] = basePointMultiples();
    var u = table[0] + bits[BITS - 1] * (table[2] - table[0]);
    var v = table[1] + bits[BITS - 1] * (table[3] - table[1]);

    // us[j - 1], vs[j - 1]: the sum down to digit j.
    signal both[DIGITS];
    signal slope[DIGITS - 1];
    signal us[DIGITS - 1];
    signal vs[DIGITS - 1];
    for (var j = DIGITS - 1; j >= 1; j--) {
        var first = 8 * j - 4;
        both[j] <== bits[2 * j] * bits[2 * j + 1];
        var cu[4] = interpolateBits(table[first], table[first + 2], table[first + 4], table[first + 6]);
        var cv[4] = interpolateBits(table[first + 1], table[first + 3], table[first + 5], table[first + 7]);
        var addU = cu[0] + cu[1] * bits[2 * j] + cu[2] * bits[2 * j + 1] + cu[3] * both[j];
        var addV = cv[0] + cv[1] * bits[2 * j] + cv[2] * bits[2 * j + 1] + cv[3] * both[j];

        slope[j - 1] <-- (addV - v) / (addU - u);
        slope[j - 1] * (addU - u) === addV - v;
        us[j - 1] <== slope[j - 1] * slope[j - 1] - 168698 - u - addU;
        vs[j - 1] <== slope[j - 1] * (u - us[j - 1]) - v;
        u = us[j - 1];
        v = vs[j - 1];
    }

    // 4. Back to the Edwards curve. The point is a multiple of B8 other than the identity, so it has odd order: v is not
    //    0 (order 2), and u is not -1 (order 4).
    signal ex;
    signal ey;
    ex <-- u / v;
    ex * v === u;
    ey <-- (u - 1) / (u + 1);
    ey * (u + 1) === u - 1;

    // 5. Digit 0 by complete addition, with d - offset in place of d, so that the sum is scalar * B8 for every scalar.
    var last = 8 * DIGITS - 4;
    both[0] <== bits[0] * bits[1];
    var cx[4] = interpolateBits(table[last], table[last + 2], table[last + 4], table[last + 6]);
    var cy[4] = interpolateBits(table[last + 1], table[last + 3], table[last + 5], table[last + 7]);
    var addX = cx[0] + cx[1] * bits[0] + cx[2] * bits[1] + cx[3] * both[0];
    var addY = cy[0] + cy[1] * bits[0] + cy[2] * bits[1] + cy[3] * both[0];

    // x1 y2, y1 x2, and (y1 - a x1) (x2 + y2) = y1 y2 - a x1 x2 + y1 x2 - a x1 y2.
    signal beta <== ex * addY;
    signal gamma <== ey * addX;
    signal delta <== (ey - 168700 * ex) * (addX + addY);
    signal tau <== beta * gamma;
    px <-- (beta + gamma) / (1 + 168696 * tau);
    px * (1 + 168696 * tau) === beta + gamma;
    py <-- (delta - gamma + 168700 * beta) / (1 - 168696 * tau);
    py * (1 - 168696 * tau) === delta - gamma + 168700 * beta;
}
