// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "comparison.circom";
include "masked-digest.circom";
include "secp256k1-window.circom";

// Theorem: lo and hi are integers below 2^128, lo + 2^128 hi is at most `high` * 2^128 + `low`, and `bits` are its binary digits.
//
// INPUT   lo, hi        field elements
// OUTPUT  bits[256]     booleans, least significant first
//         limbs[8]      its limbs of 32 bits
template Word(high, low) {
    signal input lo;
    signal input hi;
    signal output bits[256];
    signal output limbs[8];

    for (var i = 0; i < 8; i++) {
        var sum = 0;
        var weight = 1;
        for (var bit = 0; bit < 32; bit++) {
            var half = i < 4 ? lo : hi;
            bits[32 * i + bit] <-- (half >> (32 * (i % 4) + bit)) & 1;
            bits[32 * i + bit] * (bits[32 * i + bit] - 1) === 0;
            sum = sum + weight * bits[32 * i + bit];
            weight = weight * 2;
        }
        limbs[i] <== sum;
    }
    lo === limbs[0] + (1 << 32) * limbs[1] + (1 << 64) * limbs[2] + (1 << 96) * limbs[3];
    hi === limbs[4] + (1 << 32) * limbs[5] + (1 << 64) * limbs[6] + (1 << 96) * limbs[7];

    component range;
    if (high != (1 << 128) - 1 || low != (1 << 128) - 1) {
        range = AtMost(256, high, low);
        range.bits <== bits;
    }
}

// Theorem: (x, y) are the halves of two integers below p, the order of secp256k1's coordinate field.
//
// INPUT   xLo, xHi, yLo, yHi   field elements
// OUTPUT  x[8]                 limbs of x of 32 bits
//         y[2]                 y as y[0] + 2^160 y[1], y[0] below 2^160
template Coordinates() {
    signal input xLo;
    signal input xHi;
    signal input yLo;
    signal input yHi;
    signal output x[8];
    signal output y[2];

    component words[2];
    for (var i = 0; i < 2; i++) {
        words[i] = Word((1 << 128) - 1, (1 << 128) - (1 << 32) - 978);
    }
    words[0].lo <== xLo;
    words[0].hi <== xHi;
    words[1].lo <== yLo;
    words[1].hi <== yHi;
    x <== words[0].limbs;
    y[0] <== yLo + (1 << 128) * words[1].limbs[4];
    y[1] <== words[1].limbs[5] + (1 << 32) * words[1].limbs[6] + (1 << 64) * words[1].limbs[7];
}

// Theorem (protocol §7): W' = W + maskHat * G on secp256k1 and m' = m - rSig * maskHat modulo n, for one mask b that the prover
// knows. maskHat = b + (1 + 2^8 + ... + 2^(8 (WINDOWS - 1))), b being the integer with the digits bBits.
//
// INPUT   wxLo, wxHi, wyLo, wyHi       128-bit halves of the coordinates of W, each canonical (below p, checked here)
//         m                            field element, read as an integer in 0 .. r - 1
//         bBits[8 WINDOWS]             booleans (checked here), least significant first
//         rLo, rHi                     halves of rSig, each below 2^128 (checked here; that rSig < n is the contract's check)
// OUTPUT  wpxLo, wpxHi, wpyLo, wpyHi   halves of the coordinates of W', canonical (checked here)
//         mpLo, mpHi                   halves of m', canonical (below n, checked here)
//
// maskHat has the digits (b_j + 1) in radix 2^8, so every window adds a multiple of G that is not the point at infinity:
// T_j = (b_j + 1) 2^(8j) G. The sum starts at P_0 = W, and P_{j+1} = P_j + T_j with the slope lambda_j of the chord. Heights
// are eliminated. With (x_j, y_j) = P_j and (t_j, u_j) = T_j:
//   (A)  lambda_0 (t_0 - x_0) = u_0 - y_0
//   (B)  x_{j+1} = lambda_j^2 - x_j - t_j                                     defines x_{j+1}
//        y_{j+1} = lambda_j (t_j - x_{j+1}) - u_j                             defines y_{j+1}; it is not a signal
//   (C)  lambda_{j+1} (t_{j+1} - x_{j+1}) + lambda_j (t_j - x_{j+1}) = u_{j+1} + u_j     which is
//        lambda_{j+1} (t_{j+1} - x_{j+1}) = u_{j+1} - y_{j+1}
//   (D)  x_WINDOWS = x of W', and lambda (t - x of W') - u = y of W' with the values of the last window
// all modulo p. So, for every j, lambda_j (t_j - x_j) = u_j - y_j, and where t_j != x_j, lambda_j is the slope of the chord
// through P_j and T_j and P_{j+1} is their sum.
//
// Where t_j = x_j, the equation demands u_j = y_j (T_j = -P_j satisfies none, since u_j != 0), and lambda_j is free: the prover
// may continue from a point of its choice. Then P_j = T_j, so W = T_j - (T_0 + ... + T_{j-1}) is a multiple of G that the
// prover knows: it knows the discrete logarithm of W, that is, W's private key, and gains nothing that the key does not give.
// That W is on the curve is not checked: a W that is not belongs to no key, and only notes that were made for it can be spent
// with it.
//
// Three products a window, each of 15 rows, and no height, sum or product is range-checked or reduced: only the slope's limbs
// are, and one quotient and one carry for each of (A), (C), (D). With 31 windows:
//
//   part                                              rows   terms of A, B, C
//   slopes: 31 * 8 limbs of 32 bits                  7,936   39,184
//   ZeroModP: (A), 30 times (C), twice (D)           5,560   29,175
//   WindowPoint: 31 * (30 subsets + 6 * 7 products)  2,232   54,126
//   Chord: 2 * 31 products                             930   28,644
//   NextX: 31 squares                                  465   17,608
//   W, W': digits, below p                           1,100    5,298
//   bits of b, limbs of maskHat                        256    1,008
//   m, rSig, m': digits, m below r, m' below n         962    4,133
//   MaskedDigest                                       157    1,139
//   together                                        19,598  180,315
template HiddenSigner(WINDOWS) {
    signal input wxLo;
    signal input wxHi;
    signal input wyLo;
    signal input wyHi;
    signal input m;
    signal input bBits[8 * WINDOWS];
    signal input rLo;
    signal input rHi;
    signal output wpxLo;
    signal output wpxHi;
    signal output wpyLo;
    signal output wpyHi;
    signal output mpLo;
    signal output mpHi;

    // 1. W, and the bits of b, which both the point and the digest use.
    component wallet = Coordinates();
    wallet.xLo <== wxLo;
    wallet.xHi <== wxHi;
    wallet.yLo <== wyLo;
    wallet.yHi <== wyHi;
    for (var i = 0; i < 8 * WINDOWS; i++) {
        bBits[i] * (bBits[i] - 1) === 0;
    }

    // 2. T_j, and hints for the slopes. Slope j is rise_j / z_{j+1}, and z_{j+1} = z_j run_j: one inversion serves all.
    component points[WINDOWS];
    component slopes[WINDOWS][8];
    signal lambda[WINDOWS][8];
    var limbMask = (1 << 64) - 1;
    var state[5][4] = [
        [wxLo & limbMask, wxLo >> 64, wxHi & limbMask, wxHi >> 64],
        [wyLo & limbMask, wyLo >> 64, wyHi & limbMask, wyHi >> 64],
        [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]
    ];
    var rises[WINDOWS][4];
    var runs[WINDOWS][4];
    for (var j = 0; j < WINDOWS; j++) {
        points[j] = WindowPoint(j);
        for (var i = 0; i < 8; i++) {
            points[j].bits[i] <== bBits[8 * j + i];
        }
        var tx[4] = points[j].x;
        var low = points[j].y[0];
        var high = points[j].y[1];
        var ty[4] = [low & limbMask, (low >> 64) & limbMask, (low >> 128) + (high & ((1 << 32) - 1)) * (1 << 32), high >> 32];
        state = addToJacobian(state[0], state[1], state[2], tx, ty);
        rises[j] = state[3];
        runs[j] = state[4];
    }
    var inverse[4] = invertModP(state[2]);
    var px[4] = state[0];
    var py[4] = state[1];
    for (var i = 0; i < 2; i++) {
        px = multiplyModP(px, inverse);
        py = multiplyModP(py, inverse);
    }
    py = multiplyModP(py, inverse);
    for (var j = WINDOWS - 1; j >= 0; j--) {
        var slope[4] = multiplyModP(rises[j], inverse);
        inverse = multiplyModP(inverse, runs[j]);
        var digits[8] = balancedDigits(slope);
        for (var i = 0; i < 8; i++) {
            lambda[j][i] <-- digits[i] - (1 << 31);
            slopes[j][i] = InRange(32, 1 << 31);
            slopes[j][i].value <== lambda[j][i];
        }
    }

    // 3. W', canonical.
    wpxLo <-- px[0] + (1 << 64) * px[1];
    wpxHi <-- px[2] + (1 << 64) * px[3];
    wpyLo <-- py[0] + (1 << 64) * py[1];
    wpyHi <-- py[2] + (1 << 64) * py[3];
    component shifted = Coordinates();
    shifted.xLo <== wpxLo;
    shifted.xHi <== wpxHi;
    shifted.yLo <== wpyLo;
    shifted.yHi <== wpyHi;

    // 4. The equations above: (B), then (A) or (C) for each j, then (D).
    component xs[WINDOWS];
    component nearChords[WINDOWS];
    component farChords[WINDOWS];
    component zeros[WINDOWS + 2];
    for (var j = 0; j < WINDOWS; j++) {
        xs[j] = NextX();
        xs[j].lambda <== lambda[j];
        xs[j].t <== points[j].x;
        nearChords[j] = Chord();
        nearChords[j].lambda <== lambda[j];
        nearChords[j].t <== points[j].x;
        farChords[j] = Chord();
        farChords[j].lambda <== lambda[j];
        farChords[j].t <== points[j].x;
        if (j == 0) {
            xs[j].x <== wallet.x;
            nearChords[j].x <== wallet.x;
        } else {
            xs[j].x <== xs[j - 1].next;
            nearChords[j].x <== xs[j - 1].next;
        }
        if (j == WINDOWS - 1) {
            farChords[j].x <== shifted.x;
        } else {
            farChords[j].x <== xs[j].next;
        }

        // (A) or (C). The heights are canonical, so their parts are below 2^160 and 2^96.
        zeros[j] = ZeroModP(j, j == 0 ? 1 : 2);
        zeros[j].first <== nearChords[j].product;
        zeros[j].low[0] <== points[j].y[0];
        zeros[j].high[0] <== points[j].y[1];
        if (j == 0) {
            for (var i = 0; i < 15; i++) {
                zeros[j].second[i] <== 0;
            }
            zeros[j].low[1] <== 0 - wallet.y[0];
            zeros[j].high[1] <== 0 - wallet.y[1];
        } else {
            zeros[j].second <== farChords[j - 1].product;
            zeros[j].low[1] <== points[j - 1].y[0];
            zeros[j].high[1] <== points[j - 1].y[1];
        }
    }
    // (D)
    zeros[WINDOWS] = ZeroModP(WINDOWS, 0);
    zeros[WINDOWS + 1] = ZeroModP(0, 1);
    for (var i = 0; i < 15; i++) {
        if (i < 8) {
            zeros[WINDOWS].first[i] <== xs[WINDOWS - 1].next[i];
            zeros[WINDOWS].second[i] <== 0 - shifted.x[i];
        } else {
            zeros[WINDOWS].first[i] <== 0;
            zeros[WINDOWS].second[i] <== 0;
        }
        zeros[WINDOWS + 1].second[i] <== 0;
    }
    for (var i = 0; i < 2; i++) {
        zeros[WINDOWS].low[i] <== 0;
        zeros[WINDOWS].high[i] <== 0;
    }
    zeros[WINDOWS + 1].first <== farChords[WINDOWS - 1].product;
    zeros[WINDOWS + 1].low[0] <== points[WINDOWS - 1].y[0];
    zeros[WINDOWS + 1].high[0] <== points[WINDOWS - 1].y[1];
    zeros[WINDOWS + 1].low[1] <== shifted.y[0];
    zeros[WINDOWS + 1].high[1] <== shifted.y[1];

    // 5. m as a canonical integer: the field element's digits sum up to m modulo r, and to at most r - 1.
    signal digestBits[254];
    var digestLow = 0;
    var digestHigh = 0;
    for (var i = 0; i < 254; i++) {
        digestBits[i] <-- (m >> i) & 1;
        digestBits[i] * (digestBits[i] - 1) === 0;
        if (i < 128) {
            digestLow = digestLow + (1 << i) * digestBits[i];
        } else {
            digestHigh = digestHigh + (1 << (i - 128)) * digestBits[i];
        }
    }
    signal mLow <== digestLow;
    m === mLow + (1 << 128) * digestHigh;
    component digestRange = AtMost(254, (0 - 1) >> 128, (0 - 1) & ((1 << 128) - 1));
    digestRange.bits <== digestBits;

    // 6. m'.
    component scalar = Word((1 << 128) - 1, (1 << 128) - 1);
    scalar.lo <== rLo;
    scalar.hi <== rHi;
    var limbs = (WINDOWS + 3) \ 4;
    signal mask[limbs];
    for (var i = 0; i < limbs; i++) {
        var sum = 0;
        for (var j = 4 * i; j < 4 * i + 4 && j < WINDOWS; j++) {
            sum = sum + (1 << (8 * (j % 4)));
            for (var bit = 0; bit < 8; bit++) {
                sum = sum + (1 << (8 * (j % 4) + bit)) * bBits[8 * j + bit];
            }
        }
        mask[i] <== sum;
    }
    var masked[4] = maskDigest([m & limbMask, (m >> 64) & limbMask, (m >> 128) & limbMask, m >> 192], [rLo & limbMask, rLo >> 64, rHi & limbMask, rHi >> 64], mask, limbs);
    mpLo <-- masked[0] + (1 << 64) * masked[1];
    mpHi <-- masked[2] + (1 << 64) * masked[3];
    component digestWord = Word(0xfffffffffffffffffffffffffffffffe, 0xbaaedce6af48a03bbfd25e8cd0364140);
    digestWord.lo <== mpLo;
    digestWord.hi <== mpHi;
    component relation = MaskedDigest(limbs);
    relation.digest <== m;
    relation.digestLow <== mLow;
    relation.maskedLo <== mpLo;
    relation.maskedHi <== mpHi;
    relation.scalar <== scalar.limbs;
    relation.mask <== mask;
}
