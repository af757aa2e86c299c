// SPDX-License-Identifier: MIT
// Theorem: the batch behind (D, y at z) consists of N well-formed notes of one asset whose amounts add up to `total`,
// every non-zero note belongs to an eligible wallet, and all nonces follow from batchId (protocol §6, fund-N).
//
// PUBLIC   D   H_5(assetId, total, batchId, eligibilityRoot, batchRoot): binds every element of x, the commitments
//              through batchRoot
//          z   the verifier's challenge, keccak256(D, x) mod r
//          y   Horner of x at z, with
//              x = (assetId, total, batchId, eligibilityRoot, batchRoot, c_0 ... c_{N-1});
//              the contract computes assetId from chain, pool and token, and batchId from funder and batch nonce
// PRIVATE  assetId, total, batchId, eligibilityRoot   as in x
//          secret                  random field element, known to the funder alone
//          amounts[N]              base units, each below 2^128; 0 in dummies
//          walletIds[N]            w of each owner; random in dummies
//          px[N], py[N]            encryption key of each owner
//          leafIndices[N]          place of walletIds[i] in the eligibility tree, below 4^10; free in dummies
//          siblings[N][10][3]      its path, lowest level first, siblings in child order; free in dummies
pragma circom 2.2.0;

include "generated/tags.circom";
include "poseidon.circom";
include "bits.circom";
include "trees.circom";
include "compression.circom";
include "funding-note.circom";

template Fund(N) {
    // The declaration order of D, z, y is their order among the public signals.
    signal input D;
    signal input z;
    signal input y;

    signal input assetId;
    signal input total;
    signal input batchId;
    signal input secret;
    signal input eligibilityRoot;
    signal input amounts[N];
    signal input walletIds[N];
    signal input px[N];
    signal input py[N];
    signal input leafIndices[N];
    signal input siblings[N][10][3];

    // 1. The base of all nonces. `secret` keeps a payee, who knows its own nonce, from finding its neighbours'.
    component base = Poseidon(3);
    base.inputs[0] <== TAG_FUND_BASE();
    base.inputs[1] <== batchId;
    base.inputs[2] <== secret;

    // 2. Each slot: nonce_i = H_1(base + i), then the note. base + i are N different field elements, so the nonces
    //    of one batch differ, and those of two batches differ because batchId is used once.
    component nonces[N];
    component notes[N];
    var sum = 0;
    for (var i = 0; i < N; i++) {
        nonces[i] = Poseidon(1);
        nonces[i].inputs[0] <== base.out + i;

        notes[i] = FundingNote();
        notes[i].assetId <== assetId;
        notes[i].eligibilityRoot <== eligibilityRoot;
        notes[i].amount <== amounts[i];
        notes[i].nonce <== nonces[i].out;
        notes[i].walletId <== walletIds[i];
        notes[i].px <== px[i];
        notes[i].py <== py[i];
        notes[i].leafIndex <== leafIndices[i];
        notes[i].siblings <== siblings[i];
        sum = sum + amounts[i];
    }

    // 3. The amounts add up. Each is below 2^128 and N <= 256, so the sum is an integer below 2^136, far from r;
    //    the range check on total makes the sum itself a uint128.
    component totalRange = ToBits(128);
    totalRange.value <== total;
    sum === total;

    // 4. The batch root over the commitments in slot order.
    component batch = BinaryRoot(N);
    for (var i = 0; i < N; i++) {
        batch.leaves[i] <== notes[i].commitment;
    }

    // 5. D binds x: five elements directly, the commitments through batchRoot.
    component digest = Poseidon(5);
    digest.inputs[0] <== assetId;
    digest.inputs[1] <== total;
    digest.inputs[2] <== batchId;
    digest.inputs[3] <== eligibilityRoot;
    digest.inputs[4] <== batch.root;
    D === digest.out;

    // 6. y is the same x at the verifier's z.
    component horner = Horner(5 + N);
    horner.z <== z;
    horner.x[0] <== assetId;
    horner.x[1] <== total;
    horner.x[2] <== batchId;
    horner.x[3] <== eligibilityRoot;
    horner.x[4] <== batch.root;
    for (var i = 0; i < N; i++) {
        horner.x[5 + i] <== notes[i].commitment;
    }
    y === horner.y;
}
