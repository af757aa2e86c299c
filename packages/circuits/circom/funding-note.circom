// SPDX-License-Identifier: MIT
pragma circom 2.2.0;

include "poseidon.circom";
include "bits.circom";
include "trees.circom";

// Theorem: `commitment` opens to a note of `amount` < 2^128 for wallet `walletId`, and unless the amount is zero that
// wallet is non-zero and stands in the eligibility tree under `eligibilityRoot` (protocol §3, §4, §6).
//
// INPUT   assetId, eligibilityRoot   of the batch
//         amount                     integer below 2^128 (checked here), base units
//         nonce                      derived by the caller, unique by construction
//         walletId, px, py           wallet id w and encryption key of the owner
//         leafIndex, siblings        eligibility path of walletId
// OUTPUT  commitment                 H_6(assetId, amount, nonce, walletId, px, py)
template FundingNote() {
    var DEPTH = 10;
    signal input assetId;
    signal input eligibilityRoot;
    signal input amount;
    signal input nonce;
    signal input walletId;
    signal input px;
    signal input py;
    signal input leafIndex;
    signal input siblings[DEPTH][3];
    signal output commitment;

    // 1. amount < 2^128, so that a sum of up to 2^125 amounts cannot wrap around r.
    component range = ToBits(128);
    range.value <== amount;

    // 2. The commitment opens to exactly these six values.
    component note = Poseidon(6);
    note.inputs[0] <== assetId;
    note.inputs[1] <== amount;
    note.inputs[2] <== nonce;
    note.inputs[3] <== walletId;
    note.inputs[4] <== px;
    note.inputs[5] <== py;
    commitment <== note.out;

    // 3. A non-zero amount needs a member of the tree. A dummy (amount 0) may carry any path.
    component path = QuaternaryRoot(DEPTH);
    path.leaf <== walletId;
    path.leafIndex <== leafIndex;
    path.siblings <== siblings;
    (path.root - eligibilityRoot) * amount === 0;

    // 4. A non-zero amount needs walletId != 0: empty leaves are 0, so 0 is a "member" of every tree with room left.
    //    The inverse is a free hint; with walletId = 0 no hint makes the product 1, and the amount must be 0.
    signal inverse <-- walletId != 0 ? 1 / walletId : 0;
    signal isNonZero <== walletId * inverse;
    amount * (1 - isNonZero) === 0;
}
